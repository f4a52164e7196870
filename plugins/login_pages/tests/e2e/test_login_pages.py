"""Journeys through the login pages in a real browser with passkeys, in both languages."""

from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from playwright.sync_api import Browser, expect
from tests.support.api import claims_of
from tests.support.browsers import PLATFORM, SECURITY_KEY, SYNCED, VirtualAuthenticator, needs_chromium
from tests.support.config import Table
from tests.support.front_end import front_end
from tests.support.http import Caller
from tests.support.login_pages import (
    LOCALES,
    PASSWORD,
    AuthenticatorApp,
    Inspection,
    Person,
    person_at,
)
from tests.support.server import Server
from tests.support.waiting import wait_until

from strongroom.testing.server import free_port
from strongroom_login_pages.front_ends.codes import challenge_of

pytestmark = needs_chromium

in_both_languages = pytest.mark.parametrize("language", LOCALES, indirect=True)

FRONT_END_PORT = free_port()
FRONT_END = f"http://localhost:{FRONT_END_PORT}"
CALLBACK = f"{FRONT_END}/callback"
VERIFIER = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"


@pytest.fixture(scope="module")
def shared_changes() -> Table:
    port = free_port()
    return {
        # Browsers have no passkeys for an IP address.
        "server": {"port": port, "public_url": f"http://localhost:{port}"},
        "plugins": {
            "enabled": ["storage_local", "factor_totp", "login_passkey", "login_pages"],
            "login_pages": {"return_urls": [CALLBACK]},
        },
        "limits": {"login_failures_before_captcha": 2},
    }


@pytest.fixture(scope="module", autouse=True)
def site_of_the_front_end() -> Iterator[None]:
    with front_end(FRONT_END_PORT, {"/callback": "<!doctype html><title>Front end</title>"}):
        yield


# The second language changes texts only; `make test` checks that the pages are accessible in it.
@pytest.fixture(params=["en", pytest.param("zh", marks=pytest.mark.extended)])
def language(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def claims_by_passkey(person: Person) -> dict[str, Any]:
    """Log in by the passkey for a front end, and return the claims of its access token."""
    query = {"returnUrl": CALLBACK, "state": "s", "codeChallenge": challenge_of(VERIFIER)}
    person.open(f"/login?{urlencode(query)}")
    person.press("passkey.use")
    person.page.wait_for_url(f"{CALLBACK}?**")
    (code,) = parse_qs(urlsplit(person.page.url).query)["code"]
    body = {"code": code, "codeVerifier": VERIFIER}
    reply = Caller(person.server.url).send("POST", "/api/v1/login-codes", body)
    return claims_of(reply.json["accessToken"])


def is_refused_with_passkey(person: Person) -> None:
    """Try to log in by the passkey, and require that the server refuses it."""
    person.open_login()
    person.press("passkey.use")
    person.sees("error.invalid-credentials")


@pytest.fixture
def person(browser: Browser, shared_server: Server, language: str) -> Iterator[Person]:
    with person_at(browser, shared_server, language) as person:
        yield person


class TestJourneys:
    """Ten journeys: what people and their devices do, and what attackers' devices do."""

    def test_a_platform_device_logs_in(self, person: Person) -> None:
        person.get_device(PLATFORM)
        person.log_out()
        person.press("passkey.use")
        person.has_heading("security")
        used = person.text("last-used", day="")[:4]
        expect(person.page.locator(".group-row", has_text=used)).to_be_visible()
        claims = claims_by_passkey(person)
        assert (claims["acr"], claims["amr"]) == ("phr", ["hwk", "user"])

    def test_a_security_key_logs_in(self, person: Person) -> None:
        person.get_device(SECURITY_KEY)
        person.log_out()
        claims = claims_by_passkey(person)
        assert (claims["acr"], claims["amr"]) == ("phr", ["hwk", "user"])

    def test_a_synced_passkey_logs_in(self, person: Person) -> None:
        device = person.get_device(SYNCED)
        assert device.credentials[0]["backupState"] is True
        person.log_out()
        claims = claims_by_passkey(person)
        assert (claims["acr"], claims["amr"]) == ("phr", ["swk", "user"])

    def test_autofill_logs_in_without_a_name(self, person: Person, browser: Browser) -> None:
        person.get_device(PLATFORM)
        (credential,) = person.device.credentials if person.device else []
        person.log_out()
        locale = person.page.evaluate("navigator.language")
        context = browser.new_context(locale=locale)
        page = context.new_page()
        device = VirtualAuthenticator(page, PLATFORM)
        device.set("addCredential", credential=credential)
        page.goto(f"{person.origin}/account/login")
        expect(page.get_by_role("heading", level=1)).to_have_text(person.text("security"))
        context.close()

    def test_a_cloned_device_is_refused(self, person: Person) -> None:
        device = person.get_device(PLATFORM)
        person.log_out()
        for _ in range(2):
            person.open_login()
            person.press("passkey.use")
            person.has_heading("security")
        device.clone()
        is_refused_with_passkey(person)

    @pytest.mark.parametrize("fault", ["isBogusSignature", "isBadUV", "isBadUP"])
    def test_a_faulty_device_is_refused(self, person: Person, fault: str) -> None:
        device = person.get_device(PLATFORM)
        person.log_out()
        device.set("setResponseOverrideBits", **{fault: True})
        is_refused_with_passkey(person)
        device.set("setResponseOverrideBits", **{fault: False})
        person.press("passkey.use")
        person.has_heading("security")

    def test_another_origin_is_refused(self, person: Person) -> None:
        person.get_device(PLATFORM)
        person.log_out()
        caller = Caller(person.server.url)
        challenge = caller.send("POST", "/authorizations/challenges", {}).json["challenge"]
        # The same domain, so that the browser signs, but another port.
        person.page.goto(CALLBACK)
        answer = person.page.evaluate(
            """async options => (await navigator.credentials.get({
                publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(options)})).toJSON()""",
            challenge["publicKey"],
        )
        body = {"challenge": {"id": challenge["id"], "passkey": answer}}
        reply = caller.send("POST", "/authorizations", body)
        assert (reply.status, reply.json["error"]["code"]) == (401, "error.invalid-credentials")
        # Another domain: the browser does not sign.
        person.page.goto(f"{person.origin.replace('localhost', 'other.localhost')}/account/login")
        person.press("passkey.use")
        person.sees("passkey.failed")

    def test_a_passkey_that_the_server_has_deleted_is_removed_from_the_device(
        self, person: Person
    ) -> None:
        device = person.get_device(PLATFORM)
        person.log_out()
        person.press("passkey.use")
        person.has_heading("security")
        (credential,) = device.credentials
        name = person.text("remove-named", name="Laptop")
        person.page.get_by_role("link", name=name).click()
        person.press("remove")
        person.sees("removed")
        wait_until(lambda: device.credentials == [])
        assert device.deleted == [credential["credentialId"]]

    def test_a_passkey_that_was_deleted_elsewhere_is_removed_after_the_next_login(
        self, person: Person
    ) -> None:
        device = person.get_device(PLATFORM)
        person.log_out()
        person.server.command("users", "reset-factors", person.id)
        is_refused_with_passkey(person)
        assert len(device.credentials) == 1
        person.log_in()
        person.has_heading("security")
        wait_until(lambda: device.credentials == [])


def test_a_passkey_is_a_second_factor_and_a_step_up(person: Person) -> None:
    person.get_device(PLATFORM)
    person.log_out()
    person.log_in()
    person.has_heading("second-factor")
    person.press("passkey.use")
    person.has_heading("security")
    person.open("/step-up")
    person.press("passkey.use")
    person.sees("confirmed")


def test_a_passkey_is_renamed(person: Person) -> None:
    person.get_device(PLATFORM)
    person.log_out()
    person.press("passkey.use")
    person.page.locator("summary", has_text=person.text("rename")).click()
    rename = person.text("rename-named", name="Laptop")
    person.page.get_by_role("textbox", name=rename).fill("<b>Phone</b>")
    person.press("save")
    person.sees("renamed")
    expect(person.page.locator(".group-row", has_text="<b>Phone</b>")).to_be_visible()


def test_a_user_without_scripts_and_mouse_logs_in_by_an_app(
    browser: Browser, shared_server: Server, language: str
) -> None:
    with person_at(browser, shared_server, language, java_script_enabled=False) as person:
        page = person.page

        def type_in(*fields: str) -> None:
            """Type into the field that has the focus, and into those that follow."""
            # Browsers give the focus after the page has loaded.
            expect(page.locator("input:focus")).to_have_count(1)
            for number, text in enumerate(fields):
                if number:
                    page.keyboard.press("Tab")
                page.keyboard.type(text)
            page.keyboard.press("Enter")

        person.open("/login")
        type_in(person.email, PASSWORD)
        person.has_heading("security")
        person.press("totp.add")
        app = AuthenticatorApp(page.locator("#totp-secret").get_attribute("data-text") or "")
        page.get_by_label(person.text("totp.field")).focus()
        type_in(app.code())
        person.sees("factor-added")
        person.log_out()
        person.open("/login")
        type_in(person.email, PASSWORD)
        person.has_heading("second-factor")
        type_in(app.code())
        person.has_heading("security")


@in_both_languages
def test_all_pages_are_accessible(person: Person) -> None:
    inspection = Inspection(person.page)
    person.open("/login")
    inspection.inspect("login")
    person.log_in("wrong")
    inspection.inspect("login with an error")
    for _ in range(2):
        person.log_in_again("wrong")
    person.sees("captcha-by-browser")
    inspection.inspect("login with a captcha")
    person.open("/nowhere")
    inspection.inspect("error")
    assert inspection.faults == []


@in_both_languages
def test_all_pages_of_the_account_are_accessible(person: Person) -> None:
    page, inspection = person.page, Inspection(person.page)
    person.log_in()
    inspection.inspect("empty account")
    person.open("/step-up")
    page.get_by_label(person.text("password")).wait_for()
    inspection.inspect("step-up by the password")
    person.open("/")
    person.press("passkey.add")
    inspection.inspect("new passkey")
    person.get_device(PLATFORM)
    person.log_out()
    person.press("passkey.use")
    person.press("totp.add")
    inspection.inspect("new app")
    app = AuthenticatorApp(page.locator("#totp-secret").get_attribute("data-text") or "")
    page.get_by_label(person.text("totp.field")).fill("000000")
    person.press("confirm")
    person.sees("code-wrong")
    inspection.inspect("new app with an error")
    page.get_by_label(person.text("totp.field")).fill(app.code())
    person.press("confirm")
    person.sees("factor-added")
    person.press("recovery-code.add")
    person.has_heading("recovery-code.label")
    inspection.inspect("recovery codes")
    person.open("/")
    inspection.inspect("full account")
    person.open("/step-up")
    inspection.inspect("step-up")
    person.log_out()
    person.log_in()
    inspection.inspect("challenge")
    page.get_by_label(person.text("totp.field")).fill("000000")
    person.press("confirm")
    person.sees("code-wrong")
    inspection.inspect("challenge with an error")
    assert inspection.faults == []
