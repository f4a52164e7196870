"""The pages without scripts: forms, cookies and redirects, as a browser sends them."""

import re
import secrets
import time
from base64 import urlsafe_b64decode
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import pyotp
import pytest
from tests.support.totp import secret_of, wrong_code

from strongroom.testing.browser import Browser as AnyBrowser
from strongroom.testing.browser import Forms
from strongroom.testing.pages import PasswordPagesContract, SessionPagesContract
from strongroom.testing.routes import RoutesContract
from strongroom.testing.server import PASSWORD, LiveServer, LiveUser, Reply, live_server
from strongroom.testing.wsgi import WsgiApplicationContract
from strongroom_login_pages.front_ends.codes import challenge_of

FRONT_END = "https://app.example.com/callback?from=login"
COOKIE = "strongroom-session"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveServer]:
    config = {"plugins": {"login_pages": {"return_urls": [FRONT_END]}}}
    plugins = ["factor_totp", "login_pages"]
    folder = tmp_path_factory.mktemp("server")
    with live_server(folder, plugins=plugins, config=config) as server:
        yield server


class TestPages(WsgiApplicationContract):
    private = False

    @pytest.fixture
    def prefix(self) -> str:
        return "/account"


class TestPasswordPage(PasswordPagesContract):
    @pytest.fixture
    def path(self) -> str:
        return "/account/password-links/"


class TestAccountPage(SessionPagesContract):
    """The page that the item of the menu leads to."""

    @pytest.fixture
    def path(self) -> str:
        return "/account/"


class TestRoutes(RoutesContract):
    @pytest.fixture
    def tag(self) -> str:
        return "login pages"


class Browser(AnyBrowser):
    """A browser without scripts, in front of the pages of the account."""

    def send(self, action: str, **fields: str) -> Reply:
        """Fill in a form of the page, and send it."""
        return self.submit(f"/account/{action}", **fields)

    def log_in(self, user: LiveUser, password: str = PASSWORD) -> Reply:
        """Log in with the password, also again."""
        self.open("/account/login")
        return super().log_in(user, password)

    @property
    def message(self) -> str:
        """The first message of the page."""
        match = re.search(r'<p role="(?:alert|status)"[^>]*>([^<]+)', self.page.text)
        return match.group(1) if match else ""


class App:
    """An authenticator app, set up in the pages.

    A code may be one step early or late, so three logins seldom need to wait for the next step.
    """

    def __init__(self, browser: Browser) -> None:
        browser.send("enrolments/totp")
        secret = secret_of(browser.page.text)
        self._totp, self._step, self._secret = pyotp.TOTP(secret), 0, secret

    def wrong_code(self) -> str:
        """Return a code that is wrong for the next minutes."""
        return wrong_code(self._secret, time.time())

    def code(self) -> str:
        """Return a code that was not used yet, and remains valid for ten seconds at least."""
        self._step = max(self._step + 1, int(time.time() + 10) // 30 - 1)
        while self._step > int(time.time()) // 30 + 1:
            time.sleep(0.1)
        return str(self._totp.generate_otp(self._step))


@pytest.fixture(scope="module")
def user(server: LiveServer) -> LiveUser:
    """A user for tests that enrol no factor."""
    return server.user()


@pytest.fixture
def enrolling_user(server: LiveServer) -> LiveUser:
    return server.user()


@pytest.fixture
def browser(server: LiveServer) -> Browser:
    return Browser(server)


def enrol(browser: Browser, user: LiveUser) -> App:
    browser.log_in(user)
    app = App(browser)
    browser.send("enrolments/totp/confirmation", totp=app.code())
    assert browser.message.startswith("Done. If you have no recovery codes yet")
    return app


def test_a_wrong_password_shows_the_form_again(browser: Browser, user: LiveUser) -> None:
    browser.log_in(user, "Wrong1Horse")
    assert (browser.page.status, browser.path) == (400, "/account/login")
    assert browser.message.startswith("The login failed.")
    assert f'value="{user.email}"' in browser.page.text
    assert "Wrong1Horse" not in browser.page.text


def test_a_user_without_scripts_enrols_an_app_and_logs_in_by_it(
    browser: Browser, enrolling_user: LiveUser
) -> None:
    browser.log_in(enrolling_user)
    app = App(browser)
    assert 'src="data:image/svg+xml,%3C' in browser.page.text
    browser.send("enrolments/totp/confirmation", totp=app.wrong_code())
    assert browser.message.startswith("The code is wrong")
    browser.send("enrolments/totp/confirmation", totp=app.code())
    browser.send("logout")
    assert browser.message == "You are logged out."
    browser.log_in(enrolling_user)
    assert browser.path == "/account/challenge"
    browser.send("challenge", totp=app.wrong_code())
    assert (browser.page.status, browser.message[:17]) == (400, "The code is wrong")
    browser.send("challenge", totp=app.code())
    assert browser.path == "/account/"


def test_recovery_codes_are_shown_once_and_replace_the_app(
    browser: Browser, enrolling_user: LiveUser
) -> None:
    app = enrol(browser, enrolling_user)
    browser.send("logout")
    browser.log_in(enrolling_user)
    browser.send("challenge", totp=app.code())
    codes = re.findall(r"<li>([0-9A-Z-]{19})</li>", browser.send("enrolments/recovery-code").text)
    assert len(codes) == 10
    browser.open("/account/")
    assert codes[0] not in browser.page.text
    for expected in ("/account/", "/account/challenge"):
        browser.send("logout") if browser.path == "/account/" else None
        browser.log_in(enrolling_user)
        browser.send("challenge", recoveryCode=codes[0].lower())
        assert browser.path == expected


def test_a_challenge_ends_with_its_tries(browser: Browser, enrolling_user: LiveUser) -> None:
    app = enrol(browser, enrolling_user)
    browser.send("logout")
    browser.log_in(enrolling_user)
    for _ in range(5):
        browser.send("challenge", totp=app.wrong_code())
    browser.send("challenge", totp=app.code())
    assert browser.path == "/account/login"
    assert browser.message.startswith("That took too long")


def test_a_removed_app_is_not_asked_for(browser: Browser, enrolling_user: LiveUser) -> None:
    app = enrol(browser, enrolling_user)
    browser.send("logout")
    browser.log_in(enrolling_user)
    browser.send("challenge", totp=app.code())
    (removal,) = re.findall(r'href="(/account/factors/[^"]+/removal)"', browser.page.text)
    browser.open(removal)
    browser.submit(removal)
    assert browser.message == "Removed."
    browser.log_in(enrolling_user)
    assert browser.path == "/account/"


def test_a_login_before_the_factor_needs_a_step_up(server: LiveServer, enrolling_user: LiveUser) -> None:
    first, second = Browser(server), Browser(server)
    first.log_in(enrolling_user)
    app = enrol(second, enrolling_user)
    first.open("/account/")
    first.send("enrolments/recovery-code")
    assert first.path == "/account/step-up"
    first.send("step-up", totp=app.code())
    assert "<li>" in first.send("enrolments/recovery-code").text


def test_a_code_renews_the_proof_of_the_login(browser: Browser, enrolling_user: LiveUser) -> None:
    app = enrol(browser, enrolling_user)
    browser.open("/account/step-up")
    browser.send("step-up", totp=app.wrong_code())
    assert browser.message.startswith("The code is wrong")
    browser.send("step-up", totp=app.code())
    assert browser.message == "Confirmed. Now make the change again."


def test_the_password_renews_the_proof_without_a_factor(browser: Browser, user: LiveUser) -> None:
    browser.log_in(user)
    browser.open("/account/step-up")
    browser.send("step-up", password="Wrong1Horse")
    assert (browser.page.status, browser.message) == (400, "The password is wrong.")
    browser.send("step-up", password=PASSWORD)
    assert browser.message == "Confirmed. Now make the change again."


def test_the_account_shows_until_when_a_factor_must_be_set_up(tmp_path: Path) -> None:
    policy = {"second_factors": {"required_for": ["all"], "grace_days": 7}}
    with live_server(tmp_path, plugins=["factor_totp", "login_pages"], config=policy) as server:
        browser = Browser(server)
        browser.log_in(server.user())
        assert re.fullmatch(r".* Set it up by [A-Z][a-z]{2} \d{1,2}, \d{4}\.", browser.message)


def test_each_browser_is_a_device_of_its_own(server: LiveServer) -> None:
    person = server.user()
    for browser in (Browser(server), Browser(server)):
        for _ in range(2):
            browser.log_in(person)
            browser.open("/account/")
            browser.send("logout")
            browser.log_in(person)
    headers = {"Authorization": f"Bearer {person.token}"}
    reply = server.request("GET", "/users/me/authorizations?pageSize=50", headers=headers)
    devices = Counter(login["device"] for login in reply.json()["data"] if login["device"])
    # Each login ends the one that the browser had before.
    assert sorted(devices.values()) == [1, 1]


def test_pages_of_the_account_need_a_login(browser: Browser) -> None:
    for path in ("", "/", "/challenge", "/enrolment", "/step-up"):
        browser.open(f"/account{path}")
        assert (browser.page.status, browser.path) == (200, "/account/login")


def test_a_revoked_login_ends_the_session(server: LiveServer, browser: Browser, user: LiveUser) -> None:
    browser.log_in(user)
    fresh = LiveUser(user.id, user.email, server.log_in(user.email))
    server.succeed("DELETE", "/users/me/authorizations", by=fresh)
    browser.open("/account/")
    assert browser.path == "/account/login"


class TestForgery:
    """Forms of other sites are refused, and cookies are worth nothing outside of their browser."""

    def test_a_form_without_the_secret_is_refused(self, browser: Browser, user: LiveUser) -> None:
        browser.log_in(user)
        before = dict(browser.cookies)
        for form in ({}, {"csrf": ""}, {"csrf": secrets.token_urlsafe(24)}, {"csrf": "\u00e4"}):
            for action in ("login", "enrolments/totp", "logout", "step-up"):
                assert browser.open(f"/account/{action}", form).status == 400
        assert browser.cookies == before
        assert browser.open("/account/").status == 200
        assert browser.path == "/account/"

    @pytest.mark.parametrize("site", ["cross-site", "same-site", "none"])
    def test_a_form_of_another_site_is_refused(
        self, browser: Browser, user: LiveUser, site: str
    ) -> None:
        browser.log_in(user)
        form = Forms(browser.page.text).fields["/account/logout"]
        assert browser.open("/account/logout", form, **{"Sec-Fetch-Site": site}).status == 400

    def test_the_secret_of_another_browser_is_refused(
        self, server: LiveServer, browser: Browser, user: LiveUser
    ) -> None:
        browser.log_in(user)
        attacker = Browser(server)
        attacker.open("/account/login")
        form = Forms(attacker.page.text).fields["/account/login"]
        assert browser.open("/account/logout", form).status == 400
        browser.open("/account/")
        assert browser.path == "/account/"

    def test_a_login_brings_a_new_secret(self, browser: Browser, user: LiveUser) -> None:
        browser.open("/account/login")
        before = Forms(browser.page.text).fields["/account/login"]["csrf"]
        browser.log_in(user)
        assert before not in browser.page.text

    @pytest.mark.parametrize("value", ["", "x", "\u00ff", "{}", "a" * 3000])
    def test_a_forged_cookie_is_none(self, browser: Browser, value: str) -> None:
        browser.cookies[COOKIE] = value.encode("ascii", "ignore").decode()
        assert browser.open("/account/").status == 200
        assert browser.path == "/account/login"

    def test_the_cookie_is_sealed_and_no_token_of_the_api(
        self, server: LiveServer, browser: Browser, user: LiveUser
    ) -> None:
        browser.log_in(user)
        cookie, csrf = (
            browser.cookies[COOKIE],
            Forms(browser.page.text).fields["/account/logout"]["csrf"],
        )
        readable = [urlsafe_b64decode(part + "==") for part in cookie.split(".")]
        assert not any(csrf.encode() in part or b"eyJ" in part for part in readable)
        headers = {"Cookie": f"{COOKIE}={cookie}"}
        assert server.request("GET", "/users/me", headers=headers).status == 401

    def test_each_page_has_a_strict_policy(self, browser: Browser, user: LiveUser) -> None:
        for reply in (
            browser.open("/account/login"),
            browser.log_in(user),
            browser.send("enrolments/totp"),
        ):
            policy = reply.headers["content-security-policy"]
            assert "default-src 'none'; script-src 'self' 'nonce-" in policy
            assert "frame-ancestors 'none'" in policy
            assert "unsafe" not in policy
            assert "http" not in policy
            assert reply.headers["cache-control"] == "no-store"
            assert reply.headers["referrer-policy"] == "no-referrer"
            scripts = r"<script(?! type=\"(?:module\" src=|importmap\" nonce=))"
            assert not re.search(rf"{scripts}|\son\w+=|\sstyle=", reply.text)

    def test_the_cookie_is_for_the_server_alone(self, browser: Browser) -> None:
        cookie = browser.open("/account/login").headers["set-cookie"]
        assert "HttpOnly" in cookie
        assert "SameSite=Lax" in cookie
        assert "Path=/" in cookie
        assert "Domain" not in cookie


class TestReturn:
    """A front end gets the tokens of the login, and no other page does."""

    @pytest.fixture
    def verifier(self) -> str:
        return secrets.token_urlsafe(32)

    def begin(self, browser: Browser, verifier: str, **changes: str) -> Reply:
        query = {
            "returnUrl": FRONT_END,
            "state": "s t&ä",
            "codeChallenge": challenge_of(verifier),
            **changes,
        }
        return browser.open(f"/account/login?{urlencode(query)}")

    def redeem(self, server: LiveServer, code: Any, verifier: str) -> Reply:
        body = {"code": code, "codeVerifier": verifier}
        return server.request("POST", "/api/v1/login-codes", json_body=body)

    def test_the_front_end_exchanges_the_code_once(
        self, server: LiveServer, browser: Browser, user: LiveUser, verifier: str
    ) -> None:
        page = self.begin(browser, verifier)
        assert "form-action 'self' https://app.example.com;" in page.headers["content-security-policy"]
        browser.send("login", username=user.email, password=PASSWORD)
        location = urlsplit(browser.page.headers["location"])
        assert location.geturl().startswith(f"{FRONT_END}&code=")
        query = parse_qs(location.query)
        assert query["state"] == ["s t&ä"]
        tokens = self.redeem(server, query["code"][0], verifier).json()
        assert tokens["user"]["id"] == user.id
        caller = LiveUser(user.id, user.email, tokens["accessToken"])
        assert server.request("GET", "/users/me", by=caller).status == 200
        again = self.redeem(server, query["code"][0], verifier)
        assert (again.status, again.error) == (400, "error.login-code-invalid")
        browser.open("/account/")
        assert browser.path == "/account/login"

    def test_the_second_factor_comes_before_the_code(
        self, server: LiveServer, browser: Browser, enrolling_user: LiveUser, verifier: str
    ) -> None:
        app = enrol(browser, enrolling_user)
        self.begin(browser, verifier)
        browser.send("login", username=enrolling_user.email, password=PASSWORD)
        assert browser.path == "/account/challenge"
        assert "location" not in browser.page.headers
        browser.send("challenge", totp=app.code())
        (code,) = parse_qs(urlsplit(browser.page.headers["location"]).query)["code"]
        assert self.redeem(server, code, verifier).status == 200

    @pytest.mark.parametrize(
        "url",
        [
            "https://evil.example.com/",
            "https://app.example.com/callback",
            "https://app.example.com/callback?from=login&x",
            "https://app.example.com.evil.com/callback?from=login",
            "https://app.example.com@evil.com/",
            "//app.example.com/callback?from=login",
            "/account/",
            "",
        ],
    )
    def test_an_unknown_url_is_refused(self, browser: Browser, verifier: str, url: str) -> None:
        page = self.begin(browser, verifier, returnUrl=url)
        assert (page.status, "location" in page.headers) == (400, False)
        assert url not in page.text or url in ("", "/account/")

    @pytest.mark.parametrize(
        "changes", [{"codeChallenge": ""}, {"codeChallenge": "x" * 42}, {"state": "x" * 513}]
    )
    def test_a_request_without_protection_is_refused(
        self, browser: Browser, verifier: str, changes: dict[str, str]
    ) -> None:
        assert self.begin(browser, verifier, **changes).status == 400

    @pytest.mark.parametrize(
        ("url", "target"),
        [
            ("http://127.0.0.1:49152/strongroom-client", "http://127.0.0.1:49152"),
            # A policy cannot name an address of IPv6.
            ("http://[::1]:49152/strongroom-client", "http:"),
        ],
    )
    def test_a_program_on_this_computer_gets_the_code_on_any_port(
        self, server: LiveServer, user: LiveUser, verifier: str, url: str, target: str
    ) -> None:
        browser = Browser(server)
        page = self.begin(browser, verifier, returnUrl=url)
        assert "A program on this computer will use your account." in page.text
        assert f"form-action 'self' {target};" in page.headers["content-security-policy"]
        browser.send("login", username=user.email, password=PASSWORD)
        location = browser.page.headers["location"]
        assert location.startswith(f"{url}?code=")
        (code,) = parse_qs(urlsplit(location).query)["code"]
        assert self.redeem(server, code, verifier).json()["user"]["id"] == user.id
        assert "A program on this computer" not in browser.open("/account/login").text

    def test_another_address_of_this_computer_is_refused(self, browser: Browser, verifier: str) -> None:
        for url in (
            "http://127.0.0.1:49152/other",
            "http://127.0.0.1:49152/strongroom-client?x",
            "http://127.0.0.1:49152/strongroom-client/",
            "http://localhost:49152/strongroom-client",
            "http://127.0.0.2:49152/strongroom-client",
            "https://127.0.0.1:49152/strongroom-client",
            "http://127.0.0.1:49152@evil.com/strongroom-client",
            "http://127.0.0.1:port/strongroom-client",
            "http://127.0.0.1.evil.com/strongroom-client",
            "http://127.0.0.1:49152/strongroom-client\n",
        ):
            assert self.begin(browser, verifier, returnUrl=url).status == 400, url

    def test_a_code_needs_its_verifier(
        self, server: LiveServer, browser: Browser, user: LiveUser, verifier: str
    ) -> None:
        self.begin(browser, verifier)
        browser.send("login", username=user.email, password=PASSWORD)
        (code,) = parse_qs(urlsplit(browser.page.headers["location"]).query)["code"]
        stolen = self.redeem(server, code, secrets.token_urlsafe(32))
        assert stolen.error == "error.login-code-invalid"


class TestLanguages:
    """The language of the browser, unless the user has chosen another one."""

    @pytest.mark.parametrize(("accepted", "title"), [("zh-CN,en;q=0.5", "登录"), ("de", "Log in")])
    def test_the_browser_decides(self, server: LiveServer, accepted: str, title: str) -> None:
        browser = Browser(server, Accept_Language=accepted)
        assert f"<h1>{title}</h1>" in browser.open("/account/login").text

    def test_the_choice_lasts(self, server: LiveServer, user: LiveUser) -> None:
        browser = Browser(server, Accept_Language="en")
        browser.open("/account/login?lang=zh")
        browser.log_in(user)
        assert '<html lang="zh"' in browser.page.text
        browser.open("/account/?lang=xx")
        assert '<html lang="zh"' in browser.page.text
        browser.send("enrolments/totp")
        browser.open("/account/enrolments/totp?lang=en")
        assert (browser.path, '<html lang="en"' in browser.page.text) == ("/account/", True)


def test_a_long_form_is_refused(browser: Browser) -> None:
    assert browser.open("/account/login", {"username": "x" * 70_000}).status == 413


def test_odd_forms_are_no_errors_of_the_server(browser: Browser, user: LiveUser) -> None:
    browser.log_in(user)
    csrf = Forms(browser.page.text).fields["/account/logout"]["csrf"]
    odd = ("", "\0", "\ud7ff", "%", "../..", "{", "[" * 9999, "null", "x" * 5000)
    for action in ("login", "challenge", "enrolments/totp/confirmation", "step-up",
                   "enrolments/passkey/confirmation", "factors/x/name", "factors/%00/removal",
                   "factors/..%2f../removal"):  # fmt: skip
        for value in odd:
            fields = ("username", "password", "passkey", "challenge", "id", "totp", "name", "captcha")
            form = {"csrf": csrf, **dict.fromkeys(fields, value)}
            assert browser.open(f"/account/{action}", form).status < 500, (action, value)
            if browser.path != "/account/":
                browser.log_in(user)
            csrf = Forms(browser.page.text).fields["/account/logout"]["csrf"]


NEW = "Another1Horse"


@pytest.fixture(scope="module")
def root(server: LiveServer) -> LiveUser:
    return server.user(admin=True)


def link_of(server: LiveServer, root: LiveUser, user: LiveUser) -> str:
    """Return the path of a link that sets the password of a user."""
    path, body = f"/users/{user.id}/links", {"kind": "reset", "send": False}
    issued = server.succeed("POST", path, by=root, json_body=body)
    return str(urlsplit(issued["url"]).path)


def test_a_temporary_password_is_replaced_in_the_login(server: LiveServer, root: LiveUser) -> None:
    browser, user = Browser(server), server.user()
    path = f"/users/{user.id}/temporary-password"
    password = server.succeed("POST", path, by=root)["password"]
    browser.log_in(user, password)
    assert browser.page.status == 400
    assert "Choose a new password" in browser.page.text
    # Neither the page nor the cookie contains the password.
    assert password not in browser.page.text
    browser.send("login", password=password, newPassword="weak")
    assert browser.message.startswith("Choose another password")
    browser.send("login", password="Wrong1Horse", newPassword=NEW)
    assert browser.message.startswith("The login failed")
    browser.send("login", password=password, newPassword=NEW)
    assert browser.path == "/account/"


def test_a_link_sets_a_password_and_opening_it_changes_nothing(
    server: LiveServer, root: LiveUser
) -> None:
    browser, user = Browser(server), server.user()
    path = link_of(server, root, user)
    for method in ("GET", "HEAD", "GET"):
        reply = server.request(method, path)
        assert reply.status == 200
        assert reply.headers["referrer-policy"] == "no-referrer"
        assert reply.headers["cache-control"] == "no-store"
    # A form of another site has no secret of this browser.
    assert server.request("POST", path, body=b"newPassword=" + NEW.encode()).status == 400
    browser.open(f"{path}?lang=zh")
    assert "设置密码" in browser.page.text
    browser.open(f"{path}?lang=en")
    action = path.removeprefix("/account/")
    browser.send(action, newPassword="weak")
    assert browser.message.startswith("Choose another password")
    browser.send(action, newPassword=NEW)
    assert browser.message == "The password is set. Log in with it."
    browser.log_in(user, NEW)
    assert browser.path == "/account/"
    browser = Browser(server)
    browser.open(path)
    browser.send(action, newPassword=PASSWORD)
    assert "It was already used, or has expired." in browser.page.text
