"""The account pages without scripts: every change, its proofs, and what other users cannot reach."""

import re
from collections.abc import Iterator
from io import BytesIO
from time import time
from uuid import uuid4
from zipfile import ZipFile

import pyotp
import pytest
from sqlalchemy import delete
from tests.support.api import PASSWORD, Api, Person, claims_of, error_code
from tests.support.config import FIXED_CAPTCHA, Table, merged
from tests.support.databases import on_sqlite
from tests.support.page_browser import PageBrowser
from tests.support.totp import secret_of

from strongroom.identity.users.models import passwords
from strongroom.plugin_api.grants import GrantClient, GrantTerms
from strongroom.testing.clock import MINUTE
from strongroom_login_pages.front_ends.models import metadata

CONFIG: Table = merged(
    FIXED_CAPTCHA, {"plugins": {"enabled": ["storage_local", "factor_totp", "login_pages"]}}
)
NEW = "Another1Horse"
HOSTILE = '"><svg onload=alert(1)>{{7*7}}\u202e'
PAGES = ("/", "/profile", "/password", "/devices", "/devices/others", "/access-keys", "/invitations",
         "/privacy", "/privacy/deletion",
         "/contacts/email", "/contacts/mobile", "/enrolments/recovery-code")  # fmt: skip

pytestmark = [on_sqlite, pytest.mark.config(CONFIG)]


@pytest.fixture
def person(api: Api) -> Person:
    return api.person(name="Alice")


@pytest.fixture
def browser(api: Api, person: Person) -> Iterator[PageBrowser]:
    browser = PageBrowser(api)
    browser.log_in(person.email)
    assert browser.path == "/account/"
    yield browser
    assert browser.page.status_code < 500


def newest_code(api: Api) -> str:
    code: str = api.outbox()[-1]["code"]
    return code


def see(browser: PageBrowser, path: str) -> str:
    return browser.open(f"/account{path}").text


class TestFrame:
    """What all pages of the account share."""

    def test_each_page_says_who_is_logged_in_by_the_whole_address(
        self, api: Api, browser: PageBrowser, person: Person
    ) -> None:
        for path in PAGES:
            text = see(browser, path)
            assert "<bdi>Alice</bdi>" in text
            assert f"<small><bdi>{person.email}</bdi></small>" in text
        assert see(browser, "/profile").count(f"<small><bdi>{person.email}</bdi></small>") == 2

    def test_a_page_leads_through_the_login_and_back(self, api: Api, person: Person) -> None:
        browser = PageBrowser(api)
        see(browser, "/password")
        assert browser.path == "/account/login"
        browser.send("login", username=person.email, password=PASSWORD)
        assert browser.path == "/account/password"

    @pytest.mark.parametrize("path", PAGES)
    def test_a_hostile_name_is_text(self, api: Api, path: str) -> None:
        person = api.person(name=HOSTILE)
        browser = PageBrowser(api)
        browser.log_in(person.email)
        text = see(browser, path)
        assert "<svg onload" not in text
        assert "{{7*7}}" in text

    def test_every_form_needs_the_secret_of_the_browser(self, browser: PageBrowser) -> None:
        forms = {action for path in PAGES for action in (see(browser, path), browser.forms)[1]}
        assert len(forms) > 8
        for action in forms:
            assert browser.open(action or browser.path, {"csrf": "x"}).status_code == 400
        assert browser.is_logged_in

    def test_what_is_of_other_users_does_not_exist(self, api: Api, browser: PageBrowser) -> None:
        other = api.person()
        key = {"name": "k", "scopes": ["files:read"]}
        key_id = api.post("/users/me/access-keys", key, by=other).json["id"]
        login_id = api.get("/users/me/authorizations", by=other).json["data"][0]["id"]
        csrf = browser.forms["/account/logout"]["csrf"]
        for subject, identifier in (
            ("access-keys", key_id),
            ("devices", login_id),
            ("factors", uuid4().hex),
            ("invitations/received", uuid4().hex),
        ):
            path = f"/account/{subject}/{identifier}/removal"
            assert browser.open(path).status_code == 404
            assert browser.open(path, {"csrf": csrf}).status_code == 404
        assert api.get("/users/me", by=other).status_code == 200
        assert len(api.get("/users/me/access-keys", by=other).json["data"]) == 1


class TestProfile:
    """Name, language and username."""

    def test_the_name_and_the_language_change(
        self, api: Api, browser: PageBrowser, person: Person
    ) -> None:
        see(browser, "/profile")
        browser.send("profile", name="Bob", language="zh")
        assert browser.message == "已保存。"
        user = api.get("/users/me", by=person).json
        assert (user["name"], user["locale"]) == ("Bob", "zh")

    def test_a_user_without_a_name_chooses_a_language(self, api: Api) -> None:
        person = api.person(name="")
        browser = PageBrowser(api)
        browser.log_in(person.email)
        see(browser, "/profile")
        browser.send("profile", name="", language="en")
        assert browser.message == "Saved."
        assert api.get("/users/me", by=person).json["locale"] == "en"

    def test_a_change_elsewhere_is_not_overwritten(
        self, api: Api, browser: PageBrowser, person: Person
    ) -> None:
        see(browser, "/profile")
        assert api.patch("/users/me", {"name": "Carol"}, by=person).status_code == 200
        browser.send("profile", name="Bob", language="")
        assert browser.message.startswith("Your profile was changed elsewhere")
        assert api.get("/users/me", by=person).json["name"] == "Carol"

    def test_a_name_that_is_refused_stays_in_the_form(self, browser: PageBrowser) -> None:
        see(browser, "/profile")
        browser.send("profile", name="", language="")
        assert browser.page.status_code == 400
        assert "<title>Error: Profile" in browser.page.text

    def test_an_old_login_confirms_and_returns_with_the_form(
        self, api: Api, browser: PageBrowser, person: Person
    ) -> None:
        see(browser, "/profile")
        api.clock.advance(6 * MINUTE)
        browser.send("username", username="alice-b")
        assert browser.path == "/account/step-up"
        browser.send("step-up", password=PASSWORD)
        assert browser.path == "/account/profile"
        assert 'value="alice-b"' in browser.page.text
        browser.send("username", username="alice-b")
        assert browser.message == "The username was set."
        assert api.get("/users/me", by=person).json["username"] == "alice-b"


class TestContacts:
    """A change proves the new contact, and the user."""

    def change(self, api: Api, browser: PageBrowser, address: str = "new@example.com") -> None:
        see(browser, "/contacts/email")
        browser.send("contacts/email/new-code", address=address, captchaAnswer="42")

    def test_an_old_login_gives_the_password_before_and_after_the_code(
        self, api: Api, browser: PageBrowser, person: Person
    ) -> None:
        api.clock.advance(10 * MINUTE)
        assert browser.open("/account/contacts/email").status_code == 200
        assert browser.path == "/account/step-up"
        browser.send("step-up", password=PASSWORD)
        assert browser.path == "/account/contacts/email"
        browser.send("contacts/email/new-code", address="new@example.com", captchaAnswer="42")
        api.clock.advance(10 * MINUTE)
        browser.send("contacts/email", code=newest_code(api))
        assert browser.path == "/account/step-up"
        browser.send("step-up", password=PASSWORD)
        assert browser.path == "/account/contacts/email"

    def request_code_of_former(self, api: Api, browser: PageBrowser) -> None:
        """Request the code that proves the former address, for a user without a password."""
        with api.container.database.write() as connection:
            connection.execute(delete(passwords))
        api.clock.advance(10 * MINUTE)
        see(browser, "/contacts/email")
        browser.send("contacts/email/current-code", captchaAnswer="42")

    def test_a_user_without_a_password_proves_the_former_address_after_ten_minutes(
        self, api: Api, browser: PageBrowser, person: Person
    ) -> None:
        self.request_code_of_former(api, browser)
        fields = {"address": "new@example.com", "captchaAnswer": "42"}
        browser.send("contacts/email/new-code", heldCode=newest_code(api), **fields)
        browser.send("contacts/email", code=newest_code(api))
        assert api.get("/users/me", by=person).json["email"] == "new@example.com"

    def test_an_address_is_replaced_by_one_code_and_the_former_one_is_informed(
        self, api: Api, browser: PageBrowser, person: Person
    ) -> None:
        self.change(api, browser)
        browser.send("contacts/email", code=newest_code(api))
        assert browser.message.startswith("Saved.")
        assert api.get("/users/me", by=person).json["email"] == "new@example.com"
        assert person.email in {message["recipient"] for message in api.outbox()[-2:]}

    def test_a_mistyped_code_keeps_the_step(
        self, api: Api, browser: PageBrowser, person: Person
    ) -> None:
        self.change(api, browser)
        right = newest_code(api)
        browser.send("contacts/email", code=f"{(int(right) + 1) % 10**6:06}")
        assert (browser.page.status_code, browser.message[:17]) == (400, "The code is wrong")
        browser.send("contacts/email", code=f" {right[:3]} {right[3:]}")
        assert browser.message.startswith("Saved.")

    def test_a_mistyped_address_is_replaced_before_its_code(
        self, api: Api, browser: PageBrowser, person: Person
    ) -> None:
        self.change(api, browser)
        api.clock.advance(MINUTE)
        browser.send("another-code")
        assert browser.path == "/account/contacts/email"
        fields = {"address": "newer@example.com", "captchaAnswer": "42"}
        browser.send("contacts/email/new-code", **fields)
        browser.send("contacts/email", code=newest_code(api))
        assert api.get("/users/me", by=person).json["email"] == "newer@example.com"

    def test_a_code_of_the_former_address_is_entered_once_for_two_codes_to_the_new_one(
        self, api: Api, browser: PageBrowser, person: Person
    ) -> None:
        self.request_code_of_former(api, browser)
        fields = {"address": "new@example.com", "captchaAnswer": "42"}
        browser.send("contacts/email/new-code", heldCode=newest_code(api), **fields)
        api.clock.advance(MINUTE)
        browser.send("another-code")
        assert "heldCode" not in browser.page.text
        browser.send("contacts/email/new-code", **fields)
        browser.send("contacts/email", code=newest_code(api))
        assert api.get("/users/me", by=person).json["email"] == "new@example.com"

    def test_a_wrong_code_of_the_former_address_asks_for_it_again(
        self, api: Api, browser: PageBrowser, person: Person
    ) -> None:
        self.request_code_of_former(api, browser)
        wrong = f"{(int(newest_code(api)) + 1) % 10**6:06}"
        fields = {"address": "new@example.com", "captchaAnswer": "42"}
        browser.send("contacts/email/new-code", heldCode=wrong, **fields)
        browser.send("contacts/email", code=newest_code(api))
        assert browser.page.status_code == 400
        assert "/account/contacts/email/new-code" in browser.forms
        assert api.get("/users/me", by=person).json["email"] == person.email

    def test_a_wrong_captcha_sends_nothing(self, api: Api, browser: PageBrowser) -> None:
        see(browser, "/contacts/email")
        for answer in ("", "41"):
            browser.send("contacts/email/new-code", address="new@example.com", captchaAnswer=answer)
            assert browser.page.status_code == 400
        assert api.outbox() == []

    def test_a_second_contact_is_added_and_the_first_removed(
        self, api: Api, browser: PageBrowser, person: Person
    ) -> None:
        assert "/contacts/email/removal" not in see(browser, "/profile")
        see(browser, "/contacts/mobile")
        browser.send("contacts/mobile/new-code", address="13800138000", captchaAnswer="42")
        browser.send("contacts/mobile", code=newest_code(api))
        assert browser.message.startswith("Saved.")
        api.clock.advance(2 * MINUTE)
        see(browser, "/contacts/email/removal")
        browser.send("contacts/email/removal/code", to="mobile", captchaAnswer="42")
        browser.send("contacts/email/removal", heldCode=newest_code(api))
        assert browser.message == "The contact was removed."
        assert api.get("/users/me", by=person).json["email"] is None

    def test_the_last_contact_stays(self, api: Api, browser: PageBrowser, person: Person) -> None:
        see(browser, "/contacts/email/removal")
        browser.send("contacts/email/removal/code", captchaAnswer="42")
        browser.send("contacts/email/removal", heldCode=newest_code(api))
        assert browser.message.startswith("This is your only way to log in.")
        assert api.get("/users/me", by=person).json["email"] == person.email

    def test_a_profile_that_was_opened_ends_the_change(self, api: Api, browser: PageBrowser) -> None:
        self.change(api, browser)
        see(browser, "/profile")
        assert (
            "/account/contacts/email/new-code"
            in (
                see(browser, "/contacts/email"),
                browser.forms,
            )[1]
        )


class TestPassword:
    """The password is changed by the old one, and set first by a code."""

    def test_a_change_ends_the_other_logins(
        self, api: Api, browser: PageBrowser, person: Person
    ) -> None:
        see(browser, "/password")
        browser.send("password", password="Wrong1Horse", newPassword=NEW)
        assert (browser.page.status_code, browser.message) == (400, "The password is wrong.")
        browser.send("password", password=PASSWORD, newPassword="weak")
        assert browser.message.startswith("Choose another password")
        assert "weak" not in browser.page.text
        browser.send("password", password=PASSWORD, newPassword=NEW)
        assert browser.message.startswith("Your password was changed.")
        assert api.get("/users/me", by=person).status_code == 401
        assert api.log_in(person.email, NEW).status_code == 200

    def test_the_first_password_needs_a_code(
        self, api: Api, browser: PageBrowser, person: Person
    ) -> None:
        with api.container.database.write() as connection:
            connection.execute(delete(passwords))
        assert "You have no password." in see(browser, "/")
        see(browser, "/password")
        browser.send("password/code", captchaAnswer="42")
        browser.send("password", heldCode=newest_code(api), newPassword=NEW)
        assert browser.message.startswith("Your password was changed.")
        assert api.log_in(person.email, NEW).status_code == 200


class TestDevices:
    """Logins are listed, and ended after a question."""

    def test_this_device_is_first_and_others_end(self, api: Api, person: Person) -> None:
        agent = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 Chrome/130.0 Safari/537.36"
        browser = PageBrowser(api, User_Agent=agent)
        browser.log_in(person.email)
        text = see(browser, "/devices")
        assert text.index("This device") < text.index("/removal")
        assert "Chrome on Windows" in text
        assert "Unknown device" in text
        (path,) = re.findall(r'href="(/account/devices/[^"]+/removal)"', text)
        browser.open(path)
        assert api.get("/users/me", by=person).status_code == 200
        browser.open(path, browser.forms[""])
        assert browser.message == "The device was logged out."
        assert api.get("/users/me", by=person).status_code == 401

    def test_a_client_that_acts_for_the_user_is_named_and_ends(
        self, api: Api, browser: PageBrowser, person: Person
    ) -> None:
        login_id = claims_of(str(person.token))["jti"].rpartition("-")[0]
        grants = api.container.hosts.get("storage_local").grants
        tokens = grants.begin(login_id, GrantClient("wiki", "The <Wiki>"), GrantTerms(offline=True))
        text = see(browser, "/devices")
        assert text.index("The &lt;Wiki&gt;") < text.index("acts for you")
        path = f"/account/devices/{tokens.grant.id}/removal"
        assert f'href="{path}" data-asks aria-label="Remove the access of The &lt;Wiki&gt;"' in text
        assert "Remove access" in browser.open(path).text
        browser.open(path, browser.forms[""])
        assert grants.inspect(tokens.access_token) is None

    def test_all_others_end_at_once(self, api: Api, browser: PageBrowser, person: Person) -> None:
        api.log_in(person.email)
        see(browser, "/devices/others")
        browser.open("/account/devices/others", browser.forms[""])
        assert browser.message == "All other devices were logged out."
        assert re.findall('/account/devices/[^"]+/removal', browser.page.text) == []
        assert api.get("/users/me", by=person).status_code == 401

    def test_an_administrator_ends_no_login_of_others(self, api: Api, person: Person) -> None:
        login_id = api.get("/users/me/authorizations", by=person).json["data"][0]["id"]
        administrator = PageBrowser(api)
        administrator.log_in(api.person(admin=True).email)
        csrf = administrator.forms["/account/logout"]["csrf"]
        path = f"/account/devices/{login_id}/removal"
        assert administrator.open(path, {"csrf": csrf}).status_code == 404
        assert api.get("/users/me", by=person).status_code == 200


class TestAccessKeys:
    """Keys are shown once, and revoked after a question."""

    def test_a_key_is_created_shown_once_and_revoked(
        self, api: Api, browser: PageBrowser, person: Person
    ) -> None:
        see(browser, "/access-keys")
        browser.send("access-keys", name=HOSTILE, scopes="files:read", days="30", tenant="")
        (key,) = re.findall(r'id="secret">([^<]+)<', browser.page.text)
        headers = {"Authorization": f"Bearer {key}"}
        assert error_code(api.get("/users/me", headers=headers)) == "error.insufficient-scope"
        assert key not in see(browser, "/access-keys/new")
        assert "<small>Read files · " in see(browser, "/access-keys")
        (path,) = re.findall(r'href="(/account/access-keys/[^"]+/removal)"', browser.page.text)
        browser.open(path)
        browser.open(path, browser.forms[""])
        assert browser.message == "The key was revoked."
        assert error_code(api.get("/users/me", headers=headers)) == "error.token-invalid"

    def test_a_key_without_a_scope_is_refused_with_its_form(self, browser: PageBrowser) -> None:
        see(browser, "/access-keys")
        browser.send("access-keys", name="Backup", days="7")
        assert browser.page.status_code == 400
        assert 'value="Backup"' in browser.page.text

    def test_an_old_login_confirms_and_returns_with_the_form(
        self, api: Api, browser: PageBrowser
    ) -> None:
        see(browser, "/access-keys")
        api.clock.advance(11 * MINUTE)
        browser.send("access-keys", name="Backup", scopes="files:read", days="7")
        browser.send("step-up", password=PASSWORD)
        assert browser.path == "/account/access-keys"
        assert 'value="Backup"' in browser.page.text
        assert 'value="files:read" checked' in browser.page.text

    def test_only_administrators_see_the_scopes_of_the_server(
        self, api: Api, browser: PageBrowser
    ) -> None:
        assert "users:write" not in see(browser, "/access-keys")
        administrator = PageBrowser(api)
        administrator.log_in(api.person(admin=True).email)
        assert "users:write" in see(administrator, "/access-keys")


class TestInvitations:
    """Received invitations are accepted, and declined after a question."""

    @pytest.fixture
    def tenant(self, api: Api, person: Person) -> str:
        owner = api.person(name="Olivia")
        tenant = api.tenant(owner, HOSTILE)
        assert api.post(f"{tenant}/invitations", {"email": person.email}, by=owner).status_code == 201
        return tenant

    def test_an_invitation_is_accepted(
        self, api: Api, browser: PageBrowser, person: Person, tenant: str
    ) -> None:
        assert "invited by Olivia" in see(browser, "/invitations")
        (action,) = (path for path in browser.forms if path.endswith("/acceptance"))
        browser.send(action.removeprefix("/account/"))
        assert browser.message == "You have joined."
        assert api.get(tenant, by=person).status_code == 200

    def test_an_invitation_is_declined(
        self, api: Api, browser: PageBrowser, person: Person, tenant: str
    ) -> None:
        text = see(browser, "/invitations")
        (path,) = re.findall(r'href="(/account/invitations/[^"]+/removal)"', text)
        browser.open(path)
        browser.open(path, browser.forms[""])
        assert browser.message == "The invitation was declined."
        assert "You have no open invitations." in browser.page.text
        assert api.get(tenant, by=person).status_code == 403


class TestFactors:
    """Factors and recovery codes are removed and replaced after a question."""

    @pytest.fixture
    def app(self, browser: PageBrowser) -> pyotp.TOTP:
        see(browser, "/")
        browser.send("enrolments/totp")
        assert 'href="otpauth://totp/' in browser.page.text
        button = re.search(
            r'<button([^>]* hidden[^>]* data-copy="totp-secret".*?)</button>', browser.page.text
        )
        assert button is not None
        assert 'aria-label="Copy the secret"' in button[1]
        assert button[1].endswith("<span>Copy</span>")
        app = pyotp.TOTP(secret_of(browser.page.text))
        browser.send("enrolments/totp/confirmation", totp=app.now())
        assert browser.message.startswith("Done. If you have no recovery codes yet")
        return app

    def test_codes_are_shown_once_and_replaced_after_a_question(
        self, browser: PageBrowser, app: pyotp.TOTP
    ) -> None:
        text = browser.send("enrolments/recovery-code").text
        codes = re.findall(r"<li>([0-9A-Z-]{19})</li>", text)
        assert len(codes) == 10
        assert codes[0] not in see(browser, "/enrolments/recovery-code/result")
        assert "/account/enrolments/recovery-code" not in browser.forms
        see(browser, "/enrolments/recovery-code")
        assert "stop working at once" in browser.page.text
        browser.open("/account/enrolments/recovery-code", browser.forms[""])
        new = re.findall(r"<li>([0-9A-Z-]{19})</li>", browser.page.text)
        assert set(new).isdisjoint(codes)

    def test_codes_are_downloaded_without_scripts(self, browser: PageBrowser, app: pyotp.TOTP) -> None:
        text = browser.send("enrolments/recovery-code").text
        codes = re.findall(r"<li>([0-9A-Z-]{19})</li>", text)
        csrf = browser.forms["/account/enrolments/recovery-code/file"]["csrf"]
        path = "/account/enrolments/recovery-code/file"
        file = browser.open(path, {"csrf": csrf, "line": codes})
        assert file.text.split() == codes
        assert file.headers["Content-Disposition"] == 'attachment; filename="recovery-code.txt"'
        forged = {"csrf": csrf, "line": ["\x00"]}
        assert browser.open(path, forged).status_code == 404

    def test_an_app_is_removed_after_a_question_and_a_fresh_proof(
        self, api: Api, browser: PageBrowser, person: Person, app: pyotp.TOTP
    ) -> None:
        api.clock.advance(11 * MINUTE)
        (path,) = re.findall(r'href="(/account/factors/[^"]+/removal)"', see(browser, "/"))
        browser.open(path)
        assert api.get("/users/me/factors", by=person).json["data"] != []
        browser.open(path, browser.forms[""])
        assert browser.path == "/account/step-up"
        browser.send("step-up", totp=app.generate_otp(int(time()) // 30 + 1))
        assert browser.path == path
        browser.open(path, browser.forms[""])
        assert browser.message == "Removed."
        assert api.get("/users/me/factors", by=person).json["data"] == []


class TestPrivacy:
    """A user exports the data, and deletes the account with time to cancel."""

    def test_the_data_is_downloaded(self, browser: PageBrowser) -> None:
        see(browser, "/privacy")
        archive = browser.send("privacy/export")
        assert archive.headers["Content-Type"] == "application/zip"
        assert archive.headers["Cache-Control"] == "no-store"
        with ZipFile(BytesIO(archive.data)) as files:
            assert "profile.json" in files.namelist()

    def test_a_deletion_is_scheduled_after_a_fresh_proof_and_cancelled(
        self, api: Api, browser: PageBrowser, person: Person
    ) -> None:
        api.clock.advance(11 * MINUTE)
        path = "/account/privacy/deletion"
        assert "You can cancel the deletion for 14 days." in see(browser, "/privacy")
        assert "For 14 days you can log in and cancel." in browser.open(path).text
        browser.open(path, browser.forms[""])
        assert browser.path == "/account/step-up"
        browser.send("step-up", password=PASSWORD)
        assert browser.path == path
        browser.open(path, browser.forms[""])
        assert re.search(r"Your account will be deleted on \w+ \d+, 2026", browser.page.text)
        browser.send("privacy/deletion/cancellation")
        assert browser.message == "Your account is kept."
        assert api.log_in(person.email).status_code == 200

    def test_the_only_administrator_appoints_another_first(self, api: Api) -> None:
        browser = PageBrowser(api)
        browser.log_in(api.person(admin=True).email)
        path = "/account/privacy/deletion"
        browser.open(path)
        browser.open(path, browser.forms[""])
        assert browser.message.startswith("You are the only administrator.")

    @pytest.mark.config(merged(CONFIG, {"users": {"deletion_grace_days": 0}}))
    def test_without_a_grace_the_browser_is_logged_out(self, api: Api, browser: PageBrowser) -> None:
        with api.container.database.write() as connection:
            metadata.create_all(connection)
        path = "/account/privacy/deletion"
        assert "The account is deleted at once and" in see(browser, "/privacy")
        assert "cannot be restored" in browser.open(path).text
        browser.open(path, browser.forms[""])
        assert browser.message == "Your account was deleted."
        assert not browser.is_logged_in
