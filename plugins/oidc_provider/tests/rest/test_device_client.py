"""The built-in client of the command ``strongroom-client login --device``."""

from collections.abc import Mapping
from typing import Final

import pytest
from tests.support.api import Answer, Api, Json, Person
from tests.support.config import lifted, merged
from tests.support.page_browser import PageBrowser
from tests.support.relying_party import PLUGINS, RelyingParty, logged_in, post_form

from strongroom_oidc_provider.options import ProviderOptions

ID: Final = "strongroom-client"
GRANT: Final = "urn:ietf:params:oauth:grant-type:device_code"
CONFIG: Final = merged(lifted(), {"plugins": {"enabled": PLUGINS}})
SCOPES: Final = "files:share tenants:write offline_access"

pytestmark = pytest.mark.config(CONFIG)


@pytest.fixture
def person(api: Api) -> Person:
    return api.person(name="Ada Lovelace")


@pytest.fixture
def browser(api: Api, person: Person) -> PageBrowser:
    RelyingParty.register(api)  # creates the tables
    return logged_in(api, person)


def send(api: Api, path: str, **form: str) -> Answer:
    return post_form(api, f"/oauth2/{path}", {"client_id": ID, **form})


def begin(api: Api, scope: str = SCOPES) -> Json:
    answer = send(api, "device-authorization", scope=scope)
    assert answer.status_code == 200, answer.text
    codes: Json = answer.json
    return codes


def show(browser: PageBrowser, codes: Mapping[str, str]) -> str:
    browser.open("/device")
    browser.submit("/device", user_code=codes["user_code"])
    return browser.page.text


def test_the_command_logs_in_without_a_registration(
    api: Api, browser: PageBrowser, person: Person
) -> None:
    metadata = api.get("/.well-known/oauth-authorization-server").json
    assert metadata["strongroom_device_client"] == ID
    codes = begin(api)
    assert "strongroom-client (command line)" in show(browser, codes)
    browser.submit("/device", decision="allow")
    tokens = send(api, "token", grant_type=GRANT, device_code=codes["device_code"]).json
    assert tokens["scope"] == SCOPES
    headers = {"Authorization": f"Bearer {tokens['access_token']}"}
    assert api.app.test_client().get("/api/v1/tenants", headers=headers).status_code == 200
    (consent,) = api.get("/api/v1/users/me/consents", by=person).json["data"]
    assert (consent["clientId"], consent["clientName"]) == (ID, "strongroom-client (command line)")
    renewed = send(api, "token", grant_type="refresh_token", refresh_token=tokens["refresh_token"]).json
    assert send(api, "revoke", token=renewed["refresh_token"]).status_code == 200
    again = send(api, "token", grant_type="refresh_token", refresh_token=renewed["refresh_token"])
    assert again.json["error"] == "invalid_grant"


def test_each_login_is_asked_for(api: Api, browser: PageBrowser) -> None:
    for _ in range(2):
        codes = begin(api)
        assert 'value="allow"' in show(browser, codes)
        answer = send(api, "token", grant_type=GRANT, device_code=codes["device_code"])
        assert answer.json["error"] == "authorization_pending"
        browser.submit("/device", decision="allow")


def test_the_client_impersonates_nobody(api: Api, browser: PageBrowser) -> None:
    codes = begin(api, "tenants:read users:impersonate")
    show(browser, codes)
    browser.submit("/device", decision="allow")
    tokens = send(api, "token", grant_type=GRANT, device_code=codes["device_code"]).json
    assert tokens["scope"] == "tenants:read"
    refused = send(api, "device-authorization", scope="users:impersonate")
    assert refused.json["error"] == "invalid_scope"


def test_the_client_redirects_nowhere(api: Api, browser: PageBrowser) -> None:
    rp = RelyingParty(api, ID, None)
    browser.open(rp.url(redirect_uri="http://127.0.0.1/"))
    assert (browser.page.status_code, browser.page.headers.get("Location")) == (400, None)


@pytest.mark.config(merged(CONFIG, {"plugins": {"oidc_provider": {"device_client": ""}}}))
def test_the_client_can_be_turned_off(api: Api, browser: PageBrowser) -> None:
    assert "strongroom_device_client" not in api.get("/.well-known/openid-configuration").json
    assert send(api, "device-authorization", scope=SCOPES).json["error"] == "invalid_client"


@pytest.mark.parametrize("value", ["Upper", "0198c0de-0000-7000-8000-000000000000", "a" * 37])
def test_an_id_of_another_client_is_refused(value: str) -> None:
    with pytest.raises(ValueError, match="device_client"):
        ProviderOptions(device_client=value)
