"""The pages of the webhooks and service accounts of a tenant; secrets are shown once."""

import re
from collections.abc import Callable

import pytest
from tests.support.api import PASSWORD, Api, Json, Person
from tests.support.config import FIXED_CAPTCHA, Table, merged
from tests.support.databases import on_sqlite
from tests.support.page_browser import PageBrowser

from strongroom.foundation.database.upgrade import upgrade
from strongroom.testing.clock import HOUR
from strongroom_login_pages import plugin as login_pages
from strongroom_webhooks import plugin as webhooks

WITHOUT_WEBHOOKS: Table = merged(
    FIXED_CAPTCHA, {"plugins": {"enabled": ["storage_local", "login_pages", "console"]}}
)
CONFIG: Table = merged(
    WITHOUT_WEBHOOKS,
    {
        "plugins": {
            "enabled": ["storage_local", "login_pages", "webhooks", "console"],
            "webhooks": {"enabled": False},
        }
    },
)
HOSTILE = '"><img src=x onerror="alert(1)">\u202etxt'
ENDPOINTS = "/api/v1/webhook-endpoints"
URL = "https://93.184.216.34/hook"

LogIn = Callable[[Person], PageBrowser]

pytestmark = [on_sqlite, pytest.mark.config(CONFIG)]


@pytest.fixture(autouse=True)
def create_tables(api: Api) -> None:
    tables = {"webhooks": webhooks.register_tables(), "login_pages": login_pages.register_tables()}
    upgrade(api.container.database.engine, tables)


@pytest.fixture
def webhook(api: Api, tenant: str, person: Person) -> Json:
    body = {
        "url": URL,
        "eventTypes": ["*"],
        "tenantId": tenant.rpartition("/")[2],
        "description": HOSTILE,
    }
    created: Json = api.post(ENDPOINTS, body, by=person).json
    return created


@pytest.fixture
def account(api: Api, tenant: str, person: Person) -> str:
    """The path of a service account in the REST API."""
    response = api.post(f"{tenant}/service-accounts", {"name": HOSTILE}, by=person)
    assert response.status_code == 201, response.text
    return f"{tenant}/service-accounts/{response.json['id']}"


def shown_secret(browser: PageBrowser) -> str:
    """Return the secret of the page, after a check that nothing else has it."""
    (secret,) = re.findall(r'id="secret">([^<]+)<', browser.page.text)
    assert secret not in str(browser.page.headers)
    assert secret not in browser.path
    return str(secret)


class TestWebhooks:
    def test_an_endpoint_is_created_and_its_secret_shown_once(
        self, api: Api, browser: PageBrowser, root: str, person: Person
    ) -> None:
        assert "no webhooks yet" in browser.open(f"{root}/webhooks/").text
        path = f"{root}/webhooks/new"
        offered = browser.open(path).text
        assert 'value="file.*"' in offered
        # An event of the server alone.
        assert 'value="user.suspended"' not in offered
        browser.submit(path, url=URL, description=HOSTILE, types="file.created", ordered="1")
        assert shown_secret(browser).startswith("whsec_")
        page = browser.open(f"{root}/webhooks/")
        assert "whsec_" not in page.text
        assert "<img" not in page.text
        assert URL in page.text
        (endpoint,) = api.get(f"{ENDPOINTS}?tenantId={root.rpartition('/')[2]}", by=person).json["data"]
        assert (endpoint["eventTypes"], endpoint["ordered"]) == (["file.created"], True)

    def test_a_wrong_url_is_refused_and_kept_in_the_form(self, browser: PageBrowser, root: str) -> None:
        browser.open(f"{root}/webhooks/new")
        browser.submit(f"{root}/webhooks/new", url="http://127.0.0.1/", types="file.*")
        assert browser.page.status_code == 400
        assert 'role="alert"' in browser.page.text
        assert 'value="http://127.0.0.1/"' in browser.page.text
        assert 'name="types" value="file.*" checked' in browser.page.text

    def test_an_endpoint_is_changed_disabled_and_enabled(
        self, api: Api, browser: PageBrowser, root: str, person: Person, webhook: Json
    ) -> None:
        path = f"{root}/webhooks/{webhook['id']}"
        page = browser.open(f"{path}/")
        assert "<img" not in page.text
        browser.submit(f"{path}/", url=f"{URL}/2", description="Second", types="file.moved")
        assert browser.message == "The webhook was saved."
        browser.submit(f"{path}/status")
        assert browser.message == "Disabled"
        browser.submit(f"{path}/test")
        assert 'role="alert"' in browser.page.text
        browser.submit(f"{path}/status")
        assert browser.message == "Enabled"
        stored = api.get(f"{ENDPOINTS}/{webhook['id']}", by=person).json
        assert (stored["url"], stored["ordered"]) == (f"{URL}/2", False)

    def test_a_change_of_an_outdated_form_is_refused(
        self, browser: PageBrowser, root: str, webhook: Json
    ) -> None:
        path = f"{root}/webhooks/{webhook['id']}"
        browser.open(f"{path}/")
        outdated = browser.forms[f"{path}/"]
        browser.submit(f"{path}/status")
        browser.open(f"{path}/", {**outdated, "url": f"{URL}/3", "types": "*"})
        assert browser.page.status_code == 400
        assert f'value="{URL}/3"' in browser.page.text

    def test_a_new_secret_is_shown_once(self, browser: PageBrowser, root: str, webhook: Json) -> None:
        path = f"{root}/webhooks/{webhook['id']}"
        browser.open(f"{path}/")
        browser.submit(f"{path}/secret", overlap="3600")
        assert shown_secret(browser) != webhook["secret"]
        browser.open(f"{path}/secret?lang=zh")
        assert browser.path == f"{path}/"

    def test_a_test_message_is_listed_and_sent_again(
        self, browser: PageBrowser, root: str, webhook: Json
    ) -> None:
        path = f"{root}/webhooks/{webhook['id']}"
        browser.open(f"{path}/")
        browser.submit(f"{path}/test")
        assert browser.path == f"{path}/deliveries"
        assert "webhook.test" in browser.page.text
        assert "Waiting" in browser.page.text
        (action,) = [action for action in browser.forms if action.startswith(f"{path}/deliveries/")]
        browser.submit(action)
        assert browser.message == "The message is sent again."
        assert "no deliveries" in browser.open(f"{path}/deliveries?outcome=failed").text
        assert browser.open(f"{path}/deliveries?outcome=x&page=9").status_code == 200

    def test_events_are_sent_again_from_a_sequence_on(
        self, api: Api, browser: PageBrowser, root: str, tenant: str, person: Person, webhook: Json
    ) -> None:
        api.folder(tenant, person, "Reports")
        path = f"{root}/webhooks/{webhook['id']}"
        browser.open(f"{path}/")
        browser.submit(f"{path}/replay", sequence="0")
        assert browser.message.startswith("Events that are sent again: ")
        browser.submit(f"{path}/replay", sequence="first")
        assert 'role="alert"' in browser.page.text

    def test_another_administrator_takes_an_endpoint_over(
        self, api: Api, log_in: LogIn, root: str, tenant: str, person: Person, webhook: Json
    ) -> None:
        bob = api.person()
        api.join(tenant, person, bob, role="admin")
        browser, path = log_in(bob), f"{root}/webhooks/{webhook['id']}"
        browser.open(f"{path}/")
        browser.submit(f"{path}/take-over")
        assert browser.message == "The webhook works with your rights now."
        assert api.get(f"{ENDPOINTS}/{webhook['id']}", by=bob).json["ownerId"] == bob.id

    def test_an_endpoint_is_deleted_after_a_question(
        self, browser: PageBrowser, root: str, webhook: Json
    ) -> None:
        path = f"{root}/webhooks/{webhook['id']}"
        assert "Delete the webhook \u2068&#34;&gt;&lt;img" in browser.open(f"{path}/removal").text
        browser.submit(f"{path}/removal")
        assert browser.message == "The webhook was deleted."
        assert browser.open(f"{path}/").status_code == 404

    def test_an_endpoint_of_another_tenant_is_missing(
        self, api: Api, browser: PageBrowser, person: Person, root: str, webhook: Json
    ) -> None:
        browser.open(f"{root}/webhooks/")
        csrf = browser.forms["/console/logout"]["csrf"]
        other = f"/console{api.tenant(person).removeprefix('/api/v1')}/webhooks/{webhook['id']}"
        assert browser.open(f"{other}/").status_code == 404
        for action in ("status", "secret", "test", "take-over", "replay", "removal"):
            assert browser.open(f"{other}/{action}", {"csrf": csrf}).status_code == 404, action
        assert api.get(f"{ENDPOINTS}/{webhook['id']}", by=person).json["status"] == "enabled"

    @pytest.mark.parametrize("name", ["%3FtenantId=x", "..", "%00", "x" * 2000])
    def test_an_id_that_is_none_leads_to_no_page(
        self, browser: PageBrowser, root: str, name: str
    ) -> None:
        for path in (f"webhooks/{name}/", f"webhooks/{name}/deliveries", f"service-accounts/{name}/"):
            assert browser.open(f"{root}/{path}").status_code in (400, 403, 404), path

    @pytest.mark.config(WITHOUT_WEBHOOKS)
    def test_the_section_is_missing_without_the_plugin(self, browser: PageBrowser, root: str) -> None:
        assert "/webhooks/" not in browser.open(f"{root}/members/").text
        for path in ("webhooks/", "webhooks/new", "webhooks/x/", "webhooks/x/deliveries"):
            assert browser.open(f"{root}/{path}").status_code == 404, path


class TestServiceAccounts:
    def test_an_account_is_created_and_deleted_after_a_question(
        self, api: Api, browser: PageBrowser, root: str, tenant: str, person: Person
    ) -> None:
        browser.open(f"{root}/service-accounts/")
        browser.submit(f"{root}/service-accounts/", name=HOSTILE)
        assert browser.message.startswith("The service account was created.")
        assert "<img" not in browser.page.text
        (account,) = api.get(f"{tenant}/service-accounts", by=person).json["data"]
        assert "Service account" in browser.open(f"{root}/members/").text
        assert f'<option value="{account["id"]}"' not in browser.open(f"{root}/settings/").text
        path = f"{root}/service-accounts/{account['id']}"
        browser.open(f"{path}/removal")
        browser.submit(f"{path}/removal")
        assert browser.message == "The service account was deleted."
        assert api.get(f"{tenant}/service-accounts", by=person).json["data"] == []

    def test_a_key_is_shown_once_replaced_and_revoked(
        self, api: Api, browser: PageBrowser, root: str, tenant: str, person: Person, account: str
    ) -> None:
        path = f"{root}/service-accounts/{account.rpartition('/')[2]}"
        browser.open(f"{path}/")
        fields = {"name": HOSTILE, "scopes": "files:read", "days": "7", "addresses": "127.0.0.0/8, ::1"}
        browser.submit(f"{path}/keys", **fields)
        first = shown_secret(browser)
        assert browser.open(f"{path}/keys?lang=en").status_code == 200
        assert api.get(f"{tenant}/owners/me/files", by=Person("", "", first)).status_code == 200
        page = browser.open(f"{path}/")
        assert first not in page.text
        assert "<img" not in page.text
        assert "Read files" in page.text
        assert "127.0.0.0/8, ::1" in page.text
        (key,) = api.get(f"{account}/access-keys", by=person).json["data"]
        browser.submit(f"{path}/keys/{key['id']}/rotation", overlap="0")
        second = shown_secret(browser)
        assert browser.open(f"{path}/keys/{key['id']}/rotation").status_code == 200
        assert api.get(f"{tenant}/owners/me/files", by=Person("", "", first)).status_code == 401
        browser.open(f"{path}/")
        browser.submit(f"{path}/keys/{key['id']}/removal")
        assert browser.message == "The key was revoked."
        assert api.get(f"{tenant}/owners/me/files", by=Person("", "", second)).status_code == 401

    def test_a_key_without_a_name_is_refused_and_kept_in_the_form(
        self, browser: PageBrowser, root: str, account: str
    ) -> None:
        path = f"{root}/service-accounts/{account.rpartition('/')[2]}"
        browser.open(f"{path}/")
        browser.submit(f"{path}/keys", name=" ", scopes="files:share", days="365", addresses="nowhere")
        assert browser.page.status_code == 400
        assert 'value="files:share" checked' in browser.page.text
        assert 'value="nowhere"' in browser.page.text

    def test_an_old_login_is_led_to_a_proof_and_back(
        self, api: Api, browser: PageBrowser, root: str, account: str
    ) -> None:
        path = f"{root}/service-accounts/{account.rpartition('/')[2]}"
        browser.open(f"{path}/")
        api.clock.advance(HOUR // 5)
        browser.submit(f"{path}/keys", name="Backup", scopes="files:read", days="7")
        assert browser.path == "/account/step-up"
        browser.send("step-up", password=PASSWORD)
        assert browser.path == f"{path}/"
        browser.submit(f"{path}/keys", name="Backup", scopes="files:read", days="7")
        assert shown_secret(browser)


@pytest.mark.parametrize("who", ["member", "stranger", "administrator-of-the-server"])
def test_only_administrators_see_and_change_connections(
    api: Api,
    log_in: LogIn,
    root: str,
    tenant: str,
    person: Person,
    webhook: Json,
    account: str,
    who: str,
) -> None:
    other = api.person(admin=who.startswith("administrator"))
    if who == "member":
        api.join(tenant, person, other)
    browser = log_in(other)
    hook, robot = f"webhooks/{webhook['id']}", f"service-accounts/{account.rpartition('/')[2]}"
    for path in ("webhooks/", f"{hook}/", f"{hook}/deliveries", "service-accounts/", f"{robot}/"):
        assert browser.open(f"{root}/{path}").status_code in (403, 404), path
    browser.open("/console/")
    csrf = browser.forms["/console/logout"]["csrf"]
    for path in (
        f"{hook}/status",
        f"{hook}/secret",
        f"{hook}/removal",
        "service-accounts/",
        f"{robot}/keys",
        f"{robot}/removal",
    ):
        form = {"csrf": csrf, "name": "X", "scopes": "files:read", "status": "disabled", "days": "7"}
        browser.request(f"{root}/{path}", form)
        assert browser.page.status_code in (303, 403, 404), path
        assert 'id="secret"' not in browser.page.text
    assert api.get(f"{ENDPOINTS}/{webhook['id']}", by=person).json["status"] == "enabled"
    assert len(api.get(f"{tenant}/service-accounts", by=person).json["data"]) == 1
    assert api.get(f"{account}/access-keys", by=person).json["data"] == []
