"""Users accept the terms when they register, by a registration or by their first login."""

import json
from io import BytesIO
from typing import Any
from zipfile import ZipFile

import pytest
from sqlalchemy import select, text
from tests.support.api import PASSWORD, Answer, Api, Json, error_code
from tests.support.config import SMS_LOGIN, Table, lifted, merged
from tests.support.totp import enrol, meet, use_clock

from strongroom.clock import iso_format
from strongroom.identity.users.consents import consents
from strongroom.testing.clock import HOUR, MINUTE, ManualClock

NUMBER, EMAIL = "13800138000", "alice@example.com"
TERMS: Table = {
    "pages": {"terms_url": "https://example.com/terms", "terms_version": "2026-11"},
    "users": {"require_terms": True},
}
CONFIG = merged(SMS_LOGIN, lifted(), TERMS)

pytestmark = pytest.mark.config(CONFIG)


@pytest.fixture(autouse=True)
def time_of_the_test(clock: ManualClock, monkeypatch: pytest.MonkeyPatch) -> None:
    use_clock(clock, monkeypatch)


def rows(api: Api) -> list[tuple[Any, ...]]:
    with api.container.database.read() as connection:
        return [tuple(row) for row in connection.execute(select(consents))]


def register(api: Api, **changes: object) -> Answer:
    body: Json = {"name": "Alice", "email": EMAIL, "password": PASSWORD}
    codes = [api.code(EMAIL, "register")]
    return api.post("/users", {**body, "verificationCodes": codes, **changes})


def log_in(api: Api, **changes: object) -> Answer:
    code = api.code(NUMBER, "login")
    return api.post("/authorizations", {"username": NUMBER, "verificationCode": code, **changes})


def test_a_registration_without_the_terms_is_refused(api: Api) -> None:
    refused = register(api)
    assert (refused.status_code, error_code(refused)) == (403, "error.terms-not-accepted")
    assert refused.json["consent"] == {
        "version": "2026-11", "termsUrl": "https://example.com/terms", "privacyUrl": None,
    }  # fmt: skip
    assert rows(api) == []


@pytest.mark.parametrize("version", ["2026-10", "", "x" * 64])
def test_another_version_accepts_nothing(api: Api, version: str) -> None:
    assert register(api, acceptedTerms=version).status_code in (400, 403)
    assert rows(api) == []


def test_the_version_and_the_time_are_stored_and_recorded(api: Api) -> None:
    registered = register(api, acceptedTerms="2026-11")
    assert registered.status_code == 201
    user_id = registered.json["id"]
    assert rows(api) == [(user_id, "terms", "2026-11", api.clock.now())]
    admin = api.person(admin=True)
    (record,) = api.get("/audit-events?action=consent.accept", by=admin).json["data"]
    assert record["details"] == {"document": "terms", "version": "2026-11"}


def test_a_login_that_registers_waits_for_the_terms(api: Api) -> None:
    refused = log_in(api)
    assert (refused.status_code, error_code(refused)) == (403, "error.terms-not-accepted")
    assert (api.get("/users", by=api.person(admin=True)).json["meta"]["totalCount"], rows(api)) == (
        1,
        [],
    )
    consent = {"id": refused.json["consent"]["id"], "acceptedTerms": "2026-11"}
    other = api.post("/authorizations", {"consent": {**consent, "acceptedTerms": "2026-10"}})
    assert error_code(other) == "error.terms-not-accepted"
    accepted = api.post("/authorizations", {"consent": consent})
    assert accepted.status_code == 200
    assert [row[:3] for row in rows(api)] == [(accepted.json["user"]["id"], "terms", "2026-11")]
    again = api.post("/authorizations", {"consent": consent})
    assert (again.status_code, error_code(again)) == (401, "error.challenge-invalid")


def test_a_login_may_accept_the_terms_at_once(api: Api) -> None:
    assert log_in(api, acceptedTerms="2026-11").status_code == 200
    # The second login is that of a user.
    assert log_in(api).status_code == 200
    assert len(rows(api)) == 1


def test_the_consent_is_for_the_device_that_has_begun_the_login(api: Api) -> None:
    begun = api.post(
        "/authorizations",
        {"username": NUMBER, "verificationCode": api.code(NUMBER, "login")},
        headers={"X-Device-Id": "first"},
    )
    consent = {"id": begun.json["consent"]["id"], "acceptedTerms": "2026-11"}
    stolen = api.post("/authorizations", {"consent": consent}, headers={"X-Device-Id": "second"})
    assert error_code(stolen) == "error.challenge-invalid"
    assert rows(api) == []


def test_the_consent_must_follow_soon(api: Api) -> None:
    consent = {"id": log_in(api).json["consent"]["id"], "acceptedTerms": "2026-11"}
    api.clock.advance(15 * MINUTE)
    assert error_code(api.post("/authorizations", {"consent": consent})) == "error.challenge-invalid"


@pytest.mark.config(CONFIG, {"plugins": {"enabled": ["storage_local", "login_sms", "factor_totp"]}})
def test_an_answer_to_a_challenge_registers_no_user(api: Api) -> None:
    person = api.person(mobile=NUMBER)
    app = enrol(api, person)
    challenge = log_in(api).json["challenge"]
    # Between both steps the number becomes free, so that a login with it would register.
    with api.container.database.write() as connection:
        connection.execute(text("DELETE FROM credentials WHERE kind = 'mobile'"))
    refused = meet(api, challenge, totp=app.next_code())
    assert (refused.status_code, error_code(refused)) == (401, "error.challenge-invalid")
    assert rows(api) == []


def test_nothing_else_may_come_with_the_consent(api: Api) -> None:
    body = {"consent": {"id": "x", "acceptedTerms": "1"}, "username": NUMBER}
    refused = api.post("/authorizations", body)
    assert (refused.status_code, refused.json["error"]["details"][0]["field"]) == (400, "username")


def test_the_erasure_of_a_user_removes_the_consent(api: Api) -> None:
    user_id = register(api, acceptedTerms="2026-11").json["id"]
    api.delete(f"/users/{user_id}", by=api.person(admin=True))
    api.clock.advance(31 * 24 * HOUR)
    dict(api.container.prune_job().run())
    assert rows(api) == []


@pytest.mark.config(CONFIG, {"users": {"require_terms": False}})
def test_a_server_that_does_not_require_them_stores_what_is_accepted(api: Api) -> None:
    assert register(api).status_code == 201
    assert log_in(api, acceptedTerms="2026-11").status_code == 200
    assert len(rows(api)) == 1


def test_the_export_of_the_own_data_has_the_consent(api: Api) -> None:
    assert register(api, acceptedTerms="2026-11").status_code == 201
    bearer = {"Authorization": f"Bearer {api.log_in(EMAIL).headers['X-Access-Token']}"}
    with ZipFile(BytesIO(api.post("/users/me/exports", headers=bearer).data)) as archive:
        (consent,) = json.loads(archive.read("consents.json"))
    assert consent.pop("acceptedAt") == iso_format(api.clock.now())
    assert consent == {"document": "terms", "version": "2026-11"}
