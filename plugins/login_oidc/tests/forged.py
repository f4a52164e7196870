"""Forged answers of a provider: each row is refused with ``error.oidc-answer-invalid``.

A row has a name, and the change of an honest provider that makes the forgery. :data:`UNAVAILABLE` has
those that are no forgeries: the provider is down or overloaded, and the client may try again.
"""

import base64
import gzip
import hashlib
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Final

from .hostile import (
    CLIENT_ID,
    REMOVED,
    At,
    Change,
    HostileProvider,
    Json,
    Reply,
    encoded,
    hmac_signed,
    key,
)

EVIL: Final = "https://evil.example"
STRANGER: Final = "ES256 of a stranger"
MEGABYTES: Final = 10 * 1024 * 1024
DISCOVERY: Final = "/.well-known/openid-configuration"


@dataclass(frozen=True)
class Forgery:
    """One row: a name, the change, and options of the provider that it needs."""

    name: str
    change: Change
    options: Json = field(default_factory=dict)


def claims(name: str, **changes: Any) -> Forgery:
    """Return a forgery of claims; the signature is right."""
    return Forgery(f"claims: {name}", lambda op: op.claims.update(changes))


def header(name: str, **changes: Any) -> Forgery:
    """Return a forgery of the header; the signature is one of the provider's key."""
    return Forgery(f"header: {name}", lambda op: op.header.update(changes))


def payload(name: str, text: bytes) -> Forgery:
    """Return a forgery of the payload's JSON, in which CLAIMS stands for the honest members."""
    return Forgery(f"JSON: {name}", lambda op: setattr(op, "payload", text))


def token(name: str, forge: Callable[[str], str]) -> Forgery:
    """Return a forgery of the compact token."""
    return Forgery(f"token: {name}", lambda op: setattr(op, "forge_token", forge))


def signer(name: str, signing: str, **changes: Any) -> Forgery:
    """Return a forgery that is signed by another key."""

    def change(op: HostileProvider) -> None:
        op.signer = key(signing)
        op.header.update(changes)

    return Forgery(f"key: {name}", change)


def keys(name: str, change_set: Callable[[Json], Any], **changes: Any) -> Forgery:
    """Return a forgery of the key set, of the public keys that an honest one has."""

    def change(op: HostileProvider) -> None:
        public = [published.as_dict(private=False) for published in op.published]
        op.key_set = lambda: change_set({"keys": public})
        op.header.update(changes)

    return Forgery(f"key set: {name}", change)


def answer(name: str, **changes: Any) -> Forgery:
    """Return a forgery of the token answer."""
    return Forgery(f"token answer: {name}", lambda op: op.token_answer.update(changes))


def redirect(name: str, **changes: Any) -> Forgery:
    """Return a forgery of the parameters that come back with the browser."""
    return Forgery(f"redirect: {name}", lambda op: op.redirect.update(changes))


def discovery(name: str, **changes: Any) -> Forgery:
    """Return a forgery of the discovery document."""
    return Forgery(f"discovery: {name}", lambda op: op.discovery.update(changes))


def userinfo(name: str, **changes: Any) -> Forgery:
    """Return a forgery of userinfo."""
    return Forgery(f"userinfo: {name}", lambda op: op.userinfo.update(changes), {"userinfo": True})


def reply(name: str, path: str, response: Reply, **options: Any) -> Forgery:
    """Return a forgery of the response of an endpoint."""
    return Forgery(f"{path}: {name}", lambda op: op.replies.update({path: response}), options)


def _of_each_endpoint(name: str, response: Reply) -> Iterable[Forgery]:
    for path in (DISCOVERY, "/token", "/keys", "/userinfo"):
        yield reply(name, path, response, userinfo=True)


def _resigned(algorithm: str, secret: Callable[[], bytes]) -> Callable[[str], str]:
    """Return a function that signs the claims of a token with a secret that is public."""

    def forge(honest: str) -> str:
        part = honest.split(".")[1]
        members = json.loads(_decoded(part))
        head = {"alg": algorithm, "kid": "RS256"}
        return hmac_signed(head, json.dumps(members).encode(), secret())

    return forge


def _decoded(part: str) -> bytes:
    return base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))


def _unsigned(algorithm: str) -> Callable[[str], str]:
    head = encoded(json.dumps({"alg": algorithm}).encode())
    return lambda honest: f"{head}.{honest.split('.')[1]}."


def _with_claims(**changes: Any) -> Callable[[str], str]:
    """Return a function that changes the claims after they were signed."""

    def forge(honest: str) -> str:
        first, part, signature = honest.split(".")
        members = {**json.loads(_decoded(part)), **changes}
        return f"{first}.{encoded(json.dumps(members).encode())}.{signature}"

    return forge


def _half(value: str, hash_name: str = "sha256") -> str:
    digest = hashlib.new(hash_name, value.encode()).digest()
    return encoded(digest[: len(digest) // 2])


def _public(name: str, **changes: Any) -> Json:
    return {**key(name).as_dict(private=False), **changes}


def _many_keys(count: int) -> list[Json]:
    return [_public("ES256", kid=str(number)) for number in range(count)]


def _pem() -> bytes:
    return bytes(key("RS256").as_pem(private=False))


def _modulus() -> bytes:
    return _decoded(str(key("RS256").as_dict(private=False)["n"]))


def _nested(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


def _replayed(name: str, stolen: Json) -> Forgery:
    """Return an answer with the honest token of another login."""
    return claims(f"those of another login: {name}", **stolen)


def _with_second_token(body: bytes) -> bytes:
    return b'{"id_token": "a.b.c", ' + body[1:]


def _with_line_end(op: HostileProvider) -> None:
    op.token_answer["access_token"] = "a\r\nHost: evil.example"
    op.claims["at_hash"] = REMOVED


def _with_nan(body: bytes) -> bytes:
    return b'{"extra": NaN, ' + body[1:]


def _short_key(op: HostileProvider) -> None:
    op.signer = key("RS256 short")
    op.published.append(op.signer)


CLAIMS: Final = (
    claims("iss of another provider", iss=EVIL),
    claims("no iss", iss=REMOVED),
    claims("iss is null", iss=None),
    claims("iss is a list with the right one", iss=["ISSUER"]),
    claims("iss with a slash at its end", iss="ISSUER/"),
    claims("iss in capitals", iss="HTTP://127.0.0.1"),
    claims("iss with a space", iss="ISSUER "),
    claims("aud of another client", aud="another"),
    claims("no aud", aud=REMOVED),
    claims("aud is empty", aud=[]),
    claims("aud is a list without us", aud=["a", "b"]),
    claims("aud has us in other case", aud=CLIENT_ID.upper()),
    claims("aud begins with us", aud=f"{CLIENT_ID}-admin"),
    claims("aud is an object with us", aud={CLIENT_ID: True}),
    claims("aud has two clients and no azp", aud=[CLIENT_ID, "another"]),
    claims("azp of another client", azp="another"),
    claims("aud has two clients and azp is the other", aud=[CLIENT_ID, "another"], azp="another"),
    claims("azp is null", azp=None),
    claims("exp in the past", exp=At(-61)),
    claims("exp long ago", exp=1),
    claims("no exp", exp=REMOVED),
    claims("exp is a text", exp="1900000000"),
    claims("exp is true", exp=True),
    claims("exp is null", exp=None),
    claims("exp is a list", exp=[1_900_000_000]),
    claims("exp is negative", exp=-1),
    claims("iat in the future", iat=At(61)),
    claims("iat of last week", iat=At(-7 * 86_400)),
    claims("no iat", iat=REMOVED),
    claims("iat is a text", iat="1800000000"),
    claims("nbf in the future", nbf=At(3600)),
    claims("nbf is a text", nbf="now"),
    claims("nbf is true", nbf=True),
    claims("40 KB of groups", groups=["x" * 100] * 380),
    claims("nonce of another login", nonce="another"),
    claims("no nonce", nonce=REMOVED),
    claims("nonce is empty", nonce=""),
    claims("nonce is null", nonce=None),
    claims("nonce is a list", nonce=["NONCE"]),
    claims("at_hash of another token", at_hash=_half("another token")),
    claims("at_hash of all of the hash", at_hash="x" * 43),
    claims("at_hash by another hash", at_hash=_half("another token", "sha512")),
    claims("at_hash is empty", at_hash=""),
    claims("at_hash is null", at_hash=None),
    claims("no sub", sub=REMOVED),
    claims("sub is empty", sub=""),
    claims("sub is null", sub=None),
    claims("sub is a number", sub=7),
    claims("sub is a list", sub=["ada"]),
    claims("sub of 256 bytes", sub="a" * 256),
    claims("sub of 86 characters of 3 bytes", sub="\u4e2d" * 86),
    claims("sub with NUL", sub="ada\0"),
    claims("sub with a line end", sub="ada\n"),
    claims("sub with half a surrogate pair", sub="ada\ud800"),
    claims("all claims absent", **dict.fromkeys(("iss", "sub", "aud", "exp", "iat", "nonce"), REMOVED)),
    Forgery(
        "claims: auth_time too long ago",
        lambda op: op.claims.update(auth_time=At(-3600)),
        {"max_age_seconds": 600},
    ),
    Forgery(
        "claims: no auth_time, and it was asked for",
        lambda op: op.claims.update(auth_time=REMOVED),
        {"max_age_seconds": 600},
    ),
    Forgery(
        "claims: auth_time in the future",
        lambda op: op.claims.update(auth_time=At(3600)),
        {"max_age_seconds": 600},
    ),
    Forgery(
        "claims: auth_time is a text",
        lambda op: op.claims.update(auth_time="1800000000"),
        {"max_age_seconds": 600},
    ),
)

HEADERS: Final = (
    header("alg absent", alg=REMOVED),
    header("alg none", alg="none"),
    header("alg None", alg="None"),
    header("alg HS256", alg="HS256"),
    header("alg in lowercase", alg="es256"),
    header("alg is a list", alg=["ES256"]),
    header("alg of another key type", alg="RS256"),
    header("alg of another curve", alg="ES384"),
    header("alg of encryption", alg="RSA-OAEP"),
    header("unknown kid", kid="another"),
    header("kid is a path", kid="../../../../dev/null"),
    header("kid is SQL", kid="' UNION SELECT 'key' --"),
    header("kid is a number", kid=1),
    header("kid is a list", kid=["ES256"]),
    header("kid of a key of another algorithm", kid="RS256"),
    header("crit of an unknown extension", crit=["exp"], exp=1),
    header("crit is empty", crit=[]),
    header("payload that is not encoded (RFC 7797)", b64=False, crit=["b64"]),
    header("b64 without crit", b64=False),
    header("typ of an access token", typ="at+jwt"),
    header("typ of a logout token", typ="logout+jwt"),
    header("typ is a list", typ=["JWT"]),
    header("nested header", extra=_nested(100)),
    header("huge header", extra="x" * 40_000),
)

KEYS: Final = (
    signer("the key of a stranger under the kid of ours", STRANGER, kid="ES256"),
    signer("a stranger with an unknown kid", STRANGER),
    signer("a stranger without kid", STRANGER, kid=REMOVED),
    signer("a stranger with jwk", STRANGER, kid="ES256", jwk=_public(STRANGER)),
    signer("a stranger with jku", STRANGER, kid="ES256", jku=f"{EVIL}/keys"),
    signer("a stranger with x5u", STRANGER, kid="ES256", x5u=f"{EVIL}/cert"),
    signer("a stranger with x5c", STRANGER, kid="ES256", x5c=["MIIB"]),
    signer("an RSA key of a stranger", "RS256 of a stranger", kid="RS256"),
    signer("another algorithm than that of the key", "PS256 of a stranger", kid="RS256", alg="RS256"),
)

ALGORITHMS: Final = tuple(
    Forgery(
        f"algorithm: {name}, which the configuration does not have",
        lambda op, name=name: setattr(op, "signer", key(name)),  # type: ignore[misc]
        {"algorithms": ("ES256",)},
    )
    for name in ("RS256", "PS256", "ES384")
)

TOKENS: Final = (
    token("not signed: none", _unsigned("none")),
    token("not signed: None", _unsigned("None")),
    token("not signed: NONE", _unsigned("NONE")),
    token("not signed, with another alg", _unsigned("ES256")),
    token("HS256 with the PEM of the RSA key", _resigned("HS256", _pem)),
    token("HS256 with the PEM of the RSA key, stripped", _resigned("HS256", lambda: _pem().strip())),
    token("HS256 with the modulus", _resigned("HS256", _modulus)),
    token("HS256 with an empty secret", _resigned("HS256", bytes)),
    token("HS256 with the secret of the client", _resigned("HS256", lambda: b"s3cret: of+the/client %")),
    token("HS384 under the name of RS256", _resigned("RS256", _pem)),
    token("changed after the signature", _with_claims(sub="root")),
    token("without its signature", lambda honest: honest.rpartition(".")[0] + "."),
    token("with another signature", lambda honest: honest.rpartition(".")[0] + "." + "A" * 86),
    token(
        "with zeros as a signature", lambda honest: honest.rpartition(".")[0] + "." + encoded(bytes(64))
    ),
    token(
        "without its payload", lambda honest: ".".join((honest.split(".")[0], "", honest.split(".")[2]))
    ),
    token("two parts", lambda honest: honest.rpartition(".")[0]),
    token("four parts", lambda honest: honest + ".AAAA"),
    token("five parts, as encrypted", lambda honest: honest + ".AAAA.AAAA"),
    token("empty", lambda honest: honest[:0]),
    token("dots only", lambda _: ".."),
    token("with a line end", lambda honest: honest + "\n"),
    token("with padding", lambda honest: honest.replace(".", "=.", 1)),
    token("with a space", lambda honest: " " + honest),
    token("in plain base64", lambda honest: honest.rpartition(".")[0] + ".+/" + "A" * 84),
    token("in full-width letters", lambda honest: honest.replace("e", "\uff45")),
    token("in JSON", lambda honest: json.dumps({"payload": honest.split(".")[1], "signatures": []})),
    token("of 2 MB", lambda honest: honest + "A" * 2_000_000),
    token("of 60 KB", lambda honest: honest + "A" * 60_000),
)

JSON: Final = (
    payload("duplicate sub, ours last", b'{"sub": "root", CLAIMS}'),
    payload("duplicate sub, ours first", b'{CLAIMS, "sub": "root"}'),
    payload("duplicate aud", b'{"aud": "another", CLAIMS}'),
    payload("NaN as exp", b'{CLAIMS, "extra": NaN}'),
    payload("Infinity", b'{CLAIMS, "extra": Infinity}'),
    payload("a number beyond all", b'{CLAIMS, "extra": 1e999}'),
    payload("a number of 5,000 digits", b'{CLAIMS, "extra": ' + b"9" * 5000 + b"}"),
    payload("100 levels", b'{CLAIMS, "extra": ' + b"[" * 100 + b"]" * 100 + b"}"),
    payload("7,000 levels", b'{CLAIMS, "extra": ' + b"[" * 7000 + b"]" * 7000 + b"}"),
    payload("a list", b"[{CLAIMS}]"),
    payload("null", b"null"),
    payload("a text", b'"ada"'),
    payload("empty", b""),
    payload("two objects", b"{CLAIMS}{CLAIMS}"),
    payload("not ended", b"{CLAIMS"),
    payload("with a comment", b"{CLAIMS /* sub */}"),
    payload("single quotes", b"{'sub': 'ada', CLAIMS}"),
    payload("with a byte order mark", b"\xef\xbb\xbf{CLAIMS}"),
    payload("UTF-16", '{"sub": "ada"}'.encode("utf-16")),
    payload("invalid UTF-8", b'{CLAIMS, "extra": "\xff"}'),
    payload("overlong UTF-8", b'{CLAIMS, "extra": "\xc0\xae"}'),
)

KEY_SETS: Final = (
    keys("no keys", lambda _: {"keys": []}),
    keys("no member keys", lambda _: {}),
    keys("keys is an object", lambda honest: {"keys": {"ES256": honest["keys"][0]}}),
    keys("keys of texts", lambda _: {"keys": ["ES256", 1, None]}),
    keys("1,000 keys", lambda honest: {"keys": [*honest["keys"], *_many_keys(1000)]}),
    keys("10 MB", lambda honest: {**honest, "pad": "x" * MEGABYTES}),
    keys("two keys of one kid", lambda honest: {"keys": [*honest["keys"], _public("ES256")]}),
    keys("the key is for encryption", lambda _: {"keys": [_public("ES256", use="enc")]}),
    keys("the key is of another algorithm", lambda _: {"keys": [_public("ES256", alg="ES512")]}),
    keys("the key may not verify", lambda _: {"keys": [_public("ES256", key_ops=["encrypt"])]}),
    keys("key_ops is a text", lambda _: {"keys": [_public("ES256", key_ops="verify")]}),
    keys("the key has another type", lambda _: {"keys": [_public("ES256", kty="RSA")]}),
    keys("the key has an unknown type", lambda _: {"keys": [_public("ES256", kty="XX")]}),
    keys("the key is a secret", lambda _: {"keys": [{"kty": "oct", "k": "AAAA", "kid": "ES256"}]}),
    keys("the key is not on its curve", lambda _: {"keys": [_public("ES256", x="AAAA")]}),
    keys("the key has an unknown curve", lambda _: {"keys": [_public("ES256", crv="P-1")]}),
    keys("the key has numbers in place of texts", lambda _: {"keys": [_public("ES256", x=1, y=2)]}),
    keys("the key is not complete", lambda _: {"keys": [{"kty": "EC", "kid": "ES256"}]}),
    keys(
        "several keys and no kid", lambda _: {"keys": [_public("ES256"), _public("ES256")]}, kid=REMOVED
    ),
    Forgery("key set: an RSA key of 1024 bits", _short_key),
)

TOKEN_ANSWERS: Final = (
    answer("no id_token", id_token=REMOVED),
    answer("id_token is null", id_token=None),
    answer("id_token is an object", id_token={"sub": "ada"}),
    answer("id_token is a list", id_token=["a.b.c"]),
    answer("no access_token", access_token=REMOVED),
    answer("access_token is a number", access_token=1),
    Forgery("token answer: access_token with a line end", _with_line_end, {"userinfo": True}),
    answer("another access_token than that of at_hash", access_token="another"),
    answer("token_type of another kind", token_type="mac"),
    answer("no token_type", token_type=REMOVED),
    answer("200 with an error", error="server_said_no", error_description="<script>"),
    answer("200 with an error of a wrong type", error={"code": 1}),
    answer("10 MB", pad="x" * MEGABYTES),
    Forgery("token answer: two ID tokens", lambda op: setattr(op, "token_body", _with_second_token)),
    Forgery("token answer: with NaN", lambda op: setattr(op, "token_body", _with_nan)),
    answer("expires_in is no number", expires_in="soon"),
    answer("expires_in is a list", expires_in=[300]),
)

REDIRECTS: Final = (
    redirect("iss of another provider", iss=EVIL),
    redirect("no iss, and the provider always sends it", iss=REMOVED),
    redirect("iss with a slash at its end", iss="ISSUER/"),
    redirect("iss is empty", iss=""),
    redirect("iss in other case", iss="HTTP://127.0.0.1"),
)

DISCOVERIES: Final = (
    discovery("issuer of another provider", issuer=EVIL),
    discovery("no issuer", issuer=REMOVED),
    discovery("issuer with a slash at its end", issuer="ISSUER/"),
    discovery("issuer is a list", issuer=["ISSUER"]),
    discovery("token endpoint by http", token_endpoint="http://evil.example/token"),
    discovery("key set by http", jwks_uri="http://evil.example/keys"),
    discovery("authorization endpoint by http", authorization_endpoint="http://evil.example/"),
    discovery("userinfo by http", userinfo_endpoint="http://evil.example/userinfo"),
    discovery("token endpoint is a file", token_endpoint="file:///etc/passwd"),
    discovery("token endpoint with user information", token_endpoint="https://a@evil.example/"),
    discovery("token endpoint with a fragment", token_endpoint="https://evil.example/#token"),
    discovery("token endpoint with a line end", token_endpoint="https://evil.example/\r\nX: 1"),
    discovery("token endpoint without a host", token_endpoint="https:///token"),
    discovery("no token endpoint", token_endpoint=REMOVED),
    discovery("no key set", jwks_uri=REMOVED),
    discovery("authorization endpoint is a script", authorization_endpoint="javascript:alert(1)"),
    discovery("token endpoint with half an address", token_endpoint="https://[::1"),
    discovery("token endpoint with a port of letters", token_endpoint="https://evil.example:x/"),
    discovery("key set with a large port", jwks_uri="https://evil.example:99999999/"),
    discovery("authorization endpoint with half an address", authorization_endpoint="https://[a"),
    discovery("10 MB", pad="x" * MEGABYTES),
    discovery("token endpoint is a list", token_endpoint=["https://evil.example/"]),
)

_UNSIGNED: Final = Reply(b"eyJhbGciOiJub25lIn0.e30.", content_type="application/jwt")

USERINFOS: Final = (
    userinfo("sub of another person", sub="root"),
    userinfo("no sub", sub=REMOVED),
    userinfo("sub in other case", sub="ADA"),
    userinfo("sub with a space", sub="ada "),
    userinfo("sub is a list", sub=["ada"]),
    userinfo("iss of another provider", iss=EVIL),
    userinfo("aud of another client", aud=["another"]),
    reply(
        "not signed as a token",
        "/userinfo",
        Reply(b"eyJhbGciOiJub25lIn0.e30.", 200, "application/jwt"),
        userinfo=True,
    ),
    reply("an error", "/userinfo", Reply({"error": "invalid_token"}, 401), userinfo=True),
)

_ELSEWHERE: Final = {"Location": f"{EVIL}/"}
_BOMB: Final = gzip.compress(b'{"a": "' + b"x" * MEGABYTES + b'"}')


def _typed(path: str, content_type: str) -> Forgery:
    return Forgery(
        f"{path}: honest, but as {content_type}",
        lambda op: op.content_types.update({path: content_type}),
        {"userinfo": True},
    )


ENDPOINTS: Final = (
    *(_typed(path, "text/html") for path in (DISCOVERY, "/token", "/keys", "/userinfo")),
    *(_typed(path, "text/plain; charset=utf-8") for path in (DISCOVERY, "/token", "/keys", "/userinfo")),
    *_of_each_endpoint("redirects (302)", Reply(b"", 302, headers=_ELSEWHERE)),
    *_of_each_endpoint("redirects with the form (307)", Reply(b"", 307, headers=_ELSEWHERE)),
    *_of_each_endpoint("redirects for ever (308)", Reply(b"", 308, headers={"Location": "/token"})),
    *_of_each_endpoint("answers 10 MB", Reply(b'{"a": "' + b"x" * MEGABYTES + b'"}')),
    *_of_each_endpoint("answers a gzip bomb", Reply(_BOMB, headers={"Content-Encoding": "gzip"})),
    *_of_each_endpoint("answers HTML", Reply(b"<html>{}</html>", content_type="text/html")),
    *_of_each_endpoint("answers HTML as JSON", Reply(b"<html></html>")),
    *_of_each_endpoint("answers nothing", Reply(b"")),
    *_of_each_endpoint("answers a list", Reply(b"[]")),
    *_of_each_endpoint("answers 100,000 levels", Reply(b"[" * 100_000)),
    *_of_each_endpoint("answers with 403", Reply({"message": "no"}, 403)),
)

FORGED: Final = (
    *CLAIMS,
    *HEADERS,
    *KEYS,
    *ALGORITHMS,
    *TOKENS,
    *JSON,
    *KEY_SETS,
    *TOKEN_ANSWERS,
    *REDIRECTS,
    *DISCOVERIES,
    *USERINFOS,
    *ENDPOINTS,
)

_ERROR: Final = Reply(b"<h1>Bad gateway</h1>", 502, "text/html")

UNAVAILABLE: Final = (
    *_of_each_endpoint("is down (502)", _ERROR),
    *_of_each_endpoint("is down (503)", Reply({"error": "server_error"}, 503)),
    *_of_each_endpoint("is overloaded (429)", Reply({"error": "slow_down"}, 429)),
    *_of_each_endpoint("sends a byte per 50 ms", Reply(b"{}" + b" " * 1000, pause=0.05)),
    *_of_each_endpoint("sends half of its answer", Reply(b"{", headers={"Content-Length": "9"})),
)
