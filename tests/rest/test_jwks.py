"""The keys that other services verify tokens with, and such a service."""

import base64
import hashlib
import hmac
import json
import re
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import KeySet, RSAKey
from tests.support.api import Api, error_code
from tests.support.config import Table
from tests.support.databases import SqliteDatabases
from tests.support.server import Server, serving, write_config

from strongroom.identity.sessions.signing_keys import CHECK_MILLISECONDS, rotate
from strongroom.testing.clock import MINUTE, ManualClock

KEYS = "/.well-known/jwks.json"
SOMEWHERE = "/api/v1/tenants"
GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "verifying-tokens.md"
RS256: Table = {"tokens": {"algorithm": "RS256"}}


def key_path(api: Api) -> Path:
    """Return the file of the application's keys."""
    return api.container.settings.keys_path


def key_ids(api: Api) -> list[str]:
    """Return the ids of the published keys."""
    return [key["kid"] for key in api.get(KEYS).json["keys"]]


def encoded(part: dict[str, Any]) -> str:
    """Return a part of a compact serialization."""
    return base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=").decode()


class TestHs256:
    """A shared secret has no public half."""

    def test_the_set_is_empty(self, api: Api) -> None:
        assert api.get(KEYS).json == {"keys": []}

    def test_rotation_is_followed_all_the_same(self, api: Api, clock: ManualClock) -> None:
        person = api.person()
        new = rotate(key_path(api), "HS256", clock.now())[0]
        token = api.log_in(person.email).json["accessToken"]
        assert json.loads(base64.urlsafe_b64decode(token.split(".")[0] + "=="))["kid"] == new.kid
        assert api.get(SOMEWHERE, headers={"X-Access-Token": token}).status_code == 200
        assert api.get(SOMEWHERE, by=person).status_code == 200


@pytest.mark.config(RS256)
class TestRs256:
    """The public halves are for everybody, and for a short time in caches."""

    def test_the_set_holds_public_keys_and_nothing_else(self, api: Api) -> None:
        response = api.get(KEYS)
        assert response.headers["Cache-Control"] == "public, max-age=300"
        (key,) = response.json["keys"]
        assert key.keys() == {"kty", "kid", "n", "e", "alg", "use"}
        assert (key["kty"], key["alg"], key["use"]) == ("RSA", "RS256", "sig")

    def test_signed_tokens_verify_by_the_set(self, api: Api) -> None:
        person = api.person()
        keys = KeySet.import_key_set(api.get(KEYS).json)
        claims = jwt.decode(str(person.token), keys, algorithms=["RS256"]).claims
        assert claims["sub"] == person.id

    @pytest.mark.parametrize("secret", ["PEM", "DER", "JWK", "modulus"])
    def test_a_public_key_is_no_secret_of_an_hmac(self, api: Api, secret: str) -> None:
        (public,) = api.get(KEYS).json["keys"]
        key = RSAKey.import_key(public).public_key
        form = PublicFormat.SubjectPublicKeyInfo
        secrets: dict[str, Callable[[], bytes]] = {
            "PEM": lambda: key.public_bytes(Encoding.PEM, form),
            "DER": lambda: key.public_bytes(Encoding.DER, form),
            "JWK": lambda: json.dumps(public).encode(),
            "modulus": lambda: base64.urlsafe_b64decode(public["n"] + "=="),
        }
        claims = str(api.person(admin=True).token).split(".")[1]
        signed = f"{encoded({'alg': 'HS256', 'kid': public['kid'], 'typ': 'at+jwt'})}.{claims}"
        signature = hmac.digest(secrets[secret](), signed.encode(), hashlib.sha256)
        forged = f"{signed}.{base64.urlsafe_b64encode(signature).rstrip(b'=').decode()}"
        response = api.get(SOMEWHERE, headers={"X-Access-Token": forged})
        assert (response.status_code, error_code(response)) == (401, "error.token-invalid")

    def test_a_new_key_is_published_and_signs_and_the_old_one_verifies(
        self, api: Api, clock: ManualClock
    ) -> None:
        person = api.person()
        old = key_ids(api)
        new = rotate(key_path(api), "RS256", clock.now())[0]
        assert key_ids(api) == [new.kid, *old]
        clock.advance(MINUTE)
        assert api.get(SOMEWHERE, by=person).status_code == 200

    def test_a_key_that_is_taken_out_is_void_after_a_second(self, api: Api, clock: ManualClock) -> None:
        person = api.person()
        rotate(key_path(api), "RS256", clock.now())
        content = json.loads(key_path(api).read_text())
        key_path(api).write_text(json.dumps({"keys": content["keys"][:1]}))
        clock.advance(CHECK_MILLISECONDS)
        assert error_code(api.get(SOMEWHERE, by=person)) == "error.token-invalid"


Verifier = Callable[[str], str]


class TestAnotherService:
    """The verifier of the guide, against a server that runs."""

    @pytest.fixture
    def server(self, tmp_path: Path, sqlite_databases: SqliteDatabases) -> Iterator[Server]:
        with (
            sqlite_databases.create() as url,
            serving(write_config(tmp_path, url, RS256)) as server,
        ):
            yield server

    @pytest.fixture
    def verify(self, server: Server) -> Verifier:
        found = re.search(r"```python\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL)
        assert found
        code = found[1].replace("https://files.example.com", server.url)
        assert server.url in code
        namespace: dict[str, Any] = {}
        exec(compile(code, GUIDE, "exec"), namespace)
        verifier: Verifier = namespace["verify"]
        return verifier

    def test_it_returns_the_user_of_a_token(self, server: Server, verify: Verifier) -> None:
        user = server.create_user("alice@example.com")
        assert verify(log_in(server)) == user["id"]

    def test_it_refuses_invalid_tokens(self, server: Server, verify: Verifier) -> None:
        server.create_user("alice@example.com")
        header, claims, signature = log_in(server).split(".")
        content = json.loads(base64.urlsafe_b64decode(claims + "=="))
        kid = json.loads(base64.urlsafe_b64decode(header + "=="))["kid"]
        forgeries = [
            f"{header}.{encoded({**content, 'sub': 'somebody'})}.{signature}",
            f"{encoded({'alg': 'none', 'kid': kid, 'typ': 'at+jwt'})}.{claims}.",
            f"{encoded({'alg': 'RS256', 'kid': kid, 'typ': 'JWT'})}.{claims}.{signature}",
            jwt.encode(
                {"alg": "RS256", "kid": kid, "typ": "at+jwt"}, content, RSAKey.generate_key(2048)
            ),
            "token",
        ]
        for forged in forgeries:
            with pytest.raises((JoseError, ValueError)):
                verify(forged)

    def test_it_knows_a_new_key_at_once(self, server: Server, verify: Verifier) -> None:
        user = server.create_user("alice@example.com")
        old = log_in(server)
        assert verify(old) == user["id"]
        server.command("keys", "rotate")
        new = log_in(server)
        assert new.split(".")[0] != old.split(".")[0]
        assert verify(new) == verify(old) == user["id"]


def log_in(server: Server) -> str:
    """Log alice in and return her access token."""
    body = json.dumps({"username": "alice@example.com", "password": "Correct1Horse"}).encode()
    headers = {"Content-Type": "application/json"}
    request = urllib.request.Request(f"{server.url}/authorizations", body, headers, method="POST")
    with urllib.request.urlopen(request, timeout=30) as response:
        return str(response.headers["X-Access-Token"])
