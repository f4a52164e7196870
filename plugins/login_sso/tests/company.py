"""The OpenID provider of a company on loopback, which states what a test lets it state."""

import base64
import hashlib
import html
import json
import secrets
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final
from urllib.parse import parse_qs, parse_qsl, urlencode, urlsplit

from joserfc import jwt
from joserfc.jwk import ECKey

Json = dict[str, Any]

CLIENT: Final = {"clientId": "files", "clientSecret": "s3cret"}
_KEY: Final = ECKey.generate_key("P-256", {"kid": "k1", "alg": "ES256", "use": "sig"})


@dataclass
class Company:
    """A provider.

    Args:
        now: the time of its tokens, in seconds.
        issuer: what its discovery document and its tokens state; empty: its URL.
        paths: the paths that were requested.
        claims: what its page states of the person who confirms a login there.
    """

    now: float
    url: str = ""
    issuer: str = ""
    paths: list[str] = field(default_factory=list)
    claims: Json = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._logins: dict[str, tuple[Json, Json]] = {}

    def confirm(self, url: str, **claims: Any) -> Json:
        """Return the parameters of the redirect after a person has confirmed a login.

        Args:
            url: the URL of the authorization request.
        """
        query = dict(parse_qsl(urlsplit(url).query))
        assert url.startswith(self.url), url
        code = secrets.token_urlsafe(16)
        self._logins[code] = (query, claims)
        return {"code": code, "state": query["state"]}

    def page(self, url: str) -> str:
        """Return the page on which the person of :attr:`claims` confirms a login."""
        redirect = self.confirm(url, **self.claims)
        (target,) = parse_qs(urlsplit(url).query)["redirect_uri"]
        link = html.escape(f"{target}?{urlencode(redirect)}")
        return f'<!doctype html><title>{self.url}</title><a href="{link}">Continue</a>'

    def reply(self, path: str, form: Json) -> tuple[int, Json]:
        """Return the status and the body of a response."""
        self.paths.append(path)
        issuer = self.issuer or self.url
        if path == "/.well-known/openid-configuration":
            return 200, {
                "issuer": issuer,
                "authorization_endpoint": f"{self.url}/authorize",
                "token_endpoint": f"{self.url}/token",
                "jwks_uri": f"{self.url}/keys",
            }
        if path == "/keys":
            return 200, {"keys": [_KEY.as_dict(private=False)]}
        known = self._logins.pop(form.get("code", ""), None) if path == "/token" else None
        if known is None:
            return 400, {"error": "invalid_grant"}
        query, claims = known
        digest = hashlib.sha256(form["code_verifier"].encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
        if (challenge, form["redirect_uri"]) != (query["code_challenge"], query["redirect_uri"]):
            return 400, {"error": "invalid_grant"}
        token = {
            "iss": issuer,
            "aud": query["client_id"],
            "iat": int(self.now),
            "exp": int(self.now) + 300,
            "nonce": query["nonce"],
            **claims,
        }
        members = {name: value for name, value in token.items() if value is not None}
        id_token = jwt.encode({"alg": "ES256", "kid": "k1"}, members, _KEY)
        return 200, {"access_token": "a", "token_type": "Bearer", "id_token": id_token}


@contextmanager
def serving_company(now: float) -> Iterator[Company]:
    """Serve a provider on a port of this machine."""
    company = Company(now)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path.startswith("/authorize?"):
                self._write(200, "text/html", company.page(f"{company.url}{self.path}").encode())
            else:
                self._send({})

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            self._send({name: values[0] for name, values in parse_qs(body).items()})

        def _send(self, form: Json) -> None:
            status, reply = company.reply(self.path, form)
            self._write(status, "application/json", json.dumps(reply).encode())

        def _write(self, status: int, content_type: str, content: bytes) -> None:
            self.send_response_only(status)
            self.send_header("Date", formatdate(company.now, usegmt=True))
            self.send_header("Content-Type", content_type)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: Any) -> None:
            """Log nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        company.url = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=lambda: server.serve_forever(0.01), daemon=True)
        thread.start()
        try:
            yield company
        finally:
            server.shutdown()
            thread.join()
