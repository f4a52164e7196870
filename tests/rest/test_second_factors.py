"""Second factors: a right first proof alone does not log in a user with one, whatever the method."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pyotp
import pytest
from sqlalchemy import text
from tests.support.api import PASSWORD, Answer, Api, Json, Person, claims_of, error_code
from tests.support.config import Table
from tests.support.totp import App, enrol, meet, use_clock
from tests.support.wechat import Logins, WeChat

from strongroom.identity.sessions.factor_challenges import LIFETIME, TRIES
from strongroom.identity.sessions.factor_verification import DAILY_TRIES
from strongroom.testing.clock import MINUTE, ManualClock
from strongroom_factor_totp import plugin

DAY = 24 * 60 * MINUTE


@pytest.fixture
def config_changes(platform: WeChat) -> Table:
    config = platform.config("https://127.0.0.1")
    config["plugins"] = {"enabled": ["storage_local", "login_sms", "login_wechat", "factor_totp"]}
    config["login"]["methods"] = ["password", "sms", "wechat"]
    return config


@pytest.fixture(autouse=True)
def time_of_the_test(clock: ManualClock, monkeypatch: pytest.MonkeyPatch) -> None:
    use_clock(clock, monkeypatch)


def challenged(answer: Answer) -> Json:
    assert (answer.status_code, error_code(answer)) == (401, "error.second-factor-required")
    assert "accessToken" not in answer.json
    assert "X-Access-Token" not in answer.headers
    challenge: Json = answer.json["challenge"]
    return challenge


def recovery_codes(api: Api, person: Person) -> list[str]:
    begun = api.post("/users/me/factors", {"kind": "recovery-code"}, by=person)
    assert begun.status_code == 201, begun.text
    path = f"/users/me/factors/{begun.json['id']}/confirmation"
    codes: list[str] = api.post(path, {}, by=person).json["shown"]["recoveryCodes"]
    return codes


def step_up(api: Api, person: Person, code: str) -> None:
    challenge = challenged(api.post("/authorizations/current/step-up", {}, by=person))
    body = {"challenge": {"id": challenge["id"], "totp": code}}
    renewed = api.post("/authorizations/current/step-up", body, by=person)
    assert renewed.status_code == 200, renewed.text
    person.token = renewed.json["accessToken"]


def test_a_password_alone_does_not_log_in_who_has_a_second_factor(api: Api) -> None:
    person = api.person()
    app = enrol(api, person)
    challenge = challenged(api.log_in(person.email))
    assert challenge["methods"] == ["totp"]
    issued = meet(api, challenge, totp=app.next_code())
    assert issued.status_code == 200, issued.text
    claims = claims_of(issued.json["accessToken"])
    assert (claims["acr"], claims["amr"]) == ("urn:strongroom:mfa", ["pwd", "otp", "mfa"])
    refreshed = api.post("/authorizations/refresh", {"refreshToken": issued.json["refreshToken"]})
    again = claims_of(refreshed.json["accessToken"])
    assert [again[name] for name in ("acr", "amr", "auth_time")] == [
        claims[name] for name in ("acr", "amr", "auth_time")
    ]


def test_no_factor_that_names_no_user_is_a_first_proof(api: Api) -> None:
    refused = api.post("/authorizations/challenges", {})
    assert (refused.status_code, error_code(refused)) == (501, "error.not-implemented")


def test_an_sms_code_alone_does_not_log_in_either(api: Api) -> None:
    mobile = "+8613800138000"
    session = api.log_in(mobile, None, verificationCode=api.code(mobile, "login"))
    person = Person(session.json["user"]["id"], mobile, session.json["accessToken"])
    app = enrol(api, person)
    challenge = challenged(api.log_in(mobile, None, verificationCode=api.code(mobile, "login")))
    claims = claims_of(meet(api, challenge, totp=app.next_code()).json["accessToken"])
    assert claims["amr"] == ["sms", "otp", "mfa"]


@pytest.mark.parametrize("way", ["site", "mini program"])
def test_wechat_alone_does_not_log_in_either_and_binds_nothing(
    api: Api, logins: Logins, platform: WeChat, way: str
) -> None:
    platform.join_account("site", "mini")
    person = logins.person(logins.open_mini_program("lin"))
    app, held = enrol(api, person), logins.held(person)
    again = logins.scan("lin") if way == "site" else logins.open_mini_program("lin", phone=True)
    challenge = challenged(again)
    # The phone number of WeChat is bound only once both proofs are there.
    assert logins.held(person) == held
    issued = meet(api, challenge, totp=app.next_code())
    assert issued.status_code == 200, issued.text
    assert claims_of(issued.json["accessToken"])["sub"] == person.id
    assert logins.held(person) >= held


def test_a_wrong_code_is_refused_and_five_of_them_end_the_challenge(api: Api) -> None:
    person = api.person()
    app = enrol(api, person)
    challenge = challenged(api.log_in(person.email))
    for _ in range(TRIES):
        wrong = meet(api, challenge, totp=app.wrong_code())
        assert (wrong.status_code, error_code(wrong)) == (401, "error.invalid-credentials")
    ended = meet(api, challenge, totp=app.next_code())
    assert (ended.status_code, error_code(ended)) == (401, "error.challenge-invalid")


def test_new_challenges_bring_no_further_tries(api: Api) -> None:
    person = api.person()
    app = enrol(api, person)
    for number in range(DAILY_TRIES):
        if number % TRIES == 0:
            challenge = challenged(api.log_in(person.email))
        assert meet(api, challenge, totp=app.wrong_code()).status_code == 401
    challenge = challenged(api.log_in(person.email))
    refused = meet(api, challenge, totp=app.next_code())
    assert (refused.status_code, error_code(refused)) == (429, "error.too-many-requests")
    assert 0 < int(refused.headers["Retry-After"]) <= DAY // 1000
    api.clock.advance(DAY)
    challenge = challenged(api.log_in(person.email))
    assert meet(api, challenge, totp=app.next_code()).status_code == 200


@pytest.mark.parametrize(
    "answer",
    [None, 7, "", "12345", "1234567", [], {"code": "1"}, "\uff11\uff12\uff13\uff14\uff15\uff16"],
)
def test_an_answer_of_any_form_is_refused(api: Api, answer: Any) -> None:
    person = api.person()
    enrol(api, person)
    challenge = challenged(api.log_in(person.email))
    assert meet(api, challenge, totp=answer).status_code == 401
    assert meet(api, challenge, riddle=answer).status_code == 401


@pytest.mark.parametrize("answer", ["x" * 20_000, {"deep": ["x" * 1000] * 20}], ids=["text", "object"])
def test_a_long_answer_is_refused_before_a_factor_parses_it(api: Api, answer: Any) -> None:
    person = api.person()
    enrol(api, person)
    challenge = challenged(api.log_in(person.email))
    refused = meet(api, challenge, totp=answer)
    assert (refused.status_code, error_code(refused)) == (400, "error.validation-failed")
    assert refused.json["error"]["details"][0]["field"] == "challenge.totp"


def test_a_challenge_and_a_code_count_once(api: Api) -> None:
    person = api.person()
    app = enrol(api, person)
    first, second = (challenged(api.log_in(person.email)) for _ in range(2))
    code = app.next_code()
    assert meet(api, first, totp=code).status_code == 200
    assert error_code(meet(api, first, totp=app.code(1))) == "error.challenge-invalid"
    assert error_code(meet(api, second, totp=code)) == "error.invalid-credentials"
    assert meet(api, second, totp=app.code(1)).status_code == 200


def test_the_code_of_the_enrolment_is_used_up(api: Api) -> None:
    person = api.person()
    app = enrol(api, person)
    challenge = challenged(api.log_in(person.email))
    assert meet(api, challenge, totp=app.code()).status_code == 401


def test_a_challenge_ends_after_five_minutes(api: Api) -> None:
    person = api.person()
    app = enrol(api, person)
    challenge = challenged(api.log_in(person.email))
    api.clock.advance(LIFETIME)
    assert error_code(meet(api, challenge, totp=app.next_code())) == "error.challenge-invalid"


def test_a_challenge_is_met_by_the_device_that_gave_the_first_proof(api: Api) -> None:
    person = api.person()
    app = enrol(api, person)
    body = {"username": person.email, "password": PASSWORD}
    challenge = challenged(api.post("/authorizations", body, headers={"X-Device-Id": "mine"}))
    refused = meet(api, challenge, totp=app.next_code())
    assert error_code(refused) == "error.challenge-invalid"


def test_a_new_password_voids_the_first_proof(api: Api) -> None:
    person = api.person()
    app = enrol(api, person)
    challenge = challenged(api.log_in(person.email))
    api.clock.advance(1000)
    code = api.code(person.email, "reset-password")
    body = {"newPassword": "Another1Horse", "verificationCode": code}
    assert api.post(f"/users/{person.email}/reset-password", body).status_code == 200
    assert meet(api, challenge, totp=app.next_code()).status_code == 401


def test_a_challenge_follows_no_credential_to_another_user(api: Api) -> None:
    person, other = api.person(), api.person()
    app = enrol(api, person)
    challenge = challenged(api.log_in(person.email))
    with api.container.database.write() as connection:
        moved = {"old": person.id, "new": other.id, "value": person.email}
        connection.execute(text("DELETE FROM credentials WHERE user_id = :new"), moved)
        query = text("UPDATE credentials SET user_id = :new WHERE user_id = :old AND value = :value")
        connection.execute(query, moved)
    refused = meet(api, challenge, totp=app.next_code())
    assert (refused.status_code, error_code(refused)) == (401, "error.challenge-invalid")


def test_parallel_answers_have_one_success(api: Api) -> None:
    person = api.person()
    app = enrol(api, person)
    challenges = [challenged(api.log_in(person.email)) for _ in range(4)]
    code, barrier = app.next_code(), Barrier(16)

    def attempt(number: int) -> int:
        barrier.wait()
        return meet(api, challenges[number % 4], totp=code).status_code

    with ThreadPoolExecutor(16) as pool:
        statuses = list(pool.map(attempt, range(16)))
    assert statuses.count(200) == 1
    assert set(statuses) <= {200, 401}


def test_a_code_that_counts_during_its_check_does_not_count_again(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    person = api.person()
    app = enrol(api, person)
    pending = [challenged(api.log_in(person.email)) for _ in range(2)]
    code, verify, statuses = app.next_code(), plugin.Totp.verify, []

    def answer() -> None:
        statuses.append(meet(api, pending.pop(), totp=code).status_code)

    def verify_slowly(*arguments: Any) -> Any:
        proof = verify(*arguments)
        if pending:
            # A thread has one transaction at a time.
            with ThreadPoolExecutor(1) as pool:
                pool.submit(answer).result()
        return proof

    monkeypatch.setattr(plugin.Totp, "verify", verify_slowly)
    answer()
    assert statuses == [200, 401]


def test_recovery_codes_are_ten_and_each_counts_once(api: Api) -> None:
    person = api.person()
    app = enrol(api, person)
    step_up(api, person, app.next_code())
    codes = recovery_codes(api, person)
    assert len(set(codes)) == 10
    challenge = challenged(api.log_in(person.email))
    assert challenge["methods"] == ["recovery-code", "totp"]
    assert meet(api, challenge, recoveryCode=codes[0].lower().replace("-", " ")).status_code == 200
    challenge = challenged(api.log_in(person.email))
    assert meet(api, challenge, recoveryCode=codes[0]).status_code == 401
    assert meet(api, challenge, recoveryCode=codes[1]).status_code == 200
    step_up(api, person, app.next_code())
    recovery_codes(api, person)
    challenge = challenged(api.log_in(person.email))
    assert meet(api, challenge, recoveryCode=codes[2]).status_code == 401


def test_the_use_of_a_recovery_code_is_reported_to_its_user(api: Api) -> None:
    person = api.person()
    app = enrol(api, person)
    step_up(api, person, app.next_code())
    codes = recovery_codes(api, person)

    def reports() -> list[str]:
        mails = [mail for mail in api.outbox() if mail["recipient"] == person.email]
        return [
            mail["text"]
            for mail in mails
            if "recovery code was used to log in to your account" in mail["text"]
        ]

    assert meet(api, challenged(api.log_in(person.email)), totp=app.next_code()).status_code == 200
    wrong = challenged(api.log_in(person.email))
    assert meet(api, wrong, recoveryCode="0" * 16).status_code == 401
    assert reports() == []
    challenge = challenged(api.log_in(person.email))
    assert meet(api, challenge, recoveryCode=codes[0]).status_code == 200
    assert len(reports()) == 1
    challenge = challenged(api.post("/authorizations/current/step-up", {}, by=person))
    body = {"challenge": {"id": challenge["id"], "recoveryCode": codes[1]}}
    assert api.post("/authorizations/current/step-up", body, by=person).status_code == 200
    assert len(reports()) == 2


def test_recovery_codes_alone_are_no_factor(api: Api) -> None:
    person = api.person()
    alone = api.post("/users/me/factors", {"kind": "recovery-code"}, by=person)
    assert (alone.status_code, error_code(alone)) == (400, "error.validation-failed")
    app = enrol(api, person)
    step_up(api, person, app.next_code())
    recovery_codes(api, person)
    rows = api.get("/users/me/factors", by=person).json["data"]
    assert [row["kind"] for row in rows] == ["recovery-code", "totp"]
    removed = api.delete(f"/users/me/factors/{rows[1]['id']}", by=person)
    assert removed.status_code == 200, removed.text
    assert api.get("/users/me/factors", by=person).json["data"] == []
    assert api.log_in(person.email).status_code == 200


def test_an_enrolment_counts_only_after_a_right_answer(api: Api) -> None:
    person = api.person()
    app = App(api, person)
    path = f"/users/me/factors/{app.enrolment['id']}/confirmation"
    assert app.enrolment["shown"]["qr"].startswith("<svg")
    assert pyotp.parse_uri(app.enrolment["shown"]["uri"]).name == person.email
    wrong = api.post(path, {"answer": app.wrong_code()}, by=person)
    assert (wrong.status_code, error_code(wrong)) == (400, "error.factor-invalid")
    assert wrong.json["error"]["details"][0]["field"] == "answer"
    other = api.person()
    assert error_code(api.post(path, {"answer": app.code()}, by=other)) == "error.challenge-invalid"
    assert api.log_in(person.email).status_code == 200
    assert api.post(path, {"answer": app.code()}, by=person).status_code == 201
    assert error_code(api.post(path, {"answer": app.code()}, by=person)) == "error.challenge-invalid"
    challenged(api.log_in(person.email))


def test_nobody_else_enrols_a_factor_and_a_stolen_token_does_not_either(api: Api) -> None:
    person, admin = api.person(), api.person(admin=True)
    body = {"kind": "totp"}
    assert api.post(f"/users/{person.id}/factors", body, by=admin).status_code == 403
    api.clock.advance(11 * MINUTE)
    stale = api.post("/users/me/factors", body, by=person)
    assert (stale.status_code, error_code(stale)) == (403, "error.fresh-proof-required")
    headers = {"X-Current-Password": PASSWORD}
    assert api.post("/users/me/factors", body, by=person, headers=headers).status_code == 201


def test_changes_of_the_account_take_a_recent_second_factor(api: Api) -> None:
    person = api.person()
    app = enrol(api, person)
    factor = api.get("/users/me/factors", by=person).json["data"][0]["id"]
    # The enrolment was a proof.
    api.clock.advance(10 * MINUTE)
    for answer in (
        api.delete(f"/users/me/factors/{factor}", by=person),
        api.delete("/users/me", by=person),
        api.post(
            "/users/me/emails",
            {"email": "new@example.com", "verificationCode": api.code("new@example.com", "bind")},
            by=person,
        ),
    ):
        assert (answer.status_code, error_code(answer)) == (401, "error.step-up-required")
        challenge = answer.headers["WWW-Authenticate"]
        assert 'error="insufficient_user_authentication"' in challenge
        assert 'acr_values="urn:strongroom:mfa", max_age="600"' in challenge
    step_up(api, person, app.next_code())
    claims = claims_of(person.token)
    assert (claims["acr"], claims["amr"]) == ("urn:strongroom:mfa", ["pwd", "otp", "mfa"])
    api.clock.advance(10 * MINUTE)
    assert api.delete(f"/users/me/factors/{factor}", by=person).status_code == 401
    step_up(api, person, app.next_code())
    assert api.delete(f"/users/me/factors/{factor}", by=person).status_code == 200
    assert "An authenticator app named “Phone” was removed" in api.outbox()[-1]["text"]


def test_a_challenge_of_one_purpose_or_login_is_refused_for_another(api: Api) -> None:
    person = api.person()
    app = enrol(api, person)
    other = Person(person.id, person.email, None)
    challenge = challenged(api.log_in(person.email))
    other.token = meet(api, challenge, totp=app.next_code()).json["accessToken"]
    of_step_up = challenged(api.post("/authorizations/current/step-up", {}, by=person))
    assert error_code(meet(api, of_step_up, totp=app.next_code())) == "error.challenge-invalid"
    body = {"challenge": {"id": of_step_up["id"], "totp": app.next_code()}}
    stolen = api.post("/authorizations/current/step-up", body, by=other)
    assert error_code(stolen) == "error.challenge-invalid"


def test_step_up_without_a_second_factor_takes_the_password(api: Api) -> None:
    person = api.person()
    api.clock.advance(11 * MINUTE)
    path = "/authorizations/current/step-up"
    assert error_code(api.post(path, {}, by=person)) == "error.fresh-proof-required"
    assert api.post(path, {"currentPassword": "Wrong1Password"}, by=person).status_code == 400
    renewed = api.post(path, {"currentPassword": PASSWORD}, by=person)
    assert renewed.status_code == 200
    claims = claims_of(renewed.json["accessToken"])
    assert (claims["acr"], claims["auth_time"]) == ("urn:strongroom:single", claims["iat"])
    assert api.delete("/users/me", by=person).status_code == 200


def test_an_administrator_resets_lost_factors(api: Api) -> None:
    person, admin = api.person(), api.person(admin=True)
    enrol(api, person)
    assert api.delete(f"/users/{person.id}/factors", by=person).status_code == 403
    assert api.delete(f"/users/{person.id}/factors", by=admin).status_code == 200
    assert api.get("/users/me", by=person).status_code == 401
    assert api.log_in(person.email).status_code == 200


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"challenge": {}},
        {"challenge": {"id": ""}},
        {"challenge": {"id": "x" * 65}},
        {"challenge": {"id": "x"}, "username": "somebody"},
        {"challenge": {"id": "x"}, "password": "secret"},
    ],
)
def test_a_login_states_its_first_proof_or_a_challenge(api: Api, body: Json) -> None:
    refused = api.post("/authorizations", body)
    assert (refused.status_code, error_code(refused)) == (400, "error.validation-failed")


@pytest.mark.parametrize("identifier", ["x", "a" * 43, "é" * 43])
def test_an_unknown_challenge_is_refused(api: Api, identifier: str) -> None:
    refused = meet(api, {"id": identifier}, totp="123456")
    assert (refused.status_code, error_code(refused)) == (401, "error.challenge-invalid")
