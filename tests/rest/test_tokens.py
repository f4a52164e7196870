"""Access tokens of either algorithm: presenting, forging, expiring and revoking them."""

import base64
import json
from collections.abc import Callable
from typing import Any

import pytest
from joserfc import jwt
from joserfc.jwk import OctKey, RSAKey
from tests.support.api import Api, error_code, token_id
from tests.support.audit import reading_sealed
from tests.support.config import Table

from strongroom.testing.clock import MINUTE, ManualClock

SOMEWHERE = "/api/v1/tenants"
OTHER_ALGORITHM = {"HS256": "RS256", "RS256": "HS256"}


@pytest.fixture(params=["HS256", "RS256"])
def algorithm(request: pytest.FixtureRequest) -> str:
    """The algorithm in use; a test that sends requests runs with both."""
    return str(request.param)


@pytest.fixture
def config_changes(algorithm: str) -> Table:
    return {"tokens": {"algorithm": algorithm}}


def parts(token: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the header and the claims of a token, unverified."""
    header, claims, _ = token.split(".")
    decoded = [json.loads(base64.urlsafe_b64decode(part + "==")) for part in (header, claims)]
    return decoded[0], decoded[1]


@pytest.mark.rule("5.1")
def test_a_token_has_the_claims_of_rfc_9068(api: Api, algorithm: str) -> None:
    person = api.person()
    header, claims = parts(person.token or "")
    assert header["typ"] == "at+jwt"
    assert header["alg"] == algorithm
    assert header["kid"]
    assert {"iss", "aud", "sub", "client_id", "iat", "exp", "jti"} <= claims.keys()
    assert claims["sub"] == person.id
    assert claims["iss"] == "https://files.example.com"
    assert claims["exp"] - claims["iat"] == 1800
    assert claims["auth_time"] == claims["iat"]
    assert (claims["acr"], claims["amr"]) == ("urn:strongroom:single", ["pwd"])


@pytest.mark.parametrize("name", ["Authorization", "X-Access-Token"])
@pytest.mark.rule("5.3")
def test_a_token_is_presented_by_either_header(api: Api, name: str) -> None:
    token = api.person().token
    value = f"Bearer {token}" if name == "Authorization" else str(token)
    assert api.get(SOMEWHERE, headers={name: value}).status_code == 200


def test_a_token_in_the_query_is_refused_as_an_unknown_parameter(api: Api) -> None:
    token = api.person().token
    assert api.get(f"{SOMEWHERE}?access_token={token}").status_code == 401


def test_two_different_tokens_in_one_request_are_400(api: Api) -> None:
    first, second = api.person(), api.person()
    response = api.get(SOMEWHERE, by=first, headers={"X-Access-Token": str(second.token)})
    assert (response.status_code, error_code(response)) == (400, "error.ambiguous-token")
    assert api.get(SOMEWHERE, by=first, headers={"X-Access-Token": str(first.token)}).status_code == 200


@pytest.mark.rule("7 401", "5.5")
def test_without_a_token_the_answer_is_401_with_a_challenge(api: Api) -> None:
    response = api.get(SOMEWHERE)
    assert (response.status_code, error_code(response)) == (401, "error.token-required")
    assert response.headers["WWW-Authenticate"].startswith("Bearer")


@pytest.mark.rule("5.4")
def test_a_token_expires(api: Api, clock: ManualClock) -> None:
    person = api.person()
    clock.advance(30 * MINUTE - 1000)
    assert api.get(SOMEWHERE, by=person).status_code == 200
    clock.advance(1000)
    assert error_code(api.get(SOMEWHERE, by=person)) == "error.token-invalid"


def encode(header: dict[str, Any], claims: object, signature: str = "") -> str:
    """Return a compact serialization with any signature."""
    encoded = [
        base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=").decode()
        for part in (header, claims)
    ]
    return ".".join([*encoded, signature])


Forgery = Callable[[dict[str, Any], dict[str, Any], str], str]

ANOTHER_KEY: dict[str, OctKey | RSAKey] = {
    "HS256": OctKey.generate_key(256),
    "RS256": RSAKey.generate_key(2048),
}

FORGERIES: dict[str, Forgery] = {
    "alg none": lambda h, c, s: encode({**h, "alg": "none"}, c),
    "alg none in capitals": lambda h, c, s: encode({**h, "alg": "NONE"}, c),
    "a longer hash": lambda h, c, s: encode({**h, "alg": h["alg"].replace("256", "512")}, c, s),
    "the other algorithm": lambda h, c, s: encode({**h, "alg": OTHER_ALGORITHM[h["alg"]]}, c, s),
    "no signature": lambda h, c, s: encode(h, c),
    "another user": lambda h, c, s: encode(h, {**c, "sub": "somebody"}, s),
    "a later end": lambda h, c, s: encode(h, {**c, "exp": c["exp"] + 1}, s),
    "another type": lambda h, c, s: encode({**h, "typ": "JWT"}, c, s),
    "a critical extension": lambda h, c, s: encode({**h, "crit": ["exp"]}, c, s),
    "an embedded key": lambda h, c, s: encode({**h, "jwk": {"kty": "oct", "k": "AAAA"}}, c, s),
    "a key by URL": lambda h, c, s: encode({**h, "jku": "http://127.0.0.1/keys"}, c, s),
    "an unknown key": lambda h, c, s: encode({**h, "kid": "other"}, c, s),
    "a key id that is no text": lambda h, c, s: encode({**h, "kid": 7}, c, s),
    "a signature of another key": lambda h, c, s: jwt.encode(h, c, ANOTHER_KEY[h["alg"]]),
    "a signature of another key and algorithm": lambda h, c, s: jwt.encode(
        {**h, "alg": OTHER_ALGORITHM[h["alg"]]}, c, ANOTHER_KEY[OTHER_ALGORITHM[h["alg"]]]
    ),
    "not a token": lambda h, c, s: "token",
    "two dots": lambda h, c, s: "..",
    "not ASCII": lambda h, c, s: "tök.en.x",
    "claims that are no object": lambda h, c, s: encode(h, [], s),
    "an oversize token": lambda h, c, s: encode({**h}, {**c, "x": "y" * 9000}, s),
}


@pytest.mark.parametrize("name", FORGERIES)
def test_a_forged_token_is_401(api: Api, name: str) -> None:
    token = api.person().token or ""
    forged = FORGERIES[name](*parts(token), token.split(".")[2])
    headers = {"X-Access-Token": forged.encode().decode("latin-1")}
    response = api.get(SOMEWHERE, headers=headers)
    assert (response.status_code, error_code(response)) == (401, "error.token-invalid")


@pytest.mark.parametrize("reference", ["current", "jti", "token"])
@pytest.mark.rule("4.2 DELETE /authorizations/{accessToken}", "5.2")
def test_logging_out_destroys_the_token_at_once(api: Api, reference: str) -> None:
    person = api.person()
    name = {"current": "current", "jti": token_id(person.token), "token": person.token}[reference]
    response = api.delete(f"/authorizations/{name}", by=person)
    assert (response.status_code, response.json) == (200, {"success": True})
    assert error_code(api.get(SOMEWHERE, by=person)) == "error.token-invalid"


def test_the_holder_of_a_token_may_revoke_it_without_another(api: Api) -> None:
    person = api.person()
    assert api.delete(f"/authorizations/{person.token}").status_code == 200
    assert api.get(SOMEWHERE, by=person).status_code == 401


def test_one_logout_leaves_the_other_logins(api: Api) -> None:
    person = api.person()
    other = api.log_in(person.email).headers["X-Access-Token"]
    api.delete("/authorizations/current", by=person)
    assert api.get(SOMEWHERE, headers={"X-Access-Token": other}).status_code == 200


def test_users_cannot_end_the_login_of_another(api: Api) -> None:
    person, stranger = api.person(), api.person()
    response = api.delete(f"/authorizations/{token_id(person.token)}", by=stranger)
    assert (response.status_code, error_code(response)) == (404, "error.not-found")
    assert api.delete(f"/authorizations/{token_id(person.token)}").status_code == 404
    assert api.get(SOMEWHERE, by=person).status_code == 200


@pytest.mark.rule("5.2")
def test_an_administrator_ends_anybodys_login(api: Api) -> None:
    person, admin = api.person(), api.person(admin=True)
    assert api.delete(f"/authorizations/{token_id(person.token)}", by=admin).status_code == 200
    assert api.get(SOMEWHERE, by=person).status_code == 401


@pytest.mark.parametrize(
    "reference", ["nothing", "a.b.c", "current", "01a1fd35-41a4-7159-832d-f9df39268981-1"]
)
def test_ending_an_unknown_login_is_404(api: Api, reference: str) -> None:
    assert api.delete(f"/authorizations/{reference}").status_code == 404


def test_revocations_are_audited(api: Api) -> None:
    person = api.person()
    api.delete("/authorizations/current", by=person)
    with reading_sealed(api.container.database) as connection:
        statement = "SELECT actor_id, outcome FROM audit_events WHERE action = 'authorization.revoke'"
        assert connection.exec_driver_sql(statement).all() == [(person.id, "success")]
