"""Where password managers look for the page on which users change the password."""

import pytest
from tests.support.api import Api, error_code
from tests.support.config import Table, merged
from tests.support.databases import on_sqlite

PATH = "/.well-known/change-password"
PAGES: Table = {"plugins": {"enabled": ["storage_local", "login_pages"]}}
PASSKEYS: Table = {
    "plugins": {"enabled": ["storage_local", "login_pages", "login_passkey"]},
    "server": {"public_url": "https://files.example.com"},
    "second_factors": {"passkey": {}},
}
ELSEWHERE = "https://www.example.com/password"
OTHER: Table = {"second_factors": {"passkey": {"change_password_url": ELSEWHERE}}}
BASE: Table = {"server": {"base_path": "/vault"}}

pytestmark = on_sqlite


@pytest.mark.config(PAGES)
def test_it_leads_to_the_page(api: Api) -> None:
    answer = api.get(PATH)
    assert (answer.status_code, answer.headers["Location"]) == (302, "/account/password")


@pytest.mark.config(merged(PAGES, BASE))
def test_it_leads_to_the_page_below_a_base_path(api: Api) -> None:
    answer = api.get(f"/vault{PATH}")
    assert (answer.status_code, answer.headers["Location"]) == (302, "/vault/account/password")


@pytest.mark.config(PASSKEYS)
def test_passkeys_without_a_page_elsewhere_leave_it_there(api: Api) -> None:
    assert api.get(PATH).headers["Location"] == "/account/password"


@pytest.mark.config(merged(PASSKEYS, OTHER))
def test_a_configured_page_elsewhere_precedes(api: Api) -> None:
    answer = api.get(PATH)
    assert (answer.status_code, answer.headers["Location"]) == (302, ELSEWHERE)


@pytest.mark.config({"plugins": {"enabled": ["storage_local"]}})
def test_without_pages_there_is_none(api: Api) -> None:
    answer = api.get(PATH)
    assert (answer.status_code, error_code(answer)) == (404, "error.not-found")


@pytest.mark.config(PAGES)
@pytest.mark.parametrize(
    "name", ["", "security.txt", "change-password/", "resource-that-should-not-exist"]
)
def test_other_well_known_addresses_are_unknown(api: Api, name: str) -> None:
    # Password managers check that the server does not answer everything.
    assert api.get(f"/.well-known/{name}").status_code == 404
