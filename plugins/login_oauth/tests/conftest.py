"""A simulated provider, and the plugin of the tests for it."""

import base64
import hashlib
import json
import secrets
import sys
import threading
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import util
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote_plus, urlencode, urlsplit

import pytest

from strongroom_login_oauth.testing import MEMBER, OUTSIDER, Harness

PLUGIN = Path(__file__).parent / "login_acme.py"
CLIENT_ID, SECRET = "strongroom", "planted secret: with+signs"


def _load() -> Any:
    spec = util.spec_from_file_location("login_acme", PLUGIN)
    assert spec
    assert spec.loader
    module = util.module_from_spec(spec)
    sys.modules["login_acme"] = module
    spec.loader.exec_module(module)
    return module


plugin = _load()


class Acme(ThreadingHTTPServer):
    """An OAuth 2.0 server with PKCE. A code counts once, for one redirect URI and challenge."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server_port}"
        self.codes: dict[str, dict[str, str]] = {}
        self.tokens: dict[str, str] = {}
        self.left: set[str] = set()

    def approve(self, url: str, person: str) -> str:
        query = dict(parse_qsl(urlsplit(url).query))
        assert query["response_type"] == "code"
        assert query["client_id"] == CLIENT_ID
        assert query["code_challenge_method"] == "S256"
        code = secrets.token_urlsafe(16)
        self.codes[code] = {**query, "person": person}
        return f"{query['redirect_uri']}?{urlencode({'code': code, 'state': query['state']})}"

    def redeem(self, authorization: str, form: Mapping[str, str]) -> tuple[int, Any]:
        pair = base64.b64decode(authorization.removeprefix("Basic ")).decode()
        if [unquote_plus(part) for part in pair.split(":")] != [CLIENT_ID, SECRET]:
            return 401, {"error": "invalid_client"}
        grant = self.codes.pop(form.get("code", ""), None)
        verifier = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
        challenge = base64.urlsafe_b64encode(verifier).rstrip(b"=").decode()
        if grant is None or (grant["redirect_uri"], grant["code_challenge"]) != (
            form.get("redirect_uri"),
            challenge,
        ):
            return 400, {"error": "invalid_grant", "error_description": "<b>hush</b>"}
        token = secrets.token_urlsafe(16)
        self.tokens[token] = grant["person"]
        return 200, {"access_token": token, "token_type": "Bearer", "expires_in": 3600}

    def person(self, authorization: str) -> tuple[int, Any]:
        person = self.tokens.get(authorization.removeprefix("Bearer "))
        if person is None:
            return 401, {"error": "invalid_token"}
        company = "other" if person == OUTSIDER else "acme"
        return 200, {"id": f"id-{person}", "name": f"Acme {person}", "company": company}


class Handler(BaseHTTPRequestHandler):
    server: Acme

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        self._answer(*self.server.redeem(self.headers["Authorization"], dict(parse_qsl(body))))

    def do_GET(self) -> None:
        if self.path.startswith("/members"):
            person = dict(parse_qsl(urlsplit(self.path).query))["id"]
            self._answer(200, {"member": person not in self.server.left})
        else:
            self._answer(*self.server.person(self.headers["Authorization"]))

    def _answer(self, status: int, members: Any) -> None:
        body = json.dumps(members).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None: ...


class AcmeHarness(Harness):
    method = plugin.AcmeLogin
    files = (PLUGIN,)

    def __init__(self, acme: Acme) -> None:
        self.acme = acme

    def options(self, through: Any) -> Mapping[str, Any]:
        app = {
            "url": through(self.acme.url),
            "client_id": CLIENT_ID,
            "client_secret": SECRET,
            "company": "acme",
        }
        return {"apps": {"main": app}}

    def approve(self, url: str, person: str = MEMBER) -> str:
        return self.acme.approve(url, person)

    def refuse(self, url: str) -> str:
        query = dict(parse_qsl(urlsplit(url).query))
        said = {"error": "access_denied", "state": query["state"]}
        return f"{query['redirect_uri']}?{urlencode(said)}"

    @property
    def secrets(self) -> tuple[str, ...]:
        return (SECRET,)


@pytest.fixture(scope="module")
def acme() -> Iterator[Acme]:
    with Acme() as acme:
        thread = threading.Thread(target=acme.serve_forever, args=(0.01,))
        thread.start()
        yield acme
        acme.shutdown()
        thread.join()


@pytest.fixture(scope="module")
def harness(acme: Acme) -> Harness:
    return AcmeHarness(acme)
