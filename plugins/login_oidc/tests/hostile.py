"""An OpenID provider on a real port that is honest, unless a test changes what it sends."""

import base64
import hashlib
import hmac
import json
import secrets
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final
from urllib.parse import parse_qs, unquote_plus

from joserfc import jws
from joserfc.jwk import ECKey, OKPKey, RSAKey

NOW: Final = 1_800_000_000
CLIENT_ID: Final = "strongroom"
CLIENT_SECRET: Final = "s3cret: of+the/client %"
REDIRECT_URI: Final = "https://files.example/api/v1/oidc-authorizations/callback"
REMOVED: Final = object()
"""As the value of a change: the member is absent."""

_HASHES: Final = {"256": "sha256", "384": "sha384", "512": "sha512", "DSA": "sha512"}

Json = dict[str, Any]
Key = RSAKey | ECKey | OKPKey


@dataclass(frozen=True)
class At:
    """A time, in seconds from that of the provider."""

    seconds: int


@cache
def key(name: str) -> Key:
    """Return a key by its name, such as ``ES256``, or ``ES256 of a stranger``."""
    parameters: Any = {"kid": name, "use": "sig", "alg": name.split(maxsplit=1)[0]}
    if name.startswith("Ed"):
        return OKPKey.generate_key("Ed25519", parameters)
    if name.startswith("ES"):
        curve = {"ES256": "P-256", "ES384": "P-384", "ES512": "P-521"}[name.split(maxsplit=1)[0]]
        return ECKey.generate_key(curve, parameters)
    return RSAKey.generate_key(1024 if "short" in name else 2048, parameters, auto_kid=False)


def encoded(data: bytes) -> str:
    """Return base64url without padding."""
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def challenge_of(verifier: str) -> str:
    """Return the challenge of a verifier (RFC 7636, section 4.2)."""
    return encoded(hashlib.sha256(verifier.encode()).digest())


def changed(members: Mapping[str, Any], changes: Mapping[str, Any]) -> Json:
    """Return the members with changes."""
    both = {**members, **changes}
    return {name: value for name, value in both.items() if value is not REMOVED}


def signed(header: Json, payload: bytes, signer: Key) -> str:
    """Return a token; the header may say what it likes of the algorithm."""
    algorithm = signer.alg or "ES256"
    first = jws.serialize_compact({"alg": algorithm}, payload, signer, algorithms=[algorithm])
    text = f"{encoded(json.dumps(header).encode())}.{first.split('.')[1]}"
    # joserfc signs no header that it does not know, so the signing input is replaced.
    model = jws.JWSRegistry.algorithms[algorithm]
    return f"{text}.{encoded(model.sign(text.encode(), signer))}"


def hmac_signed(header: Json, payload: bytes, secret: bytes) -> str:
    """Return a token with an HMAC, such as one by a public key."""
    text = f"{encoded(json.dumps(header).encode())}.{encoded(payload)}"
    return f"{text}.{encoded(hmac.digest(secret, text.encode(), hashlib.sha256))}"


@dataclass
class Reply:
    """One HTTP response; ``pause`` are seconds before each byte of the body."""

    body: bytes | Json
    status: int = 200
    content_type: str = "application/json"
    headers: Mapping[str, str] = field(default_factory=dict)
    pause: float = 0.0

    @property
    def content(self) -> bytes:
        """The bytes of the body."""
        return self.body if isinstance(self.body, bytes) else json.dumps(self.body).encode()


@dataclass
class Login:
    """One login that a person confirmed at the provider."""

    nonce: str
    challenge: str
    redirect_uri: str
    claims: Json


Change = Callable[["HostileProvider"], object]


@dataclass
class HostileProvider:
    """The provider. All public members may be changed."""

    signer: Key = field(default_factory=lambda: key("ES256"))
    header: Json = field(default_factory=dict)
    claims: Json = field(default_factory=dict)
    payload: bytes | None = None
    forge_token: Callable[[str], str] = lambda token: token
    token_answer: Json = field(default_factory=dict)
    discovery: Json = field(default_factory=dict)
    key_set: Callable[[], Any] | None = None
    userinfo: Json = field(default_factory=dict)
    redirect: Json = field(default_factory=dict)
    replies: dict[str, Reply] = field(default_factory=dict)
    content_types: dict[str, str] = field(default_factory=dict)
    token_body: Callable[[bytes], bytes] = lambda body: body
    published: list[Key] = field(default_factory=lambda: [key("ES256"), key("RS256")])
    now: float = NOW
    requests: list[str] = field(default_factory=list)
    forms: list[Mapping[str, str]] = field(default_factory=list)
    authorizations: list[str] = field(default_factory=list)
    url: str = ""

    def __post_init__(self) -> None:
        self._logins: dict[str, Login] = {}
        self._lock = threading.Lock()

    def confirm(
        self,
        nonce: str,
        verifier: str,
        redirect_uri: str = REDIRECT_URI,
        *,
        is_challenge: bool = False,
        claims: Json | None = None,
    ) -> Json:
        """Return the parameters of the redirect after a person has confirmed a login.

        Args:
            is_challenge: whether the second argument is the challenge instead of the verifier.
            claims: those of the person.
        """
        challenge = verifier if is_challenge else challenge_of(verifier)
        code = secrets.token_urlsafe(16)
        self._logins[code] = Login(nonce, challenge, redirect_uri, claims or {})
        return self._changed({"code": code, "iss": self.url}, self.redirect)

    def reply(self, path: str, form: Mapping[str, str], authorization: str) -> Reply:
        """Return the response to a request."""
        with self._lock:
            self.requests.append(path)
        reply = self.replies.get(path) or self._reply(path, form, authorization)
        return replace(reply, content_type=self.content_types.get(path, reply.content_type))

    def _reply(self, path: str, form: Mapping[str, str], authorization: str) -> Reply:
        if path == "/.well-known/openid-configuration":
            return Reply(self._changed(self._document(), self.discovery))
        if path == "/keys":
            return Reply(self.key_set() if self.key_set else self._keys())
        if path == "/token":
            return self._redeem(form, authorization)
        if path == "/userinfo":
            return Reply(changed({"sub": "ada", "name": "Ada of userinfo"}, self.userinfo))
        return Reply(b"", 404)

    def id_token(self, login: Login, access_token: str) -> str:
        """Return an ID token."""
        digest = hashlib.new(_HASHES[str(self.signer.alg)[-3:]], access_token.encode()).digest()
        claims = {
            "iss": self.url,
            "sub": "ada",
            "aud": CLIENT_ID,
            "exp": self.now + 300,
            "iat": self.now,
            "nonce": login.nonce,
            "at_hash": encoded(digest[: len(digest) // 2]),
            "auth_time": self.now - 10,
            "name": "Ada",
            **login.claims,
        }
        payload = self.payload_of(self._changed(claims, self.claims))
        return self.forge_token(signed(self._header(), payload, self.signer))

    def basic(self) -> tuple[str, str]:
        """Return the client's id and secret of the last token request."""
        pair = base64.b64decode(self.authorizations[-1].removeprefix("Basic ")).decode()
        name, _, secret = pair.partition(":")
        return unquote_plus(name), unquote_plus(secret)

    def payload_of(self, claims: Json) -> bytes:
        """Return the payload; ``CLAIMS`` in a raw one stands for the members."""
        members = json.dumps(claims).encode()
        return members if self.payload is None else self.payload.replace(b"CLAIMS", members[1:-1])

    def _changed(self, members: Json, changes: Json) -> Json:
        """Return members with changes, with its URL for ISSUER, and its time for ``At``."""
        return changed(members, {name: self._resolved(value) for name, value in changes.items()})

    def _resolved(self, value: Any) -> Any:
        if isinstance(value, At):
            return self.now + value.seconds
        is_issuer = isinstance(value, str) and value.rstrip("/ ") == "ISSUER"
        return value.replace("ISSUER", self.url) if is_issuer else value

    def _header(self) -> Json:
        return changed({"alg": self.signer.alg, "kid": self.signer.kid, "typ": "JWT"}, self.header)

    def _document(self) -> Json:
        return {
            "issuer": self.url,
            "authorization_endpoint": f"{self.url}/authorize",
            "token_endpoint": f"{self.url}/token",
            "jwks_uri": f"{self.url}/keys",
            "userinfo_endpoint": f"{self.url}/userinfo",
            "id_token_signing_alg_values_supported": ["none", "HS256", "ES256"],
            "authorization_response_iss_parameter_supported": True,
        }

    def _keys(self) -> Json:
        return {"keys": [public.as_dict(private=False) for public in self.published]}

    def _redeem(self, form: Mapping[str, str], authorization: str) -> Reply:
        with self._lock:
            self.forms.append(form)
            self.authorizations.append(authorization)
            login = self._logins.pop(form.get("code", ""), None)
        challenge = challenge_of(form.get("code_verifier", ""))
        if login is None or (challenge, form.get("redirect_uri")) != (
            login.challenge,
            login.redirect_uri,
        ):
            return Reply({"error": "invalid_grant", "error_description": "no such code"}, 400)
        access_token = secrets.token_urlsafe(16)
        answer = {
            "access_token": access_token,
            "token_type": "Bearer",
            "expires_in": 300,
            "id_token": self.id_token(login, access_token),
        }
        body = json.dumps(changed(answer, self.token_answer)).encode()
        return Reply(self.token_body(body))


@contextmanager
def serving(provider: HostileProvider) -> Iterator[HostileProvider]:
    """Serve a provider on a port of this machine."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._send({})

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
            self._send({name: values[0] for name, values in parse_qs(body).items()})

        def _send(self, form: Mapping[str, str]) -> None:
            reply = provider.reply(self.path, form, self.headers.get("Authorization", ""))
            self.send_response(reply.status)
            self.send_header("Content-Type", reply.content_type)
            for name, value in {"Content-Length": str(len(reply.content)), **reply.headers}.items():
                self.send_header(name, value)
            self.end_headers()
            _write(self.wfile, reply)

        def log_message(self, *_: Any) -> None:
            """Log nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        provider.url = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=lambda: server.serve_forever(0.01), daemon=True)
        thread.start()
        try:
            yield provider
        finally:
            server.shutdown()
            thread.join()


def _write(stream: Any, reply: Reply) -> None:
    try:
        if not reply.pause:
            stream.write(reply.content)
            return
        for byte in reply.content:
            stream.write(bytes((byte,)))
            stream.flush()
            time.sleep(reply.pause)
    except OSError:
        """The client has closed the connection, as it should."""
