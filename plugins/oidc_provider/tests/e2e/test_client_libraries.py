"""Libraries of clients log users in: Authlib, and the certified openid-client and oauth4webapi."""

import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import pytest
from authlib.integrations.requests_client import OAuth2Session
from joserfc import jwt
from joserfc.jwk import KeySet
from tests.support.npm import install_packages

from strongroom.testing.browser import Browser
from strongroom.testing.server import LiveServer, LiveUser, live_server

REDIRECT_URI: Final = "https://wiki.example.com/callback"
RESOURCE: Final = "https://wiki.example.com/api"
LIBRARIES: Final = ("openid-client@6.8.9", "oauth4webapi@3.8.8")
VERIFIER: Final = "a-verifier-of-at-least-43-characters-for-pkce-s256"
_PATIENCE: Final = 60


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveServer]:
    folder = tmp_path_factory.mktemp("server")
    with live_server(folder, plugins=["login_pages", "oidc_provider"]) as server:
        yield server


@pytest.fixture(scope="module")
def user(server: LiveServer) -> LiveUser:
    return server.user()


@pytest.fixture(scope="module")
def browser(server: LiveServer, user: LiveUser) -> Browser:
    browser = Browser(server)
    browser.log_in(user)
    return browser


def register(server: LiveServer, **members: Any) -> dict[str, Any]:
    body = {"name": "Wiki", "redirectUris": [REDIRECT_URI], "trusted": True, "resources": [RESOURCE]}
    root = server.user(admin=True)
    created: dict[str, Any] = server.succeed(
        "POST", "/api/v1/clients", by=root, json_body={**body, **members}
    )
    return created


def visit(browser: Browser, url: str) -> str:
    """Open the URL of an authorization, and return where the browser is led to."""
    parts = urlsplit(url)
    return str(browser.open(f"{parts.path}?{parts.query}").headers["location"])


@pytest.mark.parametrize("method", ["client_secret_basic", "client_secret_post"])
def test_authlib_logs_a_user_in(
    server: LiveServer, browser: Browser, user: LiveUser, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    # Authlib refuses unencrypted servers, but for those of tests.
    monkeypatch.setenv("AUTHLIB_INSECURE_TRANSPORT", "1")
    registered = register(server)
    provider = server.request("GET", "/.well-known/openid-configuration").json()
    session = OAuth2Session(
        registered["id"],
        registered["secret"],
        scope="openid email offline_access",
        redirect_uri=REDIRECT_URI,
        code_challenge_method="S256",
        token_endpoint_auth_method=method,
    )
    url, state = session.create_authorization_url(
        provider["authorization_endpoint"], code_verifier=VERIFIER, nonce="the nonce"
    )
    returned = visit(browser, url)
    tokens = session.fetch_token(
        provider["token_endpoint"], authorization_response=returned, state=state, code_verifier=VERIFIER
    )
    keys = KeySet.import_key_set(server.request("GET", "/.well-known/jwks.json").json())
    claims = jwt.decode(tokens["id_token"], keys, algorithms=["RS256"]).claims
    assert (claims["iss"], claims["sub"], claims["nonce"]) == (provider["issuer"], user.id, "the nonce")
    assert session.get(provider["userinfo_endpoint"]).json()["email"] == user.email
    renewed = session.refresh_token(provider["token_endpoint"])
    assert renewed["access_token"] != tokens["access_token"]
    report = session.introspect_token(provider["introspection_endpoint"], token=renewed["access_token"])
    assert report.json()["active"] is True
    session.revoke_token(provider["revocation_endpoint"], token=renewed["access_token"])
    assert session.get(provider["userinfo_endpoint"]).status_code == 401


@pytest.fixture(scope="module", params=LIBRARIES)
def script(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The script next to its library, of which Node finds no other place."""
    folder = tmp_path_factory.mktemp("npm")
    install_packages(folder, request.param)
    name = request.param.partition("@")[0]
    return Path(shutil.copy(Path(__file__).with_name(f"{name}.mjs"), folder))


@pytest.mark.extended
@pytest.mark.parametrize("is_public", [True, False], ids=["public", "confidential"])
@pytest.mark.parametrize("resource", ["", RESOURCE], ids=["none", "resource"])
def test_a_certified_library_logs_a_user_in(
    server: LiveServer, browser: Browser, user: LiveUser, script: Path, is_public: bool, resource: str
) -> None:
    registered = register(server, public=is_public)
    arguments = [server.url, registered["id"], registered["secret"] or "", REDIRECT_URI, resource]
    with subprocess.Popen(
        [str(shutil.which("node")), str(script), *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        output, faults = process.communicate(f"{visit(browser, url)}\n" if url else "", _PATIENCE)
    assert process.returncode == 0, faults
    result = json.loads(output)
    assert result["claims"]["sub"] == user.id
    assert result["error"] == "invalid_grant"
    if not resource:
        assert result["user"]["email"] == user.email
    if not is_public:
        assert result["report"]["aud"] == (resource or registered["id"])
