"""Journeys through the login pages in a real browser with passkeys, in both languages."""

import time
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit
from uuid import uuid4

import pyotp
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from strongroom.testing.server import free_port
from strongroom_login_pages.codes import challenge_of
from tests.support.api import claims_of
from tests.support.browsers import (
    CHROMIUM,
    PLATFORM,
    SECURITY_KEY,
    SYNCED,
    VirtualAuthenticator,
    chromium,
)
from tests.support.config import Table
from tests.support.front_end import front_end
from tests.support.http import Caller
from tests.support.server import Server

pytestmark = pytest.mark.skipif(not CHROMIUM.exists(), reason=f"there is no browser at {CHROMIUM}")

PASSWORD = "Correct1Horse"
FRONT_END_PORT = free_port()
FRONT_END = f"http://localhost:{FRONT_END_PORT}"
CALLBACK = f"{FRONT_END}/callback"
VERIFIER = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
LOCALES = {"en": "en-US", "zh": "zh-CN"}
MESSAGES = Path(__file__).parents[2] / "plugins/login_pages/src/strongroom_login_pages/messages"


@pytest.fixture(scope="module")
def config_changes() -> Table:
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


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as browser:
        yield browser


@pytest.fixture(scope="module", autouse=True)
def site_of_the_front_end() -> Iterator[None]:
    with front_end(FRONT_END_PORT, {"/callback": "<!doctype html><title>Front end</title>"}):
        yield


@pytest.fixture(params=LOCALES)
def language(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@dataclass
class Person:
    """A user in front of a browser."""

    server: Server
    page: Page
    texts: Mapping[str, str]
    email: str
    id: str
    device: VirtualAuthenticator | None = None

    @property
    def origin(self) -> str:
        return self.server.url.replace("127.0.0.1", "localhost")

    def text(self, key: str, **values: str) -> str:
        """Return a text of the pages in the person's language."""
        return self.texts[key].format(**values)

    def open(self, path: str) -> None:
        self.page.goto(f"{self.origin}/account{path}")

    def press(self, key: str) -> None:
        """Press the button with a text."""
        self.page.get_by_role("button", name=self.text(key), exact=True).click()

    def log_in(self, password: str = PASSWORD) -> None:
        """Log in with the password."""
        self.open("/login")
        self.page.get_by_label(self.text("username")).fill(self.email)
        self.page.get_by_label(self.text("password")).fill(password)
        self.press("log-in")

    def sees(self, key: str) -> None:
        """Require a message."""
        expect(self.page.locator("[role=alert]:visible, [role=status]")).to_have_text(self.text(key))

    def has_heading(self, key: str) -> None:
        expect(self.page.get_by_role("heading", level=1)).to_have_text(self.text(key))

    def get_device(self, kind: Mapping[str, Any] = PLATFORM) -> VirtualAuthenticator:
        """Plug a device in, and add a passkey on it."""
        self.device = VirtualAuthenticator(self.page, kind)
        self.log_in()
        self.page.get_by_label(self.text("name-of-passkey")).fill("Laptop")
        self.press("add-passkey")
        self.press("create-passkey")
        self.sees("passkey-added")
        return self.device

    def log_out(self) -> None:
        self.open("/")
        self.press("log-out")
        self.sees("logged-out")

    def claims(self) -> dict[str, Any]:
        """Log in by the passkey for a front end, and return the claims of its access token."""
        query = {"returnUrl": CALLBACK, "state": "s", "codeChallenge": challenge_of(VERIFIER)}
        self.open(f"/login?{urlencode(query)}")
        self.press("use-passkey")
        self.page.wait_for_url(f"{CALLBACK}?**")
        (code,) = parse_qs(urlsplit(self.page.url).query)["code"]
        body = {"code": code, "codeVerifier": VERIFIER}
        reply = Caller(self.server.url).send("POST", "/api/v1/login-codes", body)
        return claims_of(reply.json["accessToken"])

    def is_refused_with_passkey(self) -> None:
        """Try to log in by the passkey, and require that the server refuses it."""
        self.open("/login")
        self.press("use-passkey")
        self.sees("error.invalid-credentials")


@pytest.fixture
def person(browser: Browser, shared_server: Server, language: str) -> Iterator[Person]:
    context = browser.new_context(locale=LOCALES[language])
    texts = tomllib.loads((MESSAGES / f"{language}.toml").read_text())
    email = f"{uuid4().hex}@example.com"
    user = shared_server.create_user(email)
    # Autofill would answer at once; the journey with autofill has a page of its own.
    context.add_init_script("delete PublicKeyCredential.isConditionalMediationAvailable")
    page, complaints = context.new_page(), list[str]()
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", lambda message: complaints.append(message.text))
    yield Person(shared_server, page, texts, email, user["id"])
    context.close()
    # Browsers also report the status codes of forms with errors, such as 400.
    assert [text for text in complaints if "the server responded with a status of" not in text] == []


class TestJourneys:
    """Ten journeys: what people and their devices do, and what attackers' devices do."""

    def test_a_platform_device_logs_in(self, person: Person) -> None:
        person.get_device(PLATFORM)
        person.log_out()
        person.press("use-passkey")
        person.has_heading("security")
        expect(person.page.get_by_role("listitem")).to_contain_text(person.text("last-used", day="")[:4])
        claims = person.claims()
        assert (claims["acr"], claims["amr"]) == ("phr", ["hwk", "user"])

    def test_a_security_key_logs_in(self, person: Person) -> None:
        person.get_device(SECURITY_KEY)
        person.log_out()
        claims = person.claims()
        assert (claims["acr"], claims["amr"]) == ("phr", ["hwk", "user"])

    def test_a_synced_passkey_logs_in(self, person: Person) -> None:
        device = person.get_device(SYNCED)
        assert device.credentials[0]["backupState"] is True
        person.log_out()
        claims = person.claims()
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
            person.open("/login")
            person.press("use-passkey")
            person.has_heading("security")
        device.clone()
        person.is_refused_with_passkey()

    @pytest.mark.parametrize("fault", ["isBogusSignature", "isBadUV", "isBadUP"])
    def test_a_faulty_device_is_refused(self, person: Person, fault: str) -> None:
        device = person.get_device(PLATFORM)
        person.log_out()
        device.set("setResponseOverrideBits", **{fault: True})
        person.is_refused_with_passkey()
        device.set("setResponseOverrideBits", **{fault: False})
        person.press("use-passkey")
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
        person.press("use-passkey")
        person.sees("passkey-failed")

    def test_a_passkey_that_the_server_has_deleted_is_removed_from_the_device(
        self, person: Person
    ) -> None:
        device = person.get_device(PLATFORM)
        person.log_out()
        person.press("use-passkey")
        person.has_heading("security")
        (credential,) = device.credentials
        name = person.text("remove-named", name="Laptop")
        person.page.get_by_role("button", name=name).click()
        person.sees("removed")
        assert device.deleted == [credential["credentialId"]]
        assert device.credentials == []

    def test_a_passkey_that_was_deleted_elsewhere_is_removed_after_the_next_login(
        self, person: Person
    ) -> None:
        device = person.get_device(PLATFORM)
        person.log_out()
        person.server.command("users", "reset-factors", person.id)
        person.is_refused_with_passkey()
        assert len(device.credentials) == 1
        person.log_in()
        person.has_heading("security")
        person.page.wait_for_load_state("networkidle")
        assert device.credentials == []


def test_a_passkey_is_a_second_factor_and_a_step_up(person: Person) -> None:
    person.get_device(PLATFORM)
    person.log_out()
    person.log_in()
    person.has_heading("second-factor")
    person.press("use-passkey")
    person.has_heading("security")
    person.open("/step-up")
    person.press("use-passkey")
    person.sees("confirmed")


def test_a_passkey_is_renamed(person: Person) -> None:
    person.get_device(PLATFORM)
    person.log_out()
    person.press("use-passkey")
    names = person.page.get_by_label(person.text("name-of-passkey"), exact=True)
    names.fill("<b>Phone</b>")
    person.page.get_by_role("button", name=person.text("rename-named", name="Laptop")).click()
    person.sees("renamed")
    expect(names).to_have_value("<b>Phone</b>")


class AuthenticatorApp:
    """An app on a phone; a code may be one step early or late, so three logins need no waiting."""

    def __init__(self, secret: str) -> None:
        self._totp, self._step = pyotp.TOTP(secret), int(time.time()) // 30 - 1

    def code(self) -> str:
        """Return a code that was not used yet."""
        self._step += 1
        return str(self._totp.generate_otp(self._step - 1))


def test_a_user_without_scripts_and_mouse_logs_in_by_an_app(
    browser: Browser, shared_server: Server, language: str
) -> None:
    context = browser.new_context(locale=LOCALES[language], java_script_enabled=False)
    texts = tomllib.loads((MESSAGES / f"{language}.toml").read_text())
    email = f"{uuid4().hex}@example.com"
    user = shared_server.create_user(email)
    person = Person(shared_server, context.new_page(), texts, email, user["id"])
    page = person.page

    def type_in(*fields: str) -> None:
        for text in fields:
            page.keyboard.press("Tab")
            page.keyboard.type(text)
        page.keyboard.press("Enter")

    person.open("/login")
    type_in(email, PASSWORD)
    person.has_heading("security")
    person.press("add-app")
    app = AuthenticatorApp(page.locator("input[name=secret]").get_attribute("value") or "")
    # The first stop is the summary with the secret.
    page.keyboard.press("Tab")
    type_in(app.code())
    person.sees("totp-added")
    person.log_out()
    person.open("/login")
    type_in(email, PASSWORD)
    person.has_heading("second-factor")
    type_in(app.code())
    person.has_heading("security")
    context.close()


class Inspection:
    """Inspects pages as they appear: WCAG by axe, and no sideways scrolling at 320 pixels."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self.faults: list[str] = []

    def inspect(self, name: str) -> None:
        """Inspect the current page in both colour schemes, wide and narrow."""
        for scheme, width in (("light", 1280), ("dark", 320)):
            self._page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]  # a literal
            self._page.set_viewport_size({"width": width, "height": 800})
            violations = Axe().run(self._page).response["violations"]
            self.faults += [f"{name} {scheme}: {found['id']} {found['nodes']}" for found in violations]
        if self._page.evaluate("document.documentElement.scrollWidth > innerWidth"):
            self.faults.append(f"{name}: scrolls sideways")


def test_all_pages_are_accessible(person: Person) -> None:
    page, inspection = person.page, Inspection(person.page)
    person.open("/login")
    inspection.inspect("login")
    person.log_in("wrong")
    inspection.inspect("login with an error")
    for _ in range(2):
        page.get_by_label(person.text("password")).fill("wrong")
        person.press("log-in")
    person.sees("error.captcha-required")
    inspection.inspect("login with a captcha")
    person.open("/nowhere")
    inspection.inspect("error")
    assert inspection.faults == []


def test_all_pages_of_the_account_are_accessible(person: Person) -> None:
    page, inspection = person.page, Inspection(person.page)
    person.log_in()
    inspection.inspect("empty account")
    person.press("add-passkey")
    inspection.inspect("new passkey")
    person.get_device(PLATFORM)
    person.log_out()
    person.press("use-passkey")
    person.press("add-app")
    inspection.inspect("new app")
    app = AuthenticatorApp(page.locator("input[name=secret]").get_attribute("value") or "")
    page.get_by_label(person.text("app-code")).fill("000000")
    person.press("confirm")
    person.sees("code-wrong")
    inspection.inspect("new app with an error")
    page.get_by_label(person.text("app-code")).fill(app.code())
    person.press("confirm")
    person.sees("totp-added")
    person.press("create-codes")
    person.has_heading("recovery-codes")
    inspection.inspect("recovery codes")
    person.open("/")
    inspection.inspect("full account")
    person.open("/step-up")
    inspection.inspect("step-up")
    person.log_out()
    person.log_in()
    inspection.inspect("challenge")
    page.get_by_label(person.text("app-code")).fill("000000")
    person.press("confirm")
    person.sees("code-wrong")
    inspection.inspect("challenge with an error")
    assert inspection.faults == []
