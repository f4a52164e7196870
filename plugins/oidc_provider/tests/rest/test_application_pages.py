"""The pages of clients: the same rules as of the REST API, in the frame of the console."""

import io
import re
from typing import Any

import pytest
from flask.testing import FlaskClient
from tests.support.api import Api, Person
from werkzeug.test import TestResponse

from strongroom.foundation.database.upgrade import upgrade
from strongroom.testing.server import PASSWORD
from strongroom_oidc_provider.plugin import register_tables

ROOT = "/applications"
URI = "https://wiki.example.com/callback"
SVG = b'<svg xmlns="http://www.w3.org/2000/svg"><path d="M0 0h8v8z"/></svg>'
# Its name has a right-to-left override, and would end the markup.
HOSTILE = "\u202egnp.exe <img src=x>" + "W" * 230

pytestmark = pytest.mark.config(
    {"plugins": {"enabled": ["storage_local", "login_pages", "console", "oidc_provider"]}}
)


class Pages:
    """A browser without scripts."""

    def __init__(self, api: Api, person: Person) -> None:
        upgrade(api.container.database.engine, {"oidc_provider": register_tables()})
        self.client: FlaskClient = api.app.test_client()
        self.csrf = ""
        self.post("/account/login", way="password", username=person.email, password=PASSWORD)

    def get(self, path: str, status: int = 200) -> str:
        page = self.client.get(path)
        assert page.status_code == status, page.text
        if found := re.search(r'name="csrf" value="([^"]+)"', page.text):
            self.csrf = found[1]
        return page.text

    def post(self, path: str, **fields: Any) -> TestResponse:
        if not self.csrf:
            self.get(path)
        return self.client.post(path, data={"csrf": self.csrf, **fields})

    def create(self, **fields: Any) -> tuple[str, str]:
        """Create a client; return its page's path, and the page that follows."""
        self.get(f"{ROOT}/new")
        values = {"name": "Wiki", "redirectUris": URI, "kind": "secret", **fields}
        page = self.post(f"{ROOT}/new", **values)
        found = re.search(rf"{ROOT}/[0-9a-f-]{{36}}/", page.headers.get("Location", page.text))
        assert found, page.text
        return found[0], page.text


@pytest.fixture
def pages(api: Api) -> Pages:
    return Pages(api, api.person(admin=True))


def test_a_secret_is_shown_once(pages: Pages) -> None:
    path, page = pages.create()
    (secret,) = re.findall(r'id="client-secret">([^<]{43})<', page)
    assert secret not in pages.get(path)
    second = pages.post(f"{path}secret", overlap="86400").text
    assert 'id="client-secret">' in second
    assert secret not in second
    assert pages.get(path).count("<small>") >= 2


def test_settings_are_saved(pages: Pages, api: Api) -> None:
    path, _ = pages.create()
    revision = re.search(r'name="revision" value="(\d+)"', pages.get(path))
    assert revision
    fields = {"part": "addresses", "redirectUris": f"{URI}\n{URI}2"}
    saved = pages.post(f"{path}settings", revision=revision[1], **fields)
    assert saved.headers["Location"] == path
    page = pages.get(path)
    assert "The changes are saved." in page
    assert f"{URI}2" in page
    assert page.count('value="openid" checked') == 1
    stale = pages.post(f"{path}settings", revision=revision[1], **fields)
    assert stale.headers["Location"] == path
    assert "another revision" in pages.get(path)


def test_logins_by_a_code_and_logout_notices_are_settings(pages: Pages) -> None:
    path, _ = pages.create()
    for is_set in (True, False):
        forms = {
            "logins": {"deviceLogin": "on"} if is_set else {},
            "addresses": {
                "redirectUris": URI,
                "backchannelLogoutUri": f"{URI}/logout" if is_set else "",
            },
        }
        for part, sent in forms.items():
            revision = re.search(r'name="revision" value="(\d+)"', pages.get(path))
            assert revision
            pages.post(f"{path}settings", revision=revision[1], part=part, **sent)
        page = pages.get(path)
        switch = re.search(r'<input[^>]*name="deviceLogin"[^>]*>', page)
        assert switch
        assert (" checked" in switch[0]) == is_set
        assert (f'value="{URI}/logout"' in page) == is_set


def test_a_fault_stands_at_its_field(pages: Pages) -> None:
    path, _ = pages.create()
    pages.get(path)
    pages.post(f"{path}settings", revision="1", part="addresses", redirectUris="http://a.example/")
    page = pages.get(path)
    assert 'id="redirectUris-fault"' in page
    assert "http://a.example/</textarea>" in page
    assert re.search('<dialog id="addresses"[^>]* data-opens', page)
    refused = pages.post(f"{ROOT}/new", name="Wiki", redirectUris="x", kind="secret")
    assert refused.status_code == 400
    assert 'id="redirectUris-fault"' in refused.text


def test_a_device_needs_no_address(pages: Pages) -> None:
    path, _ = pages.create(kind="device", redirectUris="")
    assert re.search(r'<input[^>]*name="deviceLogin"[^>]* checked', pages.get(path))


def test_a_service_acts_as_a_service_account(pages: Pages, api: Api) -> None:
    assert 'value="service"' not in pages.get(f"{ROOT}/new")
    root = api.person(admin=True)
    account = api.post("/api/v1/service-accounts", {"name": "Backup"}, by=root).json["id"]
    assert f'<option value="{account}"' in pages.get(f"{ROOT}/new")
    path, _ = pages.create(kind="service", redirectUris="", serviceAccountId=account)
    client = api.get(f"/api/v1/clients/{path.split('/')[-2]}", by=root).json
    assert (client["serviceAccountId"], client["redirectUris"]) == (account, [])


def test_an_application_of_browsers_needs_an_address(pages: Pages) -> None:
    pages.get(f"{ROOT}/new")
    refused = pages.post(f"{ROOT}/new", name="Wiki", redirectUris="", kind="public")
    assert refused.status_code == 400
    assert 'id="redirectUris-fault"' in refused.text


def test_claims_are_added_and_removed(pages: Pages, api: Api) -> None:
    tenant = api.tenant(api.person()).rpartition("/")[2]
    path, _ = pages.create()
    claims = {"claimName": "groups", "claimSource": "groups", "claimTenant": tenant}
    first = {**claims, "claimForm": "names", "claimTokens": "id_token"}
    pages.post(f"{path}claims", revision="1", part="claim", **first)
    second = {"claimName": "level", "claimSource": "server-data", "claimField": "level"}
    # A field of another source is hidden, and ignored.
    pages.post(f"{path}claims", revision="2", part="claim", claimTenant=tenant, **second)
    page = pages.get(path)
    assert "Names of the groups in \u2068Acme\u2069" in page
    assert "Entry \u2068level\u2069 of the extra data" in page
    pages.post(f"{path}claims/removal", revision="3", name="groups")
    assert "Names of the groups in" not in pages.get(path)
    assert "Entry \u2068level" in pages.get(path)


@pytest.mark.parametrize(
    ("sent", "fault"),
    [
        ({"claimName": "sub", "claimSource": "server-role"}, "claimName"),
        ({"claimName": "level", "claimSource": "server-role"}, "claimName"),
        ({"claimName": "data", "claimSource": "server-data"}, "claimField"),
        ({"claimName": "groups", "claimSource": "groups", "claimForm": "ids"}, "claimTenant"),
    ],
)
def test_the_fault_of_a_claim_stands_at_its_field(
    pages: Pages, sent: dict[str, str], fault: str
) -> None:
    path, _ = pages.create()
    fields = {"claimTenant": "", "claimField": "", **sent}
    pages.post(f"{path}claims", revision="1", claimName="level", claimSource="server-role")
    pages.post(f"{path}claims", revision="2", part="claim", **fields)
    page = pages.get(path)
    assert f'id="{fault}-fault"' in page
    assert re.search('<dialog id="claim"[^>]* data-opens', page)


def test_a_logo_is_set_and_removed(pages: Pages) -> None:
    path, _ = pages.create()
    pages.get(path)
    upload = f"{path}logo?csrf={pages.csrf}"
    pages.client.post(upload, data={"picture": (io.BytesIO(b"GIF"), "logo.gif")})
    assert "Must be a PNG or SVG." in pages.get(path)
    pages.client.post(upload, data={"picture": (io.BytesIO(SVG), "logo.svg")})
    assert 'src="/oauth2/logos/' in pages.get(path)
    pages.post(f"{path}logo/removal")
    assert "/oauth2/logos/" not in pages.get(path)


def test_the_preview_is_the_page_of_the_consent_in_both_languages(pages: Pages) -> None:
    path, _ = pages.create(name="Wiki")
    assert f'src="{path}preview?preview=zh"' in pages.get(f"{path}?preview=zh")
    answer = pages.client.get(f"{path}preview?preview=zh")
    assert '<html lang="zh"' in answer.text
    assert "<body inert>" in answer.text
    assert "frame-ancestors 'self'" in answer.headers["Content-Security-Policy"]
    assert '<html lang="en"' in pages.get(f"{path}preview?preview=en")


def test_the_preview_has_the_language_of_the_page_at_first(pages: Pages) -> None:
    path, _ = pages.create(name="Wiki")
    chinese = {"Accept-Language": "zh-CN"}
    assert 'preview?preview=zh"' in pages.client.get(path, headers=chinese).text
    assert '<html lang="zh"' in pages.client.get(f"{path}preview", headers=chinese).text


def test_disabling_and_deletion_are_confirmed(pages: Pages) -> None:
    path, _ = pages.create()
    question = pages.get(f"{path}disabling")
    assert "Disable Wiki?" in question
    assert 'class="sheet question"' in question
    pages.post(f"{path}disabling")
    assert "The application is disabled." in pages.get(path)
    pages.post(f"{path}enabling")
    assert "The application is enabled." in pages.get(path)
    assert "Delete Wiki?" in pages.get(f"{path}deletion")
    pages.post(f"{path}deletion")
    pages.get(path, 404)


def test_the_search_finds_names_and_addresses(pages: Pages) -> None:
    pages.create(name="Wiki")
    pages.create(name="Chat", redirectUris="https://chat.example.com/")
    assert "Wiki" not in pages.get(f"{ROOT}/?q=chat")
    assert "Chat" in pages.get(f"{ROOT}/?q=CHAT.example")
    assert "No application has this name" in pages.get(f"{ROOT}/?q=nothing")


def test_a_hostile_name_is_a_text(pages: Pages) -> None:
    path, _ = pages.create(name=HOSTILE)
    for page in (path, f"{ROOT}/", f"{path}preview", f"{path}disabling"):
        text = pages.get(page)
        assert "<img src=x>" not in text


def test_others_find_no_page(api: Api) -> None:
    pages = Pages(api, api.person())
    for path in (f"{ROOT}/", f"{ROOT}/new"):
        pages.get(path, 404)


def test_a_form_of_another_page_changes_nothing(pages: Pages) -> None:
    path, _ = pages.create()
    for form in (
        "settings",
        "claims",
        "claims/removal",
        "secret",
        "disabling",
        "deletion",
        "logo",
        "logo/removal",
        "enabling",
    ):
        assert pages.client.post(f"{path}{form}", data={"csrf": "forged"}).status_code == 400
