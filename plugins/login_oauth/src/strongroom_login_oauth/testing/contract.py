"""The contract about logins by redirect on a live server."""

import base64
import hmac
import re
import struct
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from http import HTTPStatus
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

import pytest

from strongroom.testing.browser import Browser
from strongroom.testing.server import LiveServer, LiveUser, Reply
from strongroom_login_oauth.options import OAuthOptions
from strongroom_login_oauth.routes import callback_path
from strongroom_login_oauth.testing.harness import (
    MEMBER,
    OTHER,
    OUTSIDER,
    Harness,
    make_login,
    platform_server,
    query_parameters,
)
from strongroom_login_oauth.testing.rest_client import RestClient, get_answer

_AT_ONCE = 16
_ABROAD = "https://elsewhere.example"
_FRONT_END = "https://app.example.org"
_APP = "org.example.app:/login"


@contextmanager
def contract_server(
    folder: Path,
    harness: Harness,
    *,
    config: Mapping[str, Any] | None = None,
    port: int | None = None,
) -> Iterator[LiveServer]:
    """Run a server with the plugin, for a fixture ``server`` of the scope ``module``.

    Args:
        folder: an empty folder.
        config: further tables of the configuration.
        port: the port of the server; by default, a free one.
    """
    name = harness.method.name
    hands_over = issubclass(harness.method.options_type, OAuthOptions)
    options = {"return_origins": [_FRONT_END], "app_redirects": [_APP]} if hands_over else {}
    login = {
        "methods": ["password", name],
        name: {**options, **harness.options(lambda url: url)},
    }
    plugins = [*filter(None, [harness.plugin]), "factor_totp", "login_pages"]
    tables = {"login": login, **(config or {})}
    with platform_server(folder, harness, plugins=plugins, config=tables, port=port) as server:
        yield server


class RedirectLoginContract:
    """What all logins by redirect have in common.

    Requires the fixtures ``harness`` and ``server`` with the scope ``module``.
    """

    @pytest.fixture
    def client(self, server: LiveServer, harness: Harness) -> RestClient:
        return RestClient(server, harness.method)

    @pytest.fixture
    def begin_path(self, harness: Harness) -> str:
        return f"/api/v1/{harness.method.name}-authorizations/begin"

    @pytest.fixture
    def callback(self, harness: Harness) -> str:
        with closing(make_login(harness)) as login:
            (name,) = login.providers
        return callback_path(harness.method.name, name)

    def log_in(self, harness: Harness, client: RestClient, person: str = MEMBER) -> Reply:
        """Log a person in by the REST API."""
        redirect = harness.approve(client.begin()["url"], person)
        return client.finish(get_answer(harness.method, redirect))

    def get_user(self, reply: Reply) -> LiveUser:
        """Return the user of a login."""
        assert reply.status == HTTPStatus.OK, reply.text
        return LiveUser(reply.json()["user"]["id"], "", reply.json()["accessToken"])

    # Logins

    def test_a_member_logs_in_as_the_same_user_each_time(
        self, harness: Harness, client: RestClient
    ) -> None:
        users = {self.get_user(self.log_in(harness, client)).id for _ in range(2)}
        assert len(users) == 1
        assert self.get_user(self.log_in(harness, client, OTHER)).id not in users

    def test_an_outsider_is_refused(self, harness: Harness, client: RestClient) -> None:
        if not harness.has_outsiders:
            pytest.skip("the platform has no organisations")
        reply = self.log_in(harness, client, OUTSIDER)
        assert reply.status == HTTPStatus.FORBIDDEN, reply.text

    def test_a_code_counts_once(self, harness: Harness, client: RestClient) -> None:
        if harness.reuses_codes:
            pytest.skip("the platform accepts codes twice")
        answer = get_answer(harness.method, harness.approve(client.begin()["url"]))
        self.get_user(client.finish(answer))
        state = client.begin()["state"]
        assert client.finish({**answer, "state": state}).status == HTTPStatus.UNAUTHORIZED

    def test_a_made_up_code_is_refused(self, harness: Harness, client: RestClient) -> None:
        answer = get_answer(harness.method, harness.approve(client.begin()["url"]))
        reply = client.finish({**answer, "code": "made-up"})
        assert reply.status == HTTPStatus.UNAUTHORIZED
        assert str(reply.error).startswith(f"error.{client.name}-")

    @pytest.mark.parametrize("code", ["", "x" * 2049, "a\u0000b", 1, None, ["a"]], ids=repr)
    def test_a_code_that_no_platform_issues_is_invalid(self, client: RestClient, code: Any) -> None:
        state = client.begin()["state"]
        path = f"/api/v1/{client.name}-authorizations"
        assert client.post(path, {"code": code, "state": state}).status == HTTPStatus.BAD_REQUEST

    # States

    def test_a_state_of_another_browser_is_refused(
        self, harness: Harness, server: LiveServer, client: RestClient
    ) -> None:
        answer = get_answer(harness.method, harness.approve(client.begin()["url"]))
        other = RestClient(server, client.method)
        other.begin()
        assert other.finish(answer).error == "error.state-invalid"
        assert RestClient(server, client.method).finish(answer).error == "error.state-invalid"
        self.get_user(client.finish(answer))

    def test_a_state_counts_once(self, harness: Harness, client: RestClient) -> None:
        answer = get_answer(harness.method, harness.approve(client.begin()["url"]))
        self.get_user(client.finish(answer))
        again = get_answer(harness.method, harness.approve(client.begin()["url"]))
        assert client.finish({**again, "state": answer["state"]}).error == "error.state-invalid"

    def test_a_refused_code_uses_its_state_up(self, harness: Harness, client: RestClient) -> None:
        answer = get_answer(harness.method, harness.approve(client.begin()["url"]))
        client.finish({**answer, "code": "made-up"})
        assert client.finish(answer).error == "error.state-invalid"

    @pytest.mark.parametrize("state", ["made-up", "0", "login0", "browser0"])
    def test_an_unknown_state_is_refused(self, harness: Harness, client: RestClient, state: str) -> None:
        answer = get_answer(harness.method, harness.approve(client.begin()["url"]))
        assert client.finish({**answer, "state": state}).error == "error.state-invalid"

    def test_a_state_counts_for_its_purpose(self, harness: Harness, client: RestClient) -> None:
        client.by = self.get_user(self.log_in(harness, client))
        answer = get_answer(harness.method, harness.approve(client.begin("bind")["url"]))
        assert client.finish(answer).error == "error.state-invalid"
        answer = get_answer(harness.method, harness.approve(client.begin()["url"]))
        assert client.bind(answer).error == "error.state-invalid"

    def test_many_requests_at_once_log_in_once(self, harness: Harness, client: RestClient) -> None:
        answer = get_answer(harness.method, harness.approve(client.begin()["url"]))
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            statuses = list(pool.map(lambda _: client.finish(answer).status, range(_AT_ONCE)))
        assert sorted(statuses) == [HTTPStatus.OK, *[HTTPStatus.BAD_REQUEST] * (_AT_ONCE - 1)]

    # Requests

    def test_an_unknown_provider_is_refused(self, harness: Harness, client: RestClient) -> None:
        path = client.method.request_path()
        reply = client.post(path, {harness.method.selector: "made-up"})
        assert reply.error == f"error.{client.name}-{harness.method.selector}-unknown"

    def test_a_binding_requires_a_token(self, client: RestClient) -> None:
        path = client.method.request_path()
        assert client.post(path, {"purpose": "bind"}).status == HTTPStatus.UNAUTHORIZED

    def test_each_request_has_another_state_and_page(self, client: RestClient) -> None:
        first, second = client.begin(), client.begin()
        assert first["state"] != second["state"]
        assert first["url"] != second["url"]
        assert first["state"] in first["url"]

    # Bindings

    def test_a_user_binds_another_account(self, harness: Harness, client: RestClient) -> None:
        client.by = self.get_user(self.log_in(harness, client))
        former = self.get_user(self.log_in(harness, RestClient(client.server, client.method), OTHER))
        answer = get_answer(harness.method, harness.approve(client.begin("bind")["url"], OTHER))
        reply = client.bind(answer)
        # The account belongs to the other user.
        assert reply.error == "error.credential-conflict" or reply.status == HTTPStatus.CONFLICT, (
            reply.text
        )
        again = self.get_user(self.log_in(harness, RestClient(client.server, client.method), OTHER))
        assert again.id == former.id

    def test_a_state_of_another_user_binds_nothing(
        self, harness: Harness, server: LiveServer, client: RestClient
    ) -> None:
        client.by = server.user()
        answer = get_answer(harness.method, harness.approve(client.begin("bind")["url"]))
        client.by = server.user()
        assert client.bind(answer).error == "error.state-invalid"

    def test_a_binding_requires_the_proof_of_the_user(
        self, harness: Harness, server: LiveServer, client: RestClient
    ) -> None:
        client.by = server.user()
        answer = get_answer(harness.method, harness.approve(client.begin("bind")["url"]))
        assert client.bind(answer).status in (HTTPStatus.BAD_REQUEST, HTTPStatus.FORBIDDEN)

    # Browsers

    def test_a_button_logs_a_browser_in(
        self, harness: Harness, server: LiveServer, begin_path: str
    ) -> None:
        browser = Browser(server)
        assert begin_path in browser.open("/account/login").text
        self.come_back(browser, harness.approve(self.press(browser, begin_path)))
        assert browser.path == "/account/", browser.page.text

    def test_a_refusal_is_shown_by_the_login_page(
        self, harness: Harness, server: LiveServer, begin_path: str
    ) -> None:
        browser = Browser(server)
        self.come_back(browser, harness.refuse(self.press(browser, begin_path)))
        assert browser.path.startswith("/account/login")
        assert "You cancelled at " in browser.page.text

    def test_the_answer_counts_in_the_browser_that_has_begun(
        self, harness: Harness, server: LiveServer, begin_path: str
    ) -> None:
        victim, attacker = Browser(server), Browser(server)
        self.press(victim, begin_path)
        redirect = harness.approve(self.press(attacker, begin_path))
        self.come_back(victim, redirect)
        assert victim.page.error == "error.state-invalid"
        victim.open("/account/")
        assert victim.path.startswith("/account/login")

    def test_an_answer_counts_once(self, harness: Harness, server: LiveServer, begin_path: str) -> None:
        browser = Browser(server)
        redirect = harness.approve(self.press(browser, begin_path))
        self.come_back(browser, redirect)
        self.come_back(browser, redirect)
        assert browser.page.error == "error.state-invalid"

    def test_an_error_of_the_platform_is_not_shown(
        self, harness: Harness, server: LiveServer, begin_path: str, callback: str
    ) -> None:
        browser = Browser(server)
        state = query_parameters(harness.refuse(self.press(browser, begin_path)))["state"]
        said = {"error": "server_error", "error_description": "<b>call 555-0100</b>", "state": state}
        browser.open(f"{callback}?{urlencode(said)}")
        assert browser.path.startswith("/account/login")
        assert "555-0100" not in browser.page.text

    @pytest.mark.parametrize(
        "query",
        [
            "",
            "code=a",
            "state=",
            "code=a&code=b&state=c",
            "code=a&state=b&state=c",
            "state=" + "x" * 129,
            "state=a&code=" + "x" * 2049,
            "state=a&error=" + "x" * 2049,
            "state=a%00&code=b",
            "state=%ff&code=b",
        ],
        ids=lambda query: query[:24],
    )
    def test_a_made_up_answer_is_no_failure_of_the_server(
        self, server: LiveServer, callback: str, query: str
    ) -> None:
        reply = server.request("GET", f"{callback}?{query}")
        assert reply.status < HTTPStatus.INTERNAL_SERVER_ERROR
        assert "accessToken" not in reply.text

    def test_a_user_connects_an_account_on_the_pages(
        self, harness: Harness, server: LiveServer, begin_path: str
    ) -> None:
        browser = Browser(server)
        browser.log_in(server.user())
        url = self.press(browser, f"{begin_path}?purpose=bind")
        self.come_back(browser, harness.approve(url))
        assert browser.path.startswith("/account/connections/"), browser.page.text

    def test_a_second_factor_comes_before_the_session(
        self, harness: Harness, server: LiveServer, begin_path: str
    ) -> None:
        browser = Browser(server)
        self.come_back(browser, harness.approve(self.press(browser, begin_path), OTHER))
        browser.submit("/account/enrolments/totp")
        (secret,) = re.findall('id="totp-secret" data-text="([A-Z2-7]+)"', browser.page.text)
        browser.submit("/account/enrolments/totp/confirmation", totp=_totp(secret, -1))
        browser.submit("/account/logout")
        self.come_back(browser, harness.approve(self.press(browser, begin_path), OTHER))
        assert browser.path == "/account/challenge"
        browser.submit("/account/challenge", totp=_totp(secret))
        assert browser.path == "/account/"

    def test_no_log_has_a_secret(self, harness: Harness, server: LiveServer, client: RestClient) -> None:
        answer = get_answer(harness.method, harness.approve(client.begin()["url"]))
        token = self.get_user(client.finish(answer)).token
        log = server.log.read_text(errors="replace")
        secrets = (*harness.secrets, answer["code"], quote(answer["code"], safe=""), token)
        assert [secret for secret in secrets if secret in log] == []

    def press(self, browser: Browser, path: str) -> str:
        """Press a button; return the URL of the platform's page."""
        reply = browser.request(path)
        assert reply.status in range(300, 400), reply.text
        return reply.headers["location"]

    def come_back(self, browser: Browser, redirect: str) -> None:
        """Follow the redirect of the platform."""
        parts = urlsplit(redirect)
        browser.open(f"{parts.path}?{parts.query}")


class OAuthLoginContract(RedirectLoginContract):
    """The routes of this library: redirects to clients, and one redirect URI for each provider."""

    @pytest.mark.parametrize(
        "target",
        [
            _ABROAD,
            f"{_ABROAD}/page",
            "//elsewhere.example",
            "/\\elsewhere.example",
            f"{_FRONT_END}.elsewhere.example/",
            f"{_FRONT_END}@elsewhere.example/",
            f"{_FRONT_END}:444/",
            "http://app.example.org/",
            "https://user@app.example.org/",
            "javascript:alert(1)",
            "data:text/html,",
            "https:app.example.org",
            f"{_FRONT_END}/\r\nX: y",
            f"{_FRONT_END}/#fragment",
        ],
    )
    def test_a_login_returns_to_no_other_site(self, client: RestClient, target: str) -> None:
        path = client.method.request_path()
        for member in ("returnTo", "appRedirect"):
            assert client.post(path, {member: target}).error == "error.validation-failed"

    @pytest.mark.parametrize(
        ("member", "target"),
        [
            ("returnTo", "/account/"),
            ("returnTo", f"{_FRONT_END}/done?a=b"),
            ("appRedirect", _APP),
        ],
    )
    def test_the_answer_is_handed_over_to_the_client_that_has_begun(
        self, harness: Harness, server: LiveServer, client: RestClient, member: str, target: str
    ) -> None:
        begun = client.begin(**{member: target})
        redirect = urlsplit(harness.approve(begun["url"]))
        # The browser of a native app is not the client that has begun, so it has no cookie.
        reply = server.request("GET", f"{redirect.path}?{redirect.query}")
        assert reply.status == HTTPStatus.SEE_OTHER, reply.text
        assert reply.headers["location"].startswith(target)
        assert "no-store" in reply.headers["cache-control"]
        self.get_user(client.finish(get_answer(harness.method, reply.headers["location"])))

    def test_a_refusal_is_handed_over_as_an_error_of_this_server(
        self, harness: Harness, server: LiveServer, client: RestClient
    ) -> None:
        redirect = urlsplit(harness.refuse(client.begin(returnTo="/account/")["url"]))
        reply = server.request("GET", f"{redirect.path}?{redirect.query}")
        answer = query_parameters(reply.headers["location"])
        assert answer["error"] == f"error.{client.name}-access-denied"
        assert "code" not in answer

    @pytest.mark.parametrize("purpose", ["", "?purpose=bind"], ids=["login", "bind"])
    @pytest.mark.parametrize("other", [None, "another"], ids=["shared", "another"])
    def test_the_answer_at_another_redirect_uri_is_refused(
        self, harness: Harness, server: LiveServer, begin_path: str, other: str | None, purpose: str
    ) -> None:
        browser = Browser(server)
        if purpose:
            browser.log_in(server.user())
        query = urlsplit(harness.approve(self.press(browser, f"{begin_path}{purpose}"))).query
        browser.open(f"{callback_path(harness.method.name, other)}?{query}")
        assert browser.page.error == f"error.{harness.method.name}-answer-invalid"

    @pytest.mark.parametrize("other", [None, "another"], ids=["shared", "another"])
    def test_the_answer_at_another_redirect_uri_is_not_handed_over(
        self, harness: Harness, server: LiveServer, client: RestClient, other: str | None
    ) -> None:
        query = urlsplit(harness.approve(client.begin(returnTo="/account/")["url"])).query
        reply = server.request("GET", f"{callback_path(client.name, other)}?{query}")
        assert reply.error == f"error.{client.name}-answer-invalid"
        assert "code=" not in reply.headers.get("location", "")


def _totp(secret: str, step: int = 0) -> str:
    """Return the code of an authenticator app (RFC 6238)."""
    counter = struct.pack(">Q", int(time.time()) // 30 + step)
    digest = hmac.digest(base64.b32decode(secret), counter, "sha1")
    offset = digest[-1] & 15
    number = int.from_bytes(digest[offset : offset + 4]) & 0x7FFFFFFF
    return f"{number % 10**6:06}"
