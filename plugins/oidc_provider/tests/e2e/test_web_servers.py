"""Web servers log users in, in Chromium, by the configurations of the guide about single sign-on."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pytest
from playwright.sync_api import Browser, Page, expect
from tests.support import gates
from tests.support.browsers import needs_chromium
from tests.support.waiting import wait_until

from strongroom.testing.server import PASSWORD, LiveServer, LiveUser, free_port, live_server

ISSUER: Final = "https://id.example.com"
SITE: Final = "https://wiki.example.com"
APP: Final = "127.0.0.1:9000"
GATE: Final = "127.0.0.1:8081"
PORT: Final = free_port()
"""The port of the application, which the server may send logout tokens to."""

pytestmark = [needs_chromium, pytest.mark.extended]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveServer]:
    folder = tmp_path_factory.mktemp("server")
    options = {"allow_hosts": [f"{gates.HOST}:{PORT}"], "allow_http": True, "timeout_seconds": 30}
    config = {"plugins": {"oidc_provider": options}}
    with live_server(folder, plugins=["login_pages", "oidc_provider"], config=config) as server:
        yield server


@pytest.fixture(scope="module")
def user(server: LiveServer) -> LiveUser:
    return server.user()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    context = browser.new_context(locale="en-GB")
    yield context.new_page()
    context.close()


def get_replaced(server: LiveServer, site: str, callback: str) -> dict[str, str]:
    """Register a client, and return what a configuration names instead of the guide's names."""
    body = {
        "name": "Wiki",
        "redirectUris": [f"{site}{callback}"],
        "postLogoutRedirectUris": [f"{site}/goodbye"],
        "backchannelLogoutUri": f"{site}{callback}?logout=backchannel",
    }
    root = server.user(admin=True)
    created = server.succeed("POST", "/api/v1/clients", by=root, json_body=body)
    return {
        ISSUER: server.url,
        SITE: site,
        "CLIENT-ID": created["id"],
        "CLIENT-SECRET": created["secret"],
    }


def log_in(page: Page, user: LiveUser, decision: str = "Allow") -> None:
    """Log in on the page that the application has led to, and allow or refuse the application."""
    page.locator("input[name=username]").fill(user.email)
    page.locator("input[name=password]").fill(PASSWORD)
    page.locator("input[name=password]").press("Enter")
    page.get_by_role("button", name=decision).click()


def read_request(page: Page, url: str) -> Any:
    """Wait for a page of the application, and return the request that it has received."""
    page.wait_for_url(url)
    return json.loads(page.locator("body").inner_text())


@pytest.fixture
def site(server: LiveServer, tmp_path: Path) -> Iterator[str]:
    """The URL of an application behind Apache with mod_auth_openidc."""
    url = f"http://{gates.HOST}:{PORT}"
    replaced = get_replaced(server, url, "/oidc/callback")
    with gates.reflecting() as app:
        replaced[APP] = f"127.0.0.1:{app}"
        with gates.apache(tmp_path, PORT, "apache.conf", replaced):
            yield url


def test_mod_auth_openidc_logs_a_user_in_and_out(site: str, page: Page, user: LiveUser) -> None:
    page.set_extra_http_headers({"X-User": "forged"})
    page.goto(f"{site}/pages/1?a=b&c=d")
    log_in(page, user)
    request = read_request(page, f"{site}/pages/1?a=b&c=d")
    assert request["path"] == "/pages/1?a=b&c=d"
    assert request["headers"]["x-user"] == user.id
    assert request["headers"]["x-email"] == user.email
    # The ID token in the request confirms the logout.
    page.goto(f"{site}/oidc/callback?logout={site}/goodbye")
    assert read_request(page, f"{site}/goodbye*")["headers"].get("x-user", "") != user.id
    page.goto(site)
    expect(page.locator("input[name=password]")).to_be_visible()


def test_a_logout_at_the_server_ends_the_session_of_mod_auth_openidc(
    site: str, page: Page, server: LiveServer
) -> None:
    user = server.user()
    page.goto(site)
    log_in(page, user)
    read_request(page, f"{site}/")
    headers = {"X-Requested-With": "XMLHttpRequest"}
    assert page.request.get(site, headers=headers).status == 200
    reply = server.request("DELETE", "/users/me/authorizations", by=user)
    assert reply.status in (200, 204), reply.text
    wait_until(lambda: page.request.get(site, headers=headers).status == 401)


def test_a_user_who_refuses_is_not_logged_in(site: str, page: Page, server: LiveServer) -> None:
    page.goto(site)
    log_in(page, server.user(), "Cancel")
    page.wait_for_url(f"{site}/**")
    # The module reads the error as a login that begins here, because it does not know RFC 9207.
    expect(page.get_by_text("Error:")).to_be_visible()


@contextmanager
def nginx_before(folder: Path, url: str, port: int, replaced: dict[str, str]) -> Iterator[None]:
    with gates.nginx(folder, port, {name: replaced[name] for name in (APP, GATE)}):
        yield


@contextmanager
def caddy_before(folder: Path, url: str, port: int, replaced: dict[str, str]) -> Iterator[None]:
    names = {name: replaced[name] for name in (APP, GATE)}
    with gates.caddy(folder, port, {**names, SITE: url}):
        yield


@pytest.mark.parametrize("front", [nginx_before, caddy_before], ids=["nginx", "caddy"])
def test_a_proxy_asks_a_gate_who_the_user_is(
    front: Any, server: LiveServer, tmp_path: Path, page: Page, user: LiveUser
) -> None:
    gate, url = free_port(), f"http://{gates.HOST}:{PORT}"
    replaced = get_replaced(server, url, "/gate/callback")
    with gates.reflecting() as app:
        replaced |= {APP: f"127.0.0.1:{app}", GATE: f"127.0.0.1:{gate}"}
        own = {name: value for name, value in replaced.items() if name != APP}
        with (
            gates.apache(tmp_path, gate, "gate.conf", own),
            front(tmp_path, url, PORT, replaced),
        ):
            page.set_extra_http_headers({"X-User": "forged", "X-Email": "forged"})
            page.goto(f"{url}/pages/1?a=b&c=d")
            log_in(page, user)
            request = read_request(page, f"{url}/pages/1?a=b&c=d")
            assert request["path"] == "/pages/1?a=b&c=d"
            assert request["headers"]["x-user"] == user.id
            assert request["headers"]["x-email"] == user.email
            # Scripts get an error instead of a login page.
            page.context.clear_cookies()
            headers = {"X-Requested-With": "XMLHttpRequest"}
            assert page.request.get(f"{url}/api", headers=headers).status == 401
