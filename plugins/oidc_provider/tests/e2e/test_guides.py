"""The applications and the APIs of the guides about single sign-on and about protected APIs run."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import pytest
import requests
from authlib.integrations.requests_client import OAuth2Session
from playwright.sync_api import Browser as Chromium
from tests.support.browsers import needs_chromium
from tests.support.npm import install_packages
from tests.support.server import is_listening
from tests.support.waiting import wait_until

from strongroom.testing.browser import Browser
from strongroom.testing.server import PASSWORD, LiveServer, LiveUser, free_port, live_server

EXAMPLES: Final = Path(__file__).parents[4] / "examples"
CALLBACK: Final = "https://wiki.example.com/callback"
RESOURCE: Final = "https://wiki.example.com/api"
VERIFIER: Final = "a-verifier-of-at-least-43-characters-for-pkce-s256"

pytestmark = pytest.mark.extended


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveServer]:
    folder = tmp_path_factory.mktemp("server")
    with live_server(folder, plugins=["login_pages", "oidc_provider"]) as server:
        yield server


@pytest.fixture(scope="module")
def user(server: LiveServer) -> LiveUser:
    return server.user()


@pytest.fixture
def node(tmp_path: Path) -> Path:
    """The script next to its library."""
    install_packages(tmp_path, "openid-client@6.8.9")
    return Path(shutil.copy(EXAMPLES / "single-sign-on" / "app.mjs", tmp_path))


@contextmanager
def running(command: Sequence[str], port: int, **variables: str) -> Iterator[None]:
    """Run a program of a guide until the block ends."""
    # Authlib refuses unencrypted servers, but for those of tests.
    environment = {**os.environ, "AUTHLIB_INSECURE_TRANSPORT": "1", **variables}
    with subprocess.Popen(command, env=environment) as process:
        try:
            wait_until(lambda: process.poll() is not None or is_listening(port))
            assert process.poll() is None
            yield
        finally:
            process.terminate()


def flask(name: str, port: int) -> list[str]:
    path = str(EXAMPLES / name)
    return [sys.executable, "-m", "flask", "--app", path, "run", "--port", str(port)]


def register(server: LiveServer, **members: Any) -> dict[str, str]:
    """Register a client, and return what the programs of the guides read from their environment."""
    root = server.user(admin=True)
    body = {"name": "Wiki", "redirectUris": [CALLBACK], "trusted": True, **members}
    created = server.succeed("POST", "/api/v1/clients", by=root, json_body=body)
    return {
        "ISSUER": server.url,
        "CLIENT_ID": created["id"],
        "CLIENT_SECRET": created["secret"],
        "SECRET_KEY": "of the sessions of a test",
    }


@needs_chromium
@pytest.mark.parametrize("program", ["authlib", "openid-client"])
def test_an_application_logs_a_user_in(
    request: pytest.FixtureRequest, browser: Chromium, server: LiveServer, user: LiveUser, program: str
) -> None:
    port = free_port()
    url = f"http://localhost:{port}"
    variables = register(server, redirectUris=[f"{url}/callback"])
    command = flask("single-sign-on/app.py", port)
    if program == "openid-client":
        script = request.getfixturevalue("node")
        command = [str(shutil.which("node")), str(script)]
    with running(command, port, PORT=str(port), APP_URL=url, **variables):
        page = browser.new_page()
        page.goto(url)
        page.locator("input[name=username]").fill(user.email)
        page.locator("input[name=password]").fill(PASSWORD)
        page.locator("input[name=password]").press("Enter")
        page.wait_for_url(f"{url}/")
        shown = json.loads(page.locator("body").inner_text())
        page.close()
    assert (shown["sub"], shown["email"]) == (user.id, user.email)


class Application:
    """A client with the tokens of a user."""

    def __init__(self, server: LiveServer, variables: dict[str, str], user: LiveUser) -> None:
        self.session = OAuth2Session(
            variables["CLIENT_ID"],
            variables["CLIENT_SECRET"],
            redirect_uri=CALLBACK,
            code_challenge_method="S256",
        )
        self.server = server
        self.browser = Browser(server)
        self.browser.log_in(user)

    def fetch(self, scope: str, resource: str | None) -> Any:
        more = {} if resource is None else {"resource": resource}
        self.session.scope = scope
        url, state = self.session.create_authorization_url(
            f"{self.server.url}/oauth2/authorize", code_verifier=VERIFIER, **more
        )
        parts = urlsplit(url)
        returned = self.browser.request(f"{parts.path}?{parts.query}").headers["location"]
        return self.session.fetch_token(
            f"{self.server.url}/oauth2/token",
            authorization_response=returned,
            state=state,
            code_verifier=VERIFIER,
        )

    def revoke(self, token: str) -> None:
        self.session.revoke_token(f"{self.server.url}/oauth2/revoke", token=token)


@pytest.mark.parametrize("name", ["api", "introspecting_api"])
def test_an_api_accepts_its_tokens_alone(
    server: LiveServer, user: LiveUser, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv("AUTHLIB_INSECURE_TRANSPORT", "1")
    port = free_port()
    variables = register(server, resources=[RESOURCE], scopes=["openid", "pages:read", "pages:write"])
    application = Application(server, variables, user)

    def get(token: str) -> requests.Response:
        headers = {"Authorization": f"Bearer {token}"}
        return requests.get(f"http://127.0.0.1:{port}/api/pages", headers=headers, timeout=60)

    with running(flask(f"protected-api/{name}.py", port), port, **variables):
        tokens = application.fetch("openid pages:read", RESOURCE)
        answer = get(tokens["access_token"])
        assert answer.json() == {"reader": user.id, "client": variables["CLIENT_ID"]}
        assert get(application.fetch("pages:write", RESOURCE)["access_token"]).status_code == 403
        others = [
            tokens["id_token"],
            application.fetch("openid pages:read", None)["access_token"],
            user.token,
            f"{tokens['access_token'][:-8]}AAAAAAAA",
        ]
        assert [get(token).status_code for token in others] == [401] * len(others)
        application.revoke(tokens["access_token"])
        assert get(tokens["access_token"]).status_code == (401 if name == "introspecting_api" else 200)
        # The server itself refuses the tokens of another service.
        headers = {"Authorization": f"Bearer {tokens['access_token']}"}
        assert server.request("GET", "/users/me", headers=headers).status == 401
