"""The session of the pages: one for all plugins, which ends with its login."""

import io
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from pyotp import TOTP
from tests.support.api import PASSWORD, Answer, Api, Person, claims_of, error_code
from tests.support.config import Table, write_api_config
from tests.support.counted_body import CountedBody
from tests.support.databases import on_sqlite
from tests.support.session_plugin import install_desk
from tests.support.totp import secret_of

from strongroom.foundation.database.upgrade import upgrade
from strongroom.foundation.secret_keys import SecretKeys
from strongroom.plugin_api.web import BODY_BYTES
from strongroom.testing.clock import ManualClock
from strongroom_factor_totp import plugin as factor_totp
from strongroom_login_pages.front_ends.codes import challenge_of

FRONT_END = "https://app.example.com/callback"
PLUGINS = {
    "enabled": ["storage_local", "factor_totp", "login_pages", "desk"],
    "login_pages": {"return_urls": [FRONT_END]},
}
CONFIG = {"plugins": PLUGINS, "login": {"methods": ["password", "badge"]}}
COOKIE = "__Host-strongroom-session"

pytestmark = [on_sqlite, pytest.mark.config(CONFIG)]


@pytest.fixture(autouse=True)
def time_of_the_test(clock: ManualClock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(factor_totp, "time", SimpleNamespace(time=lambda: clock.now() / 1000))


@pytest.fixture
def config(
    tmp_path: Path, database_url: str, config_changes: Table, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Path]:
    monkeypatch.syspath_prepend(tmp_path)
    install_desk(tmp_path)
    yield write_api_config(tmp_path, database_url, config_changes)
    for name in [name for name in sys.modules if name.startswith("acme_")]:
        del sys.modules[name]


class Browser:
    """A browser without scripts, on the application in this process."""

    def __init__(self, api: Api) -> None:
        self._client = api.app.test_client()
        self._root = api.container.settings.public_root
        self.page: Answer

    def open(self, path: str, form: dict[str, str] | None = None, **headers: str) -> Answer:
        """Open a page, or send a form to it."""
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        options: dict[str, Any] = {"base_url": self._root, "headers": sent}
        if form is None:
            self.page = Answer(self._client.get(path, **options))
        else:
            self.page = Answer(self._client.post(path, data=form, **options))
        return self.page

    def send(
        self,
        path: str,
        *,
        header: str = "",
        query: str = "",
        form: str = "",
        multipart: str = "",
        site: str = "same-origin",
    ) -> Answer:
        """Send the note ``note`` with the secret in some places."""
        headers = {"Sec-Fetch-Site": site, **({"X-CSRF": header} if header else {})}
        fields: dict[str, Any] = {
            "note": "note",
            **({"csrf": form or multipart} if form or multipart else {}),
        }
        if multipart:
            fields["file"] = (io.BytesIO(b"x"), "sent.txt")
        target = f"{path}?{urlencode({'csrf': query})}" if query else path
        reply = self._client.post(target, data=fields, base_url=self._root, headers=headers)
        return Answer(reply)

    def send_environ(self, path: str, environ: dict[str, Any]) -> Answer:
        """Send a request with variables of WSGI, such as the stream of its body."""
        return Answer(self._client.post(path, base_url=self._root, environ_overrides=environ))

    def follow(self) -> Answer:
        """Follow redirects to pages of the server."""
        while (target := self.page.headers.get("Location", "")).startswith("/"):
            self.open(target)
        return self.page

    def log_in(self, person: Person, path: str = "/account/login") -> Answer:
        """Log in by the form of the login page."""
        self.open(path)
        form = {"csrf": self.secret, "username": person.email, "password": PASSWORD}
        return self.open("/account/login", form)

    def badge(self, badge: str, button: str = "/api/v1/desk/begin", **query: str) -> Answer:
        """Log in by a badge, as the provider that the browser was sent to confirms it."""
        door = self.open(f"{button}?{urlencode(query)}").headers["Location"]
        (state,) = parse_qs(urlsplit(door).query)["state"]
        return self.open(f"/api/v1/desk/callback?{urlencode({'state': state, 'badge': badge})}")

    @property
    def secret(self) -> str:
        """The secret in the forms of the page."""
        return self.field("csrf")

    def field(self, name: str) -> str:
        """Return the first value of a hidden field of the page."""
        match = re.search(rf'name="{name}" value="([^"]+)"', self.page.text)
        assert match is not None, self.page.text
        return match[1]

    @property
    def cookie(self) -> str | None:
        """The value of the cookie."""
        cookie = self._client.get_cookie(COOKIE, urlsplit(self._root).hostname or "")
        return cookie.value if cookie else None

    def replace_cookie(self, value: str) -> None:
        """Replace the value of the cookie."""
        self._client.set_cookie(COOKIE, value, domain=urlsplit(self._root).hostname or "", secure=True)


@pytest.fixture
def browser(api: Api) -> Browser:
    return Browser(api)


@pytest.fixture
def alice(api: Api) -> Person:
    return api.person()


class TestSession:
    def test_pages_of_all_plugins_share_it(self, api: Api, browser: Browser, alice: Person) -> None:
        api.tenant(alice)
        browser.log_in(alice)
        page = browser.open("/desk/").json
        assert {**page, "csrf": ""} == {
            "id": alice.id,
            "csrf": "",
            "time": api.clock.now(),
            "caller": alice.id,
            "tenants": 1,
        }
        assert browser.open("/api/v1/desk").json["id"] == alice.id
        assert browser.send("/account/logout", form=page["csrf"]).status_code == 303

    def test_a_page_without_it_leads_to_the_login_and_back(
        self, browser: Browser, alice: Person
    ) -> None:
        login = browser.open("/desk/?a=1%262").headers["Location"]
        assert login == "/account/login?resume=%2Fdesk%2F%3Fa%3D1%25262"
        assert browser.log_in(alice, login).headers["Location"] == "/desk/?a=1%262"
        assert browser.follow().json["id"] == alice.id

    def test_a_form_leads_to_the_login_alone(self, browser: Browser) -> None:
        answer = browser.open("/desk/", {})
        assert (answer.status_code, answer.headers["Location"]) == (303, "/account/login")

    def test_a_script_gets_an_error(self, browser: Browser) -> None:
        answer = browser.open("/desk/", Sec_Fetch_Mode="cors")
        assert (answer.status_code, error_code(answer)) == (401, "error.token-required")

    def test_a_page_may_do_without(self, browser: Browser, alice: Person) -> None:
        assert browser.open("/desk/perhaps").json == {"id": None, "caller": None}
        assert browser.cookie is None
        browser.log_in(alice)
        assert browser.open("/desk/perhaps").json == {"id": alice.id, "caller": alice.id}

    def test_it_lasts_as_long_as_a_login_that_is_refreshed(
        self, api: Api, browser: Browser, alice: Person
    ) -> None:
        tokens = api.container.settings.tokens
        browser.log_in(alice)
        for _ in range(3):
            api.clock.advance(tokens.refresh_lifetime_seconds * 1000 - 1000)
            assert browser.open("/desk/").status_code == 200
        api.clock.advance(tokens.refresh_lifetime_seconds * 1000 + 1000)
        assert browser.open("/desk/").status_code == 303
        assert browser.open("/desk/perhaps").json["id"] is None

    def test_it_continues_after_the_access_token_has_expired(
        self, api: Api, browser: Browser, alice: Person
    ) -> None:
        browser.log_in(alice)
        browser.open("/account/")
        secret = browser.secret
        api.clock.advance(api.container.settings.tokens.lifetime_seconds * 1000)
        assert browser.open("/account/").status_code == 200
        assert browser.send("/account/logout", form=secret).status_code == 303

    def test_it_ends_at_once_with_its_login(self, api: Api, browser: Browser, alice: Person) -> None:
        # A suspension also ends what plugins keep of the user, in their tables.
        upgrade(api.container.database.engine, api.container.selection.plugins.tables)
        admin = api.person(admin=True)
        ends = [
            ("DELETE", "/users/me/authorizations", alice),
            ("POST", f"/users/{alice.id}/suspension", admin),
        ]
        for method, path, by in ends:
            browser.log_in(alice)
            assert browser.open("/desk/").status_code == 200
            assert api.request(method, path, by=by).status_code < 300
            answer = browser.open("/desk/perhaps")
            assert answer.json == {"id": None, "caller": None}
            assert browser.open("/desk/").headers["Location"].startswith("/account/login")

    def test_a_logout_revokes_the_login(self, api: Api, browser: Browser, alice: Person) -> None:
        browser.log_in(alice)
        stolen = browser.cookie
        assert stolen is not None
        browser.open("/desk/end")
        assert browser.open("/desk/").status_code == 303
        browser.replace_cookie(stolen)
        assert browser.open("/desk/").status_code == 303

    def test_a_login_ends_the_one_before(self, api: Api, browser: Browser, alice: Person) -> None:
        browser.log_in(alice)
        before = browser.cookie
        assert before is not None
        browser.open("/account/login")
        browser.log_in(api.person())
        browser.replace_cookie(before)
        assert browser.open("/desk/").status_code == 303

    def test_the_rest_api_ignores_it(self, browser: Browser, alice: Person) -> None:
        browser.log_in(alice)
        assert error_code(browser.open("/users/me")) == "error.token-required"
        assert error_code(browser.open(f"/users/{alice.id}")) == "error.token-required"


class TestDemands:
    """A page may demand when and how strongly the login was proven."""

    def test_the_login_page_has_the_hint(self, browser: Browser) -> None:
        path = browser.open("/desk/demanding?hint=a%26b%40example.com").headers["Location"]
        assert parse_qs(urlsplit(path).query)["loginHint"] == ["a&b@example.com"]
        assert 'value="a&amp;b@example.com"' in browser.open(path).text

    def test_a_session_has_the_id_of_its_login(self, api: Api, browser: Browser, alice: Person) -> None:
        browser.log_in(alice)
        shown = browser.open("/desk/demanding").json
        logins = api.get("/users/me/authorizations", by=alice).json["data"]
        assert shown == {"login": logins[0]["id"], "acr": "urn:strongroom:single"}

    def test_an_old_proof_leads_to_a_fresh_one_and_back(
        self, api: Api, browser: Browser, alice: Person
    ) -> None:
        browser.log_in(alice)
        assert browser.open(f"/desk/demanding?since={api.clock.now()}").status_code == 200
        api.clock.advance(1)
        page = f"/desk/demanding?since={api.clock.now()}"
        location = browser.open(page).headers["Location"]
        assert location.startswith("/account/step-up?resume=%2Fdesk%2Fdemanding%3Fsince%3D")
        browser.open(location)
        proven = browser.open("/account/step-up", {"csrf": browser.secret, "password": PASSWORD})
        assert proven.headers["Location"] == page
        assert browser.open(page).status_code == 200

    def test_a_weak_proof_of_a_moment_ago_is_an_error(
        self, api: Api, browser: Browser, alice: Person
    ) -> None:
        browser.log_in(alice)
        page = "/desk/demanding?acr=urn:strongroom:mfa"
        answer = browser.open(page)
        assert (answer.status_code, error_code(answer)) == (401, "error.step-up-required")
        api.clock.advance(60_000)
        assert browser.open(page).headers["Location"].startswith("/account/step-up?")

    def test_a_script_gets_an_error(self, api: Api, browser: Browser, alice: Person) -> None:
        browser.log_in(alice)
        page = f"/desk/demanding?since={api.clock.now() + 1}"
        answer = browser.open(page, Sec_Fetch_Mode="cors")
        assert error_code(answer) == "error.step-up-required"

    def test_a_user_without_a_password_proves_by_another_login(self, api: Api, browser: Browser) -> None:
        browser.badge("badge-1")
        api.clock.advance(1)
        location = browser.open(f"/desk/demanding?since={api.clock.now()}").headers["Location"]
        assert browser.open(location).headers["Location"] == "/account/login"
        answer = browser.badge("badge-1")
        assert answer.headers["Location"].startswith("/desk/demanding?since=")
        assert browser.follow().status_code == 200


class TestCookie:
    def test_it_is_for_this_server_alone(self, browser: Browser) -> None:
        (cookie,) = browser.open("/account/login").headers.getlist("Set-Cookie")
        parts = cookie.split("; ")
        assert parts[0].startswith(f"{COOKIE}=")
        assert sorted(parts[1:]) == ["HttpOnly", "Path=/", "SameSite=Lax", "Secure"]

    def test_one_of_before_the_login_is_not_logged_in(self, browser: Browser, alice: Person) -> None:
        browser.open("/account/login")
        planted, secret = browser.cookie, browser.secret
        assert planted is not None
        browser.log_in(alice)
        csrf = browser.open("/desk/").json["csrf"]
        assert csrf != secret
        browser.replace_cookie(planted)
        assert browser.open("/desk/").status_code == 303

    @pytest.mark.parametrize(
        "content", ['{"csrf": "a", "authorization_id": "%s"}', "[]", '{"other": 1}', "{"]
    )
    def test_one_of_another_installation_is_none(
        self, api: Api, browser: Browser, alice: Person, content: str
    ) -> None:
        content = content.replace("%s", "0" * 32)
        other = SecretKeys("x" * 64).seal("browser-session", content)
        own = api.container.base.keys.seal("browser-session", content)
        for value in (other, own, "x", "a.b.c.d.e"):
            browser.replace_cookie(value)
            assert browser.open("/desk/perhaps").json["id"] is None

    def test_no_cache_stores_a_page_and_no_site_frames_it(self, browser: Browser, alice: Person) -> None:
        browser.log_in(alice)
        for path in ("/desk/", "/desk/perhaps", "/api/v1/desk", "/account/", "/account/login"):
            headers = browser.open(path).headers
            assert headers["Cache-Control"] == "no-store"
            assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]

    def test_plugins_store_values_of_their_own_until_the_login(
        self, browser: Browser, alice: Person
    ) -> None:
        assert browser.open("/desk/store/100").status_code == 200
        assert browser.open("/desk/values").json == {"text": "x" * 100}
        assert browser.open("/desk/store/4000").status_code == 500
        assert browser.open("/desk/values").json == {"text": "x" * 100}
        browser.log_in(alice)
        assert browser.open("/desk/values").json == {}


class TestForms:
    def test_a_form_needs_the_secret_of_its_session(
        self, api: Api, browser: Browser, alice: Person
    ) -> None:
        browser.log_in(alice)
        secret = browser.open("/desk/").json["csrf"]
        other = Browser(api)
        other.log_in(api.person())
        before = browser.cookie
        for form in ({}, {"csrf": ""}, {"csrf": "\u00e4"}, {"csrf": other.open("/desk/").json["csrf"]}):
            answer = browser.open("/desk/", form)
            assert (answer.status_code, error_code(answer)) == (400, "error.form-refused")
        assert browser.cookie == before
        assert browser.open("/desk/", {"csrf": secret}).text == alice.id

    def test_the_secret_is_read_wherever_a_request_has_it(self, browser: Browser, alice: Person) -> None:
        browser.log_in(alice)
        secret = browser.open("/desk/").json["csrf"]
        for path in ("/desk/", "/plain-desk/", "/api/v1/desk"):
            for places in ({place: secret} for place in ("header", "query", "form", "multipart")):
                assert browser.send(path, **places).text == f"{alice.id}note", (path, places)
                wrong = dict.fromkeys(places, secret[:-1])
                assert error_code(browser.send(path, **wrong)) == "error.form-refused", (path, places)
                other_site = browser.send(path, site="cross-site", **places)
                assert error_code(other_site) == "error.form-refused", (path, places)
            # The first one counts, so a wrong one is not repaired by a field.
            both = browser.send(path, header="x", form=secret)
            assert error_code(both) == "error.form-refused", path

    def test_no_more_than_a_form_is_read_before_the_secret(
        self, browser: Browser, alice: Person
    ) -> None:
        browser.log_in(alice)
        for path in ("/desk/", "/plain-desk/", "/api/v1/desk"):
            for media_type in ("application/x-www-form-urlencoded", "multipart/form-data; boundary=x"):
                body = CountedBody(b"a" * 10 * BODY_BYTES)
                sent = {"wsgi.input": body, "wsgi.input_terminated": True, "CONTENT_TYPE": media_type}
                assert browser.send_environ(path, sent).status_code in (400, 413), path
                assert body.received <= BODY_BYTES + 1, path

    @pytest.mark.parametrize("site", ["cross-site", "same-site", "none"])
    def test_a_form_of_another_site_is_refused(self, browser: Browser, alice: Person, site: str) -> None:
        browser.log_in(alice)
        form = {"csrf": browser.open("/desk/").json["csrf"]}
        assert error_code(browser.open("/desk/", form, Sec_Fetch_Site=site)) == "error.form-refused"
        assert browser.open("/desk/", form, Sec_Fetch_Site="same-origin").text == alice.id

    def test_a_forged_form_does_not_replace_the_cookie(self, browser: Browser) -> None:
        # Browsers send no cookie with a form of another site, but would store that of the response.
        answer = browser.open("/account/logout", {"csrf": "x"}, Sec_Fetch_Site="cross-site")
        assert (answer.status_code, answer.headers.getlist("Set-Cookie")) == (400, [])


class TestFinishedLogin:
    """A login by another method, whose provider has redirected the browser back."""

    def test_it_begins_the_session(self, browser: Browser) -> None:
        assert browser.badge("7").headers["Location"] == "/account/"
        assert browser.follow().status_code == 200
        page = browser.open("/desk/").json
        assert page["id"] == page["caller"]

    def test_it_leads_to_the_page_that_needs_it(self, browser: Browser) -> None:
        browser.open("/desk/?a=1")
        browser.follow()
        assert browser.badge("7").headers["Location"] == "/desk/?a=1"
        assert browser.badge("7", resume="/desk/?b=2").headers["Location"] == "/desk/?b=2"

    @pytest.mark.parametrize(
        "resume",
        [
            "//evil.example.com",
            "https://evil.example.com",
            "/\\evil.example.com",
            "evil",
            "/\n/evil",
            "/ü",
        ],
    )
    def test_it_leads_to_no_other_site(self, browser: Browser, resume: str) -> None:
        assert browser.badge("7", resume=resume).headers["Location"] == "/account/"
        browser.open("/desk/end")
        browser.open(f"/account/login?{urlencode({'resume': resume})}")
        assert browser.badge("7").headers["Location"] == "/account/"

    def test_the_second_factor_and_the_front_end_come_before_the_session(
        self, api: Api, browser: Browser
    ) -> None:
        upgrade(api.container.database.engine, api.container.selection.plugins.tables)
        browser.badge("7")
        browser.follow()
        page = browser.open("/account/enrolments/totp", {"csrf": browser.secret}).text
        app, fields = TOTP(secret_of(page)), {"id": browser.field("id")}
        now = api.clock.now() // 1000
        form = {**fields, "csrf": browser.secret, "totp": app.at(now - 30)}
        assert browser.open("/account/enrolments/totp/confirmation", form).status_code == 303
        browser.open("/desk/end")

        query = {"returnUrl": FRONT_END, "state": "s", "codeChallenge": challenge_of("v" * 43)}
        page = browser.open(f"/account/login?{urlencode(query)}").text
        (button,) = re.findall(r'href="(/api/v1/desk/[^"]+)"', page)
        assert browser.badge("7", button).headers["Location"] == "/account/challenge"
        assert browser.open("/desk/").status_code == 303
        browser.open("/account/challenge")
        browser.open("/account/challenge", {"csrf": browser.secret, "totp": app.at(now)})
        target = urlsplit(browser.page.headers["Location"])
        assert target._replace(query="").geturl() == FRONT_END
        given = parse_qs(target.query)
        assert given["state"] == ["s"]
        answer = api.post("/api/v1/login-codes", {"code": given["code"][0], "codeVerifier": "v" * 43})
        assert claims_of(answer.json["accessToken"])["amr"] == ["otp", "mfa"]
        # The front end has the login, and the browser none.
        assert browser.open("/desk/").status_code == 303

    def test_a_refusal_is_shown_by_the_login_page(self, browser: Browser) -> None:
        for badge, text in (
            ("unknown", "The login failed."),
            ("lost", "This badge was reported as lost."),
        ):
            assert browser.badge(badge).headers["Location"] == "/account/login"
            assert re.search(rf'<p role="alert"[^>]*>{text}', browser.follow().text)
            assert 'role="alert"' not in browser.open("/account/login").text
        assert browser.open("/desk/").status_code == 303

    def test_a_state_of_another_browser_is_refused(self, api: Api, browser: Browser) -> None:
        door = browser.open("/api/v1/desk/begin").headers["Location"]
        victim = Browser(api)
        victim.open("/account/login")
        query = {"state": parse_qs(urlsplit(door).query)["state"][0], "badge": "7"}
        answer = victim.open(f"/api/v1/desk/callback?{urlencode(query)}")
        assert (answer.status_code, error_code(answer)) == (400, "error.state-invalid")
        assert victim.open("/desk/").status_code == 303

    def test_the_audit_log_names_its_method(self, api: Api, browser: Browser) -> None:
        browser.badge("7")
        audited = api.get("/audit-events?action=login", by=api.person(admin=True)).json["data"]
        assert "badge" in [record["details"].get("method") for record in audited]


@pytest.mark.config({**CONFIG, "second_factors": {"required_for": ["all"], "grace_days": 0}})
def test_a_required_factor_is_enrolled_before_the_session(browser: Browser) -> None:
    browser.open("/desk/")
    browser.follow()
    assert browser.badge("7").headers["Location"] == "/account/enrolment"
    assert browser.open("/desk/").status_code == 303


@pytest.mark.config({**CONFIG, "plugins": {"enabled": ["storage_local", "desk"]}})
def test_a_server_without_login_pages_says_so(browser: Browser) -> None:
    assert error_code(browser.open("/desk/")) == "error.token-required"
    answer = browser.badge("7")
    assert (answer.status_code, error_code(answer)) == (501, "error.not-implemented")
    assert "No plugin has login pages" in answer.json["error"]["message"]
