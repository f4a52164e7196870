"""Logins to other applications by OpenID Connect, compared with a bare Flask route."""

import hashlib
import json
import re
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import cycle
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final
from urllib.parse import unquote, urlencode

from bench.client import EMAIL, PASSWORD
from bench.harness import Limit, Plan, Row, interleave
from bench.load import Load, build_request, compare, converse, generate
from bench.login import login_request
from bench.servers import HOST, PLUGINS, Server, bare_flask, strongroom
from strongroom.testing.browser import Browser
from strongroom.testing.server import LiveServer

CLIENTS: Final = 8
TARGET: Final = 100
"""Logins a second, of a company whose users all begin their work at once."""

_ENABLED: Final = (*PLUGINS, "login_pages", "oidc_provider")
_LIMIT: Final = '[plugins.oidc_provider]\nrequests_per_address = ["1000000/second"]\n'
_CALLBACK: Final = "https://wiki.example.com/callback"
_VERIFIER: Final = "a-verifier-of-at-least-43-characters-for-pkce-s256"
_CHALLENGE: Final = urlsafe_b64encode(hashlib.sha256(_VERIFIER.encode()).digest()).rstrip(b"=").decode()
_CODE: Final = re.compile(rb"\r\nlocation: [^\r]*[?&]code=([^&\r]+)", re.IGNORECASE)


class Client:
    """A trusted client with a secret."""

    def __init__(self, server: LiveServer) -> None:
        body = {"name": "Wiki", "redirectUris": [_CALLBACK], "trusted": True}
        root = server.user(admin=True)
        created = server.succeed("POST", "/api/v1/clients", by=root, json_body=body)
        self.id: str = created["id"]
        pair = b64encode(f"{self.id}:{created['secret']}".encode()).decode()
        self._headers = {
            "Authorization": f"Basic {pair}",
            "Content-Type": "application/x-www-form-urlencoded",
        }

    def post(self, path: str, **form: str) -> bytes:
        """Return a request with the authentication of the client."""
        return build_request("POST", path, self._headers, urlencode(form).encode())


class ProviderLogins:
    """A user with a session in a browser, who logs in to a client: two requests for each login."""

    def __init__(self, server: LiveServer, client: Client) -> None:
        browser = Browser(server)
        browser.log_in(server.user())
        cookies = "; ".join(f"{name}={value}" for name, value in browser.cookies.items())
        query = {
            "response_type": "code",
            "client_id": client.id,
            "redirect_uri": _CALLBACK,
            "scope": "openid email",
            "code_challenge": _CHALLENGE,
            "code_challenge_method": "S256",
        }
        path = f"/oauth2/authorize?{urlencode(query)}"
        self._client = client
        self._authorize = build_request("GET", path, {"Cookie": cookies})
        self.tokens: dict[str, Any] = {}
        """The tokens of the last login."""
        self.restart()

    def restart(self) -> None:
        """Begin with a new code, because the last one may have expired."""
        self._turns = cycle((False, True))
        self._request = self._authorize

    def request(self) -> bytes:
        return self._request

    def receive(self, head: bytes, body: bytes) -> None:
        if next(self._turns):
            self.tokens = json.loads(body)
            self._request = self._authorize
            return
        code = _CODE.search(head)
        if code is None:
            raise RuntimeError(f"no code: {head!r}")
        self._request = self._client.post(
            "/oauth2/token",
            grant_type="authorization_code",
            code=unquote(code[1].decode()),
            redirect_uri=_CALLBACK,
            code_verifier=_VERIFIER,
        )


class Refreshes:
    """A client that exchanges each refresh token for the next one."""

    def __init__(self, client: Client, tokens: dict[str, Any]) -> None:
        self._client = client
        self._token: str = tokens["refresh_token"]

    def request(self) -> bytes:
        return self._client.post("/oauth2/token", grant_type="refresh_token", refresh_token=self._token)

    def receive(self, head: bytes, body: bytes) -> None:  # noqa: ARG002  of the protocol
        self._token = json.loads(body)["refresh_token"]


def measure(plan: Plan) -> list[Row]:
    """Measure logins, new tokens and introspections a second, and what each costs the server."""
    with (
        TemporaryDirectory() as name,
        strongroom(Path(name), _LIMIT, plugins=_ENABLED) as server,
        bare_flask(Path(name)) as bare,
    ):
        server.create_user(EMAIL, PASSWORD)
        live = LiveServer(f"http://{HOST}:{server.port}", Path(name), server.config, Path(name))
        client = Client(live)
        users = [ProviderLogins(live, client) for _ in range(CLIENTS)]
        # Also gets the tokens that the other measurements need, on a busy machine after some rounds.
        while not all(user.tokens for user in users):
            _log_in(server, users, plan.seconds)
        refreshes = [Refreshes(client, user.tokens) for user in users]
        inspected = client.post("/oauth2/introspect", token=users[0].tokens["access_token"])
        busy, logins, tokens, reports, routes = interleave(
            plan.rounds,
            lambda: _log_in_among_others(server, users, plan.seconds),
            lambda: _log_in(server, users, plan.seconds),
            lambda: converse(server, refreshes, seconds=plan.seconds),
            partial(generate, server, inspected, clients=CLIENTS, seconds=plan.seconds),
            partial(
                generate, bare, build_request("GET", "/", {}), clients=CLIENTS, seconds=plan.seconds
            ),
        )
    others = {"bare Flask route": routes}
    return [
        _among_others(busy),
        *compare(f"login through the provider, {CLIENTS} clients", logins, others),
        *compare(f"token endpoint: refresh, {CLIENTS} clients", tokens, others),
        *compare(f"introspection, {CLIENTS} clients", reports, others),
    ]


def _among_others(loads: Sequence[Load]) -> Row:
    name = f"login through the provider, {CLIENTS} clients, while {CLIENTS} log in by password"
    return Row(name, "/s", [load.rate for load in loads], Limit("target", [TARGET] * len(loads)))


def _log_in(server: Server, users: Sequence[ProviderLogins], seconds: float) -> Load:
    for user in users:
        user.restart()
    load = converse(server, users, seconds=seconds)
    return Load(load.answers // 2, load.seconds, load.processor_seconds)


def _log_in_among_others(server: Server, users: Sequence[ProviderLogins], seconds: float) -> Load:
    with ThreadPoolExecutor(1) as pool:
        passwords = pool.submit(generate, server, login_request(), clients=CLIENTS, seconds=seconds)
        load = _log_in(server, users, seconds)
        passwords.result()
    return load
