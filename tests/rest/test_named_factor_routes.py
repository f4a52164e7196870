"""The routes that are named after a factor: authenticator apps, passkeys and recovery codes."""

from types import SimpleNamespace
from typing import Any

import pyotp
import pytest
from tests.support.api import Api, Json, Person, error_code
from tests.support.passkeys import ORIGIN

from strongroom.testing.clock import MINUTE, ManualClock
from strongroom_factor_totp import plugin
from strongroom_simulators.passkeys.authenticator import SoftwareAuthenticator

TOTP = "/users/me/totp"
PASSKEYS = "/users/me/passkeys"


pytestmark = pytest.mark.config(
    {"plugins": {"enabled": ["storage_local", "factor_totp", "login_passkey"]}}
)


@pytest.fixture(autouse=True)
def time_of_the_test(clock: ManualClock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plugin, "time", SimpleNamespace(time=lambda: clock.now() / 1000))


@pytest.fixture
def alice(api: Api) -> Person:
    return api.person()


def code(api: Api, secret: str) -> str:
    return pyotp.TOTP(secret).generate_otp(api.clock.now() // 30_000)


def add_app(api: Api, person: Person) -> tuple[str, list[str]]:
    """Enrol an app; return its secret and the recovery codes."""
    begun = api.post(TOTP, by=person)
    assert begun.status_code == 201, begun.text
    assert begun.json.keys() == {"secret", "uri", "qr"}
    assert begun.json["secret"] in begun.json["uri"]
    assert begun.json["qr"].startswith("<svg")
    done = api.post(f"{TOTP}/confirmation", {"code": code(api, begun.json["secret"])}, by=person)
    assert done.status_code == 200, done.text
    return begun.json["secret"], done.json["recoveryCodes"]


def add_passkey(api: Api, person: Person, name: str = "Phone") -> tuple[SoftwareAuthenticator, Json]:
    challenge = api.post("/users/me/passkey-challenges", by=person)
    assert challenge.status_code == 201, challenge.text
    assert challenge.json.keys() == {"id", "publicKey", "expiresAt"}
    device = SoftwareAuthenticator(ORIGIN)
    body = {
        "challengeId": challenge.json["id"],
        "name": name,
        "credential": device.create(challenge.json["publicKey"]),
    }
    added = api.post(PASSKEYS, body, by=person)
    assert added.status_code == 201, added.text
    return device, added.json


def log_in_by_passkey(api: Api, device: SoftwareAuthenticator) -> Any:
    challenge = api.post("/passkey-challenges", {})
    assert challenge.status_code == 201, challenge.text
    assert challenge.json.keys() == {"id", "publicKey", "expiresAt"}
    credential = device.get(challenge.json["publicKey"])
    body = {"passkey": {"challengeId": challenge.json["id"], "credential": credential}}
    return api.post("/authorizations", body)


def kinds(api: Api, person: Person) -> list[str]:
    answer = api.get("/users/me/factors", by=person).json
    assert answer.keys() >= {"success", "meta", "data", "included"}
    assert all(
        {"id", "kind", "name", "createdAt", "lastUsedAt"} <= each.keys() for each in answer["data"]
    )
    return sorted(each["kind"] for each in answer["data"])


def test_an_app_brings_recovery_codes_and_is_required_from_then_on(api: Api, alice: Person) -> None:
    secret, codes = add_app(api, alice)
    assert len(set(codes)) == 10
    assert kinds(api, alice) == ["recovery-code", "totp"]
    challenge = api.log_in(alice.email).json["challenge"]
    assert challenge["methods"] == ["recovery-code", "totp"]
    api.clock.advance(30_000)
    answer = {"challenge": {"id": challenge["id"], "totp": code(api, secret)}}
    assert api.post("/authorizations", answer).status_code == 200
    challenge = api.log_in(alice.email).json["challenge"]
    answer = {"challenge": {"id": challenge["id"], "recoveryCode": codes[0]}}
    assert api.post("/authorizations", answer).status_code == 200


def test_a_wrong_code_leaves_the_app_open_and_names_the_field(api: Api, alice: Person) -> None:
    secret = api.post(TOTP, {"name": "Phone"}, by=alice).json["secret"]
    for wrong in ("", "abc", code(api, pyotp.random_base32(64))):
        refused = api.post(f"{TOTP}/confirmation", {"code": wrong}, by=alice)
        assert refused.status_code == 400
        assert refused.json["error"]["details"][0]["field"] == "code"
    assert kinds(api, alice) == []
    right = {"code": code(api, secret)}
    assert api.post(f"{TOTP}/confirmation", right, by=alice).status_code == 200
    again = api.post(f"{TOTP}/confirmation", right, by=alice)
    assert (again.status_code, error_code(again)) == (401, "error.challenge-invalid")


def test_a_confirmation_belongs_to_the_user_who_has_begun(api: Api, alice: Person) -> None:
    secret = api.post(TOTP, by=alice).json["secret"]
    body, bob = {"code": code(api, secret)}, api.person()
    assert error_code(api.post(f"{TOTP}/confirmation", body, by=bob)) == "error.challenge-invalid"
    of_alice = f"/users/{alice.id}/totp"
    assert api.post(of_alice, by=bob).status_code == 403
    assert api.post(f"{of_alice}/confirmation", body, by=bob).status_code == 403
    assert api.delete(of_alice, by=bob).status_code == 403
    assert api.post(f"{of_alice}/confirmation", body, by=alice).status_code == 200


def test_another_app_replaces_the_first_and_keeps_the_recovery_codes(api: Api, alice: Person) -> None:
    add_app(api, alice)
    api.clock.advance(30_000)
    _, codes = add_app(api, alice)
    assert codes == []
    assert kinds(api, alice) == ["recovery-code", "totp"]


def test_the_removal_of_the_app_takes_the_recovery_codes_with_it(api: Api, alice: Person) -> None:
    add_app(api, alice)
    assert api.delete(TOTP, by=alice).status_code == 200
    assert kinds(api, alice) == []
    assert api.delete(TOTP, by=alice).status_code == 404


def test_new_recovery_codes_void_the_old_ones(api: Api, alice: Person) -> None:
    path = "/users/me/recovery-codes"
    alone = api.post(path, by=alice)
    assert (alone.status_code, alone.json["error"]["details"][0]["code"]) == (400, "backup")
    _, old = add_app(api, alice)
    made = api.post(path, by=alice)
    assert made.status_code == 201, made.text
    new = made.json["recoveryCodes"]
    assert len(set(new)) == 10
    for codes, status in ((old, 401), (new, 200)):
        challenge = api.log_in(alice.email).json["challenge"]
        answer = {"challenge": {"id": challenge["id"], "recoveryCode": codes[0]}}
        assert api.post("/authorizations", answer).status_code == status


def test_a_passkey_is_added_listed_renamed_and_removed(api: Api, alice: Person) -> None:
    _, added = add_passkey(api, alice)
    assert (added["name"], added["kind"], added["lastUsedAt"]) == ("Phone", "passkey", None)
    path = f"{PASSKEYS}/{added['id']}"
    listed = api.get(PASSKEYS, by=alice).json
    assert (listed["meta"]["totalCount"], listed["data"]) == (1, [added])
    assert api.get(path, by=alice).json == added
    renamed = api.patch(path, {"name": "Key"}, by=alice)
    assert (renamed.status_code, renamed.json["name"]) == (200, "Key")
    assert api.delete(path, by=alice).status_code == 200
    assert api.delete(path, by=alice).status_code == 404
    assert api.get(path, by=alice).status_code == 404


def test_a_passkey_logs_in_alone_and_once_per_challenge(api: Api, alice: Person) -> None:
    device, _ = add_passkey(api, alice)
    issued = log_in_by_passkey(api, device)
    assert (issued.status_code, issued.json["user"]["id"]) == (200, alice.id)
    challenge = api.post("/passkey-challenges", {}).json
    credential = device.get(challenge["publicKey"])
    body = {"passkey": {"challengeId": challenge["id"], "credential": credential}}
    assert [api.post("/authorizations", body).status_code for _ in range(2)] == [200, 401]
    stranger = SoftwareAuthenticator(ORIGIN)
    stranger.create(api.post("/users/me/passkey-challenges", by=api.person()).json["publicKey"])
    assert log_in_by_passkey(api, stranger).status_code == 401


@pytest.mark.parametrize(
    "body",
    [
        {"passkey": {}},
        {"passkey": None},
        {"passkey": {"challengeId": "x"}},
        {"passkey": {"challengeId": 1, "credential": {}}},
        {"passkey": {"challengeId": "x", "credential": {}, "more": 1}},
        {"passkey": {"challengeId": "x", "credential": {}}, "username": "alice@example.com"},
        {
            "passkey": {"challengeId": "x", "credential": {}},
            "riddle": {"challengeId": "x", "credential": {}},
        },
        [],
    ],
)
def test_other_forms_of_the_login_are_refused(api: Api, body: Any) -> None:
    assert api.post("/authorizations", body).status_code == 400


def test_routes_of_passkeys_do_not_reach_other_factors_or_users(api: Api, alice: Person) -> None:
    add_app(api, alice)
    app = next(
        each for each in api.get("/users/me/factors", by=alice).json["data"] if each["kind"] == "totp"
    )
    path = f"{PASSKEYS}/{app['id']}"
    assert api.get(path, by=alice).status_code == 404
    assert api.patch(path, {"name": "x"}, by=alice).status_code == 404
    assert api.delete(path, by=alice).status_code == 404
    assert kinds(api, alice) == ["recovery-code", "totp"]
    bob, admin = api.person(), api.person(admin=True)
    of_alice = f"/users/{alice.id}/passkeys"
    assert api.get(of_alice, by=bob).status_code == 403
    assert api.get(of_alice, by=admin).status_code == 200
    assert api.post(f"/users/{alice.id}/passkey-challenges", by=admin).status_code == 403


def test_every_change_needs_a_fresh_proof(api: Api, alice: Person) -> None:
    _, passkey = add_passkey(api, alice)
    add_app(api, alice)
    api.clock.advance(20 * MINUTE)
    path = f"{PASSKEYS}/{passkey['id']}"
    answers = [
        api.post(TOTP, by=alice),
        api.delete(TOTP, by=alice),
        api.post("/users/me/recovery-codes", by=alice),
        api.post("/users/me/passkey-challenges", by=alice),
        api.patch(path, {"name": "x"}, by=alice),
        api.delete(path, by=alice),
    ]
    assert {error_code(answer) for answer in answers} == {"error.step-up-required"}
