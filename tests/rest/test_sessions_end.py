"""The ends of sessions that no refresh moves: their maximal age, and an operator."""

from pathlib import Path
from typing import Any

import pytest
from joserfc import jws, jwt
from tests.support.api import Api, Person, error_code
from tests.support.audit import reading_sealed
from tests.support.commands import run_command
from tests.support.config import write_api_config

from strongroom.identity.sessions.service import AuthorizationService
from strongroom.testing.clock import HOUR, MINUTE

DAY = 24 * HOUR


pytestmark = pytest.mark.config({"tokens": {"session_lifetime_days": 3}})


def refresh(api: Api, token: str) -> Any:
    return api.post("/authorizations/refresh", {"refreshToken": token})


def test_a_session_that_is_refreshed_every_day_ends_all_the_same(api: Api) -> None:
    person = api.person()
    issued = api.log_in(person.email).json
    for _ in range(2):
        api.clock.advance(DAY)
        issued = refresh(api, issued["refreshToken"]).json
    api.clock.advance(DAY - 10 * MINUTE)
    last = refresh(api, issued["refreshToken"])
    assert last.status_code == 200
    # Neither of its tokens outlives the session.
    assert last.json["expiresAt"] == last.json["refreshExpiresAt"]
    api.clock.advance(10 * MINUTE - 1000)
    token = {"Authorization": f"Bearer {last.json['accessToken']}"}
    assert api.get("/users/me", headers=token).status_code == 200
    api.clock.advance(1000)
    assert api.get("/users/me", headers=token).status_code == 401
    refused = refresh(api, last.json["refreshToken"])
    assert (refused.status_code, error_code(refused)) == (401, "error.token-invalid")
    assert api.log_in(person.email).status_code == 200


def strongroom(folder: Path, database_url: str, *arguments: str) -> Any:
    """Run a command on the database of the API."""
    return run_command("--config", str(write_api_config(folder, database_url)), *arguments)


def revocations(api: Api) -> list[tuple[str | None, str | None, str]]:
    statement = (
        "SELECT actor_id, target_id, details FROM audit_events"
        " WHERE action = 'authorization.revoke-all' ORDER BY sequence"
    )
    with reading_sealed(api.container.database) as connection:
        return [tuple(row) for row in connection.exec_driver_sql(statement)]


def test_an_operator_ends_the_sessions_of_one_user_or_of_all(
    api: Api, tmp_path: Path, database_url: str
) -> None:
    people = [api.person() for _ in range(3)]
    issued = api.log_in(people[2].email).json

    def statuses() -> list[int]:
        return [api.get("/users/me", by=person).status_code for person in people]

    one = strongroom(tmp_path, database_url, "users", "end-sessions", "--user", people[0].id)
    assert (one.returncode, one.stdout) == (0, "1 logins ended\n")
    assert statuses() == [401, 200, 200]
    every = strongroom(tmp_path, database_url, "users", "end-sessions", "--all")
    assert (every.returncode, every.stdout) == (0, "3 logins ended\n")
    assert statuses() == [401, 401, 401]
    assert refresh(api, issued["refreshToken"]).status_code == 401
    assert [(actor, target) for actor, target, _ in revocations(api)] == [
        (None, people[0].id),
        (None, None),
    ]
    assert api.log_in(people[0].email).status_code == 200


@pytest.mark.parametrize(
    "arguments", [(), ("--all", "--user", "x"), ("--user", "01a1fd35-41a4-7159-832d-f9df39268981")]
)
def test_an_operator_says_whose_sessions_end(
    api: Api, tmp_path: Path, database_url: str, arguments: tuple[str, ...]
) -> None:
    person = api.person()
    ended = strongroom(tmp_path, database_url, "users", "end-sessions", *arguments)
    assert ended.returncode != 0
    assert "Traceback" not in ended.stderr
    assert api.get("/users/me", by=person).status_code == 200


@pytest.mark.parametrize(
    "changes",
    [
        {"exp": float("inf")},
        {"exp": float("nan")},
        {"exp": True},
        {"exp": "4102444800"},
        {"exp": None},
        {"jti": None},
        {"jti": 7},
        {"sub": None},
        {"nbf": 4102444800},
        {"nbf": "now"},
        {"nbf": float("inf")},
        {"iss": None, "aud": None},
    ],
    ids=lambda changes: " ".join(f"{name} {str(value)[:9]}" for name, value in changes.items()),
)
def test_a_signed_token_with_odd_claims_is_401(api: Api, changes: dict[str, Any]) -> None:
    person = api.person()
    signer = api.container.get(AuthorizationService)._signer
    ring = signer._keys.ring()
    claims = dict(jwt.decode(str(person.token), ring.signing_key, algorithms=["HS256"]).claims)
    header = {"alg": "HS256", "kid": ring.signing_key.kid, "typ": "at+jwt"}
    good = jwt.encode(header, {**claims, "nbf": claims["iat"]}, ring.signing_key)
    assert api.get("/users/me", by=Person(person.id, "", good)).status_code == 200
    token = jwt.encode(header, {**claims, **changes}, ring.signing_key)
    for path in ("/users/me", "/api/v1/tenants"):
        answer = api.get(path, headers={"X-Access-Token": token})
        assert (answer.status_code, error_code(answer)) == (401, "error.token-invalid")
    assert api.delete(f"/authorizations/{token}").status_code == 404


def test_a_signed_token_of_deep_claims_is_401(api: Api) -> None:
    ring = api.container.get(AuthorizationService)._signer._keys.ring()
    header = {"alg": "HS256", "kid": ring.signing_key.kid, "typ": "at+jwt"}
    token = jws.serialize_compact(header, '{"x":' + "[" * 1400 + "]" * 1400 + "}", ring.signing_key)
    answer = api.get("/users/me", headers={"X-Access-Token": token})
    assert (answer.status_code, error_code(answer)) == (401, "error.token-invalid")
