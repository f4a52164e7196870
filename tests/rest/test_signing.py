"""Statements for other services: signed by an asymmetric key, whatever signs our own access tokens."""

import base64
import hashlib
import hmac
import json
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from joserfc import jws, jwt
from joserfc.jwk import KeySet, OctKey, RSAKey
from tests.support.api import Api, Person, error_code
from tests.support.config import Table, declared_config, merged, write_api_config
from tests.support.databases import on_sqlite
from tests.support.signing_plugin import signing_plugin

from strongroom.assembly.app import create_app, get_container
from strongroom.foundation.config import ConfigurationError, load
from strongroom.identity.sessions.signing_keys import (
    create_key_file,
    ensure_key,
    key_algorithm,
    load_keys,
    rotate,
)
from strongroom.plugin_api.signing import SigningAPI
from strongroom.testing.clock import MINUTE

KEYS = "/.well-known/jwks.json"
SOMEWHERE = "/api/v1/tenants"
CLIENT = "https://wiki.example"

pytestmark = on_sqlite


@pytest.fixture
def config_changes(tmp_path: Path, request: pytest.FixtureRequest) -> Table:
    return merged(signing_plugin(tmp_path), declared_config(request))


@pytest.fixture
def signing(api: Api) -> SigningAPI:
    return api.container.hosts.get("signer").signing


def encoded(part: dict[str, Any]) -> str:
    return base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=").decode()


def refuses(signing: SigningAPI, token: str, **options: Any) -> bool:
    try:
        signing.verify(token, **{"audience": CLIENT, **options})
    except ValueError:
        return True
    return False


class TestStatements:
    """What this server says to others, by its public keys."""

    def test_a_statement_verifies_by_the_public_keys_alone(self, api: Api, signing: SigningAPI) -> None:
        token = signing.sign({"nonce": "n"}, audience=CLIENT, subject="someone", lifetime=300)
        keys = KeySet.import_key_set(api.get(KEYS).json)
        read = jwt.decode(token, keys, algorithms=["RS256"])
        assert read.header.keys() == {"alg", "kid", "typ"}
        assert (signing.algorithm, read.header["typ"]) == ("RS256", "JWT")
        now = api.clock.now() // 1000
        expected = {"iss": signing.issuer, "aud": CLIENT, "sub": "someone", "nonce": "n"}
        assert read.claims.items() >= {**expected, "iat": now, "exp": now + 300}.items()
        assert read.claims.keys() - expected.keys() == {"iat", "exp", "jti"}
        assert signing.verify(token, audience=CLIENT) == read.claims
        assert signing.verify(token, audience=None)["aud"] == CLIENT

    def test_a_statement_without_a_subject_has_none(self, signing: SigningAPI) -> None:
        token = signing.sign({}, audience=CLIENT, lifetime=1, typ="logout+jwt")
        assert "sub" not in signing.verify(token, audience=CLIENT, typ="logout+jwt")

    def test_own_access_tokens_are_signed_as_configured(self, api: Api) -> None:
        header = jws.extract_compact(str(api.person().token).encode()).headers()
        assert header["alg"] == "HS256"

    def test_it_expires(self, api: Api, signing: SigningAPI) -> None:
        token = signing.sign({}, audience=CLIENT, lifetime=60)
        api.clock.advance(MINUTE - 1)
        assert not refuses(signing, token)
        api.clock.advance(1)
        assert refuses(signing, token)
        assert not refuses(signing, token, expired=True)

    def test_another_audience_or_type_is_refused(self, signing: SigningAPI) -> None:
        token = signing.sign({}, audience=CLIENT, lifetime=60)
        assert refuses(signing, token, audience="https://other.example")
        assert refuses(signing, token, audience=signing.issuer)
        assert refuses(signing, token, typ="logout+jwt")

    @pytest.mark.parametrize(
        "options",
        [
            {"typ": "at+jwt"},
            {"typ": "AT+JWT"},
            {"typ": "application/at+jwt"},
            {"typ": "other+jwt"},
            {"lifetime": 3601},
            {"lifetime": 0},
            *({"claims": {name: "x"}} for name in ("iss", "aud", "iat", "exp", "jti", "sub")),
        ],
    )
    def test_it_cannot_be_like_a_token_of_ours(self, signing: SigningAPI, options: Any) -> None:
        valid: dict[str, Any] = {"claims": {}, "audience": CLIENT, "lifetime": 60}
        assert signing.sign(**valid)
        with pytest.raises(ValueError, match=r"type|lifetime|claim"):
            signing.sign(**{**valid, **options})

    def test_its_audience_is_never_this_server(self, signing: SigningAPI) -> None:
        with pytest.raises(ValueError, match="another service"):
            signing.sign({}, audience=signing.issuer, lifetime=60)

    def test_a_plugin_signs_the_types_that_it_has_registered(self, api: Api) -> None:
        other = api.container.hosts.get("storage_local").signing
        with pytest.raises(ValueError, match="register_token_types"):
            other.sign({}, audience=CLIENT, lifetime=60)

    def test_a_new_key_signs_and_the_old_one_verifies(self, api: Api, signing: SigningAPI) -> None:
        before = signing.sign({}, audience=CLIENT, lifetime=60)
        new = rotate(api.container.settings.keys_path, "RS256", api.clock.now())[0]
        after = signing.sign({}, audience=CLIENT, lifetime=60)
        assert jws.extract_compact(after.encode()).headers()["kid"] == new.kid
        assert not refuses(signing, before)
        assert len(api.get(KEYS).json["keys"]) == 2


class TestForgeries:
    """Only this server's public keys verify, only what it has signed for others."""

    @pytest.fixture
    def key(self, api: Api) -> RSAKey:
        ring = load_keys(api.container.settings.keys_path, "HS256")
        return ring.statement_key()

    @pytest.fixture
    def claims(self, signing: SigningAPI) -> dict[str, Any]:
        return signing.verify(signing.sign({}, audience=CLIENT, lifetime=60), audience=CLIENT)

    def sign(self, key: RSAKey, claims: dict[str, Any], **header: str) -> str:
        """Return what the key signs by RS256, whatever the header says."""
        header = {"alg": "RS256", "kid": str(key.kid), "typ": "JWT", **header}
        signed = f"{encoded(header)}.{encoded(claims)}"
        private: Any = key.private_key
        signature = private.sign(signed.encode(), PKCS1v15(), SHA256())
        return f"{signed}.{base64.urlsafe_b64encode(signature).rstrip(b'=').decode()}"

    def test_what_it_has_signed_is_accepted(
        self, signing: SigningAPI, key: RSAKey, claims: dict[str, Any]
    ) -> None:
        assert not refuses(signing, self.sign(key, claims))

    @pytest.mark.parametrize(
        "changed",
        [
            {"iss": "https://evil.example"},
            {"aud": [CLIENT]},
            {"aud": None},
            {"exp": "9999999999"},
            {"exp": True},
            {"exp": 1e300},
        ],
    )
    def test_odd_claims_are_refused(
        self, signing: SigningAPI, key: RSAKey, claims: dict[str, Any], changed: dict[str, Any]
    ) -> None:
        assert refuses(signing, self.sign(key, {**claims, **changed}))
        assert refuses(signing, self.sign(key, {**claims, **changed}), audience=None)

    @pytest.mark.parametrize(
        "header", [{"typ": "at+jwt"}, {"jku": "https://evil.example"}, {"crit": "b64"}, {"alg": "RS512"}]
    )
    def test_an_unusual_header_is_refused(
        self, signing: SigningAPI, key: RSAKey, claims: dict[str, Any], header: dict[str, str]
    ) -> None:
        assert refuses(signing, self.sign(key, claims, **header))

    def test_another_key_is_refused(
        self, signing: SigningAPI, key: RSAKey, claims: dict[str, Any]
    ) -> None:
        forged = RSAKey.generate_key(2048, {"kid": str(key.kid)})
        assert refuses(signing, self.sign(forged, claims))
        assert refuses(
            signing, f"{encoded({'alg': 'none', 'kid': key.kid, 'typ': 'JWT'})}.{encoded(claims)}."
        )
        assert refuses(signing, "token")
        assert refuses(signing, "a.b.c")

    @pytest.mark.parametrize("secret", ["PEM", "modulus"])
    def test_a_public_key_is_no_secret_of_an_hmac(
        self, signing: SigningAPI, key: RSAKey, claims: dict[str, Any], secret: str
    ) -> None:
        public = key.as_dict(private=False)
        form = PublicFormat.SubjectPublicKeyInfo
        secrets = {
            "PEM": key.public_key.public_bytes(Encoding.PEM, form),
            "modulus": base64.urlsafe_b64decode(str(public["n"]) + "=="),
        }
        signed = f"{encoded({'alg': 'HS256', 'kid': key.kid, 'typ': 'JWT'})}.{encoded(claims)}"
        signature = hmac.digest(secrets[secret], signed.encode(), hashlib.sha256)
        assert refuses(signing, f"{signed}.{base64.urlsafe_b64encode(signature).rstrip(b'=').decode()}")

    def test_the_secret_key_of_our_own_tokens_signs_nothing_for_others(
        self, api: Api, signing: SigningAPI, claims: dict[str, Any]
    ) -> None:
        secret = load_keys(api.container.settings.keys_path, "HS256").signing_key
        assert isinstance(secret, OctKey)
        header = {"alg": "HS256", "kid": str(secret.kid), "typ": "JWT"}
        assert refuses(signing, jwt.encode(header, claims, secret))

    def test_our_access_tokens_are_no_statements(self, api: Api, signing: SigningAPI) -> None:
        token = str(api.person().token)
        assert refuses(signing, token, audience=None)
        assert refuses(signing, token, audience=signing.issuer)

    def test_a_statement_opens_nothing_here(self, api: Api, signing: SigningAPI) -> None:
        person = api.person(admin=True)
        token = signing.sign({}, audience=CLIENT, subject=person.id, lifetime=60)
        for headers in ({"X-Access-Token": token}, {"Authorization": f"Bearer {token}"}):
            response = api.get(SOMEWHERE, headers=headers)
            assert (response.status_code, error_code(response)) == (401, "error.token-invalid")

    def test_a_statement_about_this_server_that_the_key_has_signed_opens_nothing(
        self, api: Api, signing: SigningAPI, key: RSAKey
    ) -> None:
        person = api.person()
        ours = jws.extract_compact(str(person.token).encode())
        assert api.get(SOMEWHERE, by=person).status_code == 200
        claims = json.loads(ours.payload)
        # The asymmetric key is in the ring of our own tokens, so the type alone is the wall.
        assert api.get(SOMEWHERE, by=Person("", "", self.sign(key, claims))).status_code == 401
        assert refuses(signing, self.sign(key, claims), audience=None)


class TestKeys:
    """A server with a plugin that signs has an asymmetric key, next to its own."""

    def test_a_new_file_has_both_keys(self, api: Api) -> None:
        keys = load_keys(api.container.settings.keys_path, "HS256").keys
        assert sorted(map(key_algorithm, keys)) == ["HS256", "RS256"]

    @pytest.mark.config({"tokens": {"algorithm": "RS256"}})
    def test_one_key_does_both_if_it_is_asymmetric(self, api: Api, signing: SigningAPI) -> None:
        keys = load_keys(api.container.settings.keys_path, "RS256").keys
        assert list(map(key_algorithm, keys)) == ["RS256"]
        token = signing.sign({}, audience=CLIENT, subject=api.person().id, lifetime=60)
        assert not refuses(signing, token)
        assert api.get(SOMEWHERE, by=Person("", "", token)).status_code == 401

    def test_processes_that_start_later_add_no_key(self, api: Api) -> None:
        ensure_key(api.container.settings.keys_path, "RS256", api.clock.now())
        assert len(load_keys(api.container.settings.keys_path, "HS256").keys) == 2

    def test_a_file_without_one_refuses_the_start_with_the_command(
        self, tmp_path: Path, database_url: str
    ) -> None:
        own = tmp_path / "own"
        own.mkdir()
        create_key_file(own / "keys.json", "HS256", 0)
        tokens = {"tokens": {"keys_file": str(own / "keys.json")}}
        config = write_api_config(own, database_url, merged(signing_plugin(own), tokens))
        with pytest.raises(ConfigurationError, match="keys rotate --algorithm RS256"):
            create_app(load(config, {}))
        rotate(own / "keys.json", "RS256", 0)
        get_container(create_app(load(config, {}))).close()

    @pytest.mark.parametrize("typ", ["at+jwt", "application/at+jwt", "strongroom-audit", "", 7, "a b"])
    def test_a_type_of_the_server_is_refused(self, tmp_path: Path, database_url: str, typ: Any) -> None:
        tables = signing_plugin(tmp_path)
        plugin = tmp_path / "plugins.d" / "signer.py"
        plugin.write_text(plugin.read_text().replace('"logout+jwt"', repr(typ)))
        config = write_api_config(tmp_path, database_url, tables)
        with pytest.raises(ConfigurationError, match=r'plugin "signer".*from register_token_types'):
            create_app(load(config, {}))
