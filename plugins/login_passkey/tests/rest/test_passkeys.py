"""Passkeys over REST: enrolment, login alone and after another proof, step-up, and removal."""

import json

import pytest
from sqlalchemy import text
from tests.support.api import PASSWORD, Answer, Api, Person, claims_of, error_code
from tests.support.passkeys import (
    ORIGIN,
    PASSKEYS,
    begin,
    challenged,
    confirm,
    enrol,
    log_in,
    meet,
    new_challenge,
)

from strongroom.assembly.features import core_events
from strongroom.identity.sessions.factor_challenges import LIFETIME, TRIES
from strongroom.identity.sessions.factor_verification import DAILY_TRIES
from strongroom.plugin_api.events import SERVER
from strongroom.testing.clock import MINUTE
from strongroom_simulators.passkeys.authenticator import Algorithm, Faults, SoftwareAuthenticator

pytestmark = pytest.mark.config(PASSKEYS)


def assert_refused(answer: Answer) -> None:
    assert (answer.status_code, error_code(answer)) == (401, "error.invalid-credentials")


def test_a_passkey_logs_in_without_a_name_and_without_a_password(api: Api) -> None:
    person = api.person()
    device = enrol(api, person)
    issued = log_in(api, device)
    assert issued.status_code == 200, issued.text
    assert issued.json["user"]["id"] == person.id
    claims = claims_of(issued.json["accessToken"])
    assert (claims["acr"], claims["amr"]) == ("phr", ["swk", "user"])
    person.token = issued.json["accessToken"]
    login = api.get("/users/me/authorizations", by=person).json["data"][0]
    assert (login["method"], login["acr"]) == ("passkey", "phr")


def test_a_key_that_stays_in_its_device_is_hardware(api: Api) -> None:
    device = enrol(api, api.person(), SoftwareAuthenticator(ORIGIN, is_synced=False))
    for _ in range(2):
        issued = log_in(api, device)
        assert issued.status_code == 200, issued.text
    assert claims_of(issued.json["accessToken"])["amr"] == ["hwk", "user"]


@pytest.mark.parametrize("algorithm", [-7, -8, -257])
def test_each_common_algorithm_works(api: Api, algorithm: Algorithm) -> None:
    device = enrol(api, api.person(), SoftwareAuthenticator(ORIGIN, algorithm=algorithm))
    assert log_in(api, device).status_code == 200


def test_a_name_accepts_only_the_passkeys_of_its_user(api: Api) -> None:
    alice, bob = api.person(), api.person()
    device, other = enrol(api, alice), enrol(api, bob)
    assert log_in(api, device, username=alice.email).status_code == 200
    assert_refused(log_in(api, other, username=alice.email))
    assert_refused(log_in(api, device, username="nobody@example.com"))
    known, unknown = (
        new_challenge(api, name)["publicKey"] for name in (alice.email, "nobody@example.com")
    )
    assert known.pop("challenge") != unknown.pop("challenge")
    assert known == unknown
    assert known["allowCredentials"] == []


def test_a_password_needs_the_passkey_as_the_second_factor(api: Api) -> None:
    person = api.person()
    device = enrol(api, person)
    challenge = challenged(api.log_in(person.email))
    assert challenge["methods"] == ["passkey"]
    allowed = [each["id"] for each in challenge["publicKey"]["allowCredentials"]]
    answer = device.get(challenge["publicKey"])
    assert allowed == [answer["id"]]
    issued = meet(api, challenge, answer)
    assert issued.status_code == 200, issued.text
    claims = claims_of(issued.json["accessToken"])
    assert (claims["acr"], claims["amr"]) == ("phr", ["pwd", "swk", "user", "mfa"])
    ended = meet(api, challenge, answer)
    assert (ended.status_code, error_code(ended)) == (401, "error.challenge-invalid")


def test_a_passkey_renews_the_proof_of_a_login(api: Api) -> None:
    person = api.person()
    device = enrol(api, person)
    person.token = log_in(api, device).json["accessToken"]
    api.clock.advance(20 * MINUTE)
    path = "/users/me/factors"
    refused = api.post(path, {"kind": "passkey"}, by=person)
    assert (refused.status_code, error_code(refused)) == (401, "error.step-up-required")
    challenge = challenged(api.post("/authorizations/current/step-up", {}, by=person))
    body = {"challenge": {"id": challenge["id"], "passkey": device.get(challenge["publicKey"])}}
    renewed = api.post("/authorizations/current/step-up", body, by=person)
    assert renewed.status_code == 200, renewed.text
    assert claims_of(renewed.json["accessToken"])["acr"] == "phr"
    assert api.post(path, {"kind": "passkey"}, by=person).status_code == 201


def test_the_options_ask_for_what_the_checks_require(api: Api) -> None:
    person = api.person()
    device = enrol(api, person)
    options = begin(api, person)["shown"]["publicKey"]
    assert options["rp"] == {"id": "files.example.com", "name": "Strongroom"}
    assert options["attestation"] == "none"
    assert options["authenticatorSelection"] == {
        "residentKey": "required",
        "requireResidentKey": True,
        "userVerification": "required",
    }
    assert [each["alg"] for each in options["pubKeyCredParams"]] == [-8, -7, -257]
    held = log_in(api, device)
    assert held.status_code == 200
    credential = device.credentials[0]
    assert len(credential.user_handle) == 64
    assert options["user"]["id"] == summary(api, person)["userId"]
    assert options["user"]["name"] == person.email
    assert [each["id"] for each in options["excludeCredentials"]] == (
        summary(api, person)["allAcceptedCredentialIds"]
    )
    assert new_challenge(api)["publicKey"]["userVerification"] == "required"


def summary(api: Api, person: Person) -> dict[str, object]:
    shown: dict[str, object] = api.get("/users/me/factors", by=person).json["shown"]["passkey"]
    return shown


def test_the_user_handle_is_the_same_for_ever(api: Api) -> None:
    person = api.person()
    first = begin(api, person)["shown"]["publicKey"]["user"]["id"]
    enrol(api, person)
    factor = api.get("/users/me/factors", by=person).json["data"][0]
    api.delete(f"/users/me/factors/{factor['id']}", by=person)
    assert begin(api, person)["shown"]["publicKey"]["user"]["id"] == first
    assert begin(api, api.person())["shown"]["publicKey"]["user"]["id"] != first
    assert person.id not in json.dumps(begin(api, person)["shown"])


def test_passkeys_have_names_and_are_renamed_and_removed(api: Api) -> None:
    person = api.person()
    phone, laptop = enrol(api, person, name="Phone"), enrol(api, person, name="Laptop")
    factors = {each["name"]: each for each in api.get("/users/me/factors", by=person).json["data"]}
    assert factors["Phone"]["lastUsedAt"] is not None
    path = f"/users/me/factors/{factors['Phone']['id']}"
    renamed = api.patch(path, {"name": "Old phone"}, by=person)
    assert renamed.json["factor"]["name"] == "Old phone"
    assert log_in(api, phone).status_code == 200
    assert api.patch(f"{path}x", {"name": "x"}, by=person).status_code == 404
    removed = api.delete(path, by=person)
    left = removed.json["shown"]["passkey"]
    assert left["allAcceptedCredentialIds"] == [left["credentialIds"][factors["Laptop"]["id"]]]
    assert_refused(log_in(api, phone))
    assert log_in(api, laptop).status_code == 200
    # What the removed one has proven counts no longer.
    again = api.patch(path, {"name": "x"}, by=person)
    assert (again.status_code, error_code(again)) == (401, "error.step-up-required")
    assert api.patch(path, {"name": "x"}, by=api.person()).status_code == 404
    of_person = f"/users/{person.id}/factors/{factors['Laptop']['id']}"
    assert api.patch(of_person, {"name": "x"}, by=api.person()).status_code == 403


def test_only_a_fresh_proof_changes_passkeys(api: Api) -> None:
    person = api.person()
    enrol(api, person)
    factor = api.get("/users/me/factors", by=person).json["data"][0]
    api.clock.advance(11 * MINUTE)
    path = f"/users/me/factors/{factor['id']}"
    for answer in (
        api.post("/users/me/factors", {"kind": "passkey"}, by=person),
        api.patch(path, {"name": "x"}, by=person),
        api.delete(path, by=person),
    ):
        assert (answer.status_code, error_code(answer)) == (401, "error.step-up-required")


def test_a_wrong_proof_renames_no_passkey(api: Api) -> None:
    person = api.person()
    enrol(api, person)
    factor = api.get("/users/me/factors", by=person).json["data"][0]
    wrong = {"X-Current-Password": "Wrong1Horse"}
    answer = api.patch(f"/users/me/factors/{factor['id']}", {"name": "x"}, by=person, headers=wrong)
    assert (answer.status_code, error_code(answer)) == (400, "error.wrong-password")


def test_nobody_enrols_a_passkey_twice(api: Api) -> None:
    person, other = api.person(), api.person()
    device = enrol(api, person)
    taken = device.credentials[0].id
    enrolment = begin(api, other)
    answer = SoftwareAuthenticator(ORIGIN).create(
        enrolment["shown"]["publicKey"], Faults(credential_id=taken)
    )
    refused = confirm(api, other, enrolment, answer)
    assert (refused.status_code, error_code(refused)) == (400, "error.factor-invalid")
    assert log_in(api, device).json["user"]["id"] == person.id


def test_the_last_login_option_stays(api: Api) -> None:
    person = api.person(username="ann_lee")
    enrol(api, person)
    factor = api.get("/users/me/factors", by=person).json["data"][0]
    path = f"/users/me/factors/{factor['id']}"
    # The remaining name has no password, so no login accepts it.
    forgotten = ("passwords WHERE user_id = :id", "credentials WHERE user_id = :id AND kind = 'email'")
    with api.container.base.database.write() as connection:
        for each in forgotten:
            connection.execute(text(f"DELETE FROM {each}"), {"id": person.id})
    refused = api.delete(path, by=person)
    assert (refused.status_code, error_code(refused)) == (409, "error.last-contact")
    enrol(api, person)
    assert api.delete(path, by=person).status_code == 200


def test_a_challenge_permits_one_answer_and_ends(api: Api) -> None:
    device = enrol(api, api.person())
    challenge = new_challenge(api)
    right = device.get(challenge["publicKey"])
    assert_refused(meet(api, challenge, device.get(challenge["publicKey"], Faults(rp_id="x"))))
    ended = meet(api, challenge, right)
    assert (ended.status_code, error_code(ended)) == (401, "error.challenge-invalid")
    challenge = new_challenge(api)
    api.clock.advance(LIFETIME)
    late = meet(api, challenge, device.get(challenge["publicKey"]))
    assert (late.status_code, error_code(late)) == (401, "error.challenge-invalid")


def test_a_challenge_is_for_one_device_and_one_purpose(api: Api) -> None:
    person = api.person()
    device = enrol(api, person)
    challenge = new_challenge(api, headers={"X-Device-Id": "phone"})
    assert meet(api, challenge, device.get(challenge["publicKey"])).status_code == 401
    body = {"challenge": {"id": new_challenge(api)["id"], "passkey": {}}}
    other = api.post("/authorizations/current/step-up", body, by=person)
    assert (other.status_code, error_code(other)) == (401, "error.challenge-invalid")


def test_strangers_cannot_use_up_the_tries_of_a_user(api: Api) -> None:
    person = api.person()
    device, forger = enrol(api, person), SoftwareAuthenticator(ORIGIN)
    begun = begin(api, person)["shown"]["publicKey"]
    forger.create({**begun, "excludeCredentials": []})
    forged = Faults(signed_by=forger)
    for _ in range(DAILY_TRIES + TRIES):
        assert_refused(log_in(api, device, forged))
    challenge = challenged(api.log_in(person.email))
    assert meet(api, challenge, device.get(challenge["publicKey"])).status_code == 200


def test_an_unknown_passkey_a_wrong_signature_and_a_suspended_user_look_alike(api: Api) -> None:
    person, stranger = api.person(), SoftwareAuthenticator(ORIGIN)
    device = enrol(api, person)
    stranger.create(begin(api, person)["shown"]["publicKey"])
    answers = [
        log_in(api, stranger),
        log_in(api, device, Faults(edit_signature=lambda signature: signature[::-1])),
    ]
    api.post(f"/users/{person.id}/suspension", by=api.person(admin=True))
    answers.append(log_in(api, device))
    for answer in answers:
        assert_refused(answer)
    bodies = [{**answer.json["error"], "requestId": None} for answer in answers]
    assert bodies[0] == bodies[1] == bodies[2]


def events_of(api: Api, name: str) -> list[dict[str, object]]:
    """Return the data of the events of a type, which the plugin has registered."""
    assert name not in core_events().types
    log = api.container.events.log
    return [dict(event.data) for event in log.read(SERVER, 0, 1000) if event.type == name]


def test_a_copied_key_is_refused_reported_and_kept(api: Api) -> None:
    person = api.person()
    device = enrol(api, person, SoftwareAuthenticator(ORIGIN, is_synced=False))
    copy = device.clone()
    assert log_in(api, device).status_code == 200
    assert_refused(log_in(api, copy))
    message = api.outbox()[-1]
    assert message["recipient"] == person.email
    assert "a copy of a passkey" in message["text"]
    log = api.get("/audit-events?action=passkey.counter-regressed", by=api.person(admin=True)).json[
        "data"
    ]
    assert [event["target"]["id"] for event in log] == [person.id]
    assert events_of(api, "passkey.counter_regressed") == [{"userId": person.id, "actor": None}]
    assert log_in(api, device).status_code == 200
    forged = SoftwareAuthenticator(ORIGIN, is_synced=False)
    forged.create(begin(api, person)["shown"]["publicKey"])
    # Without the key, an attacker cannot raise an alarm.
    assert_refused(log_in(api, copy, Faults(signed_by=forged)))
    log = api.get("/audit-events?action=passkey.counter-regressed", by=api.person(admin=True)).json[
        "data"
    ]
    assert len(log) == 1


def test_a_password_that_is_right_counts_with_the_old_answer_no_more(api: Api) -> None:
    person = api.person()
    device = enrol(api, person)
    first, second = (challenged(api.log_in(person.email, PASSWORD)) for _ in range(2))
    answer = device.get(first["publicKey"])
    assert_refused(meet(api, second, answer))
    assert meet(api, first, answer).status_code == 200


def test_browsers_find_the_related_origins(api: Api) -> None:
    assert api.get("/.well-known/webauthn").json == {"origins": [ORIGIN]}
    missing = api.get("/.well-known/passkey-endpoints")
    assert (missing.status_code, error_code(missing)) == (404, "error.passkey-page-not-configured")
