"""Registration, users as they see themselves, and administration."""

import pytest
from tests.support.api import PASSWORD, Api, Json, error_code
from tests.support.config import SMS_LOGIN, Table, merged

from strongroom.testing.clock import HOUR, ManualClock

UNKNOWN = "01a1fd35-41a4-7159-832d-f9df39268981"


def registration(api: Api, **changes: object) -> Json:
    """Return a body that registers alice, with changes."""
    body: Json = {"name": "Alice", "email": "alice@example.com", "password": PASSWORD}
    if "verificationCodes" not in changes:
        body["verificationCodes"] = [api.code("alice@example.com", "register")]
    return {key: value for key, value in {**body, **changes}.items() if value is not None}


@pytest.mark.rule("7 201")
def test_registering_makes_a_user_who_can_log_in(api: Api) -> None:
    response = api.post("/users", registration(api, username="alice"))
    assert response.status_code == 201
    user = response.json
    assert (user["name"], user["type"], user["status"]) == ("Alice", "USER", "active")
    assert set(user) == {
        "id", "type", "status", "name", "email", "mobile", "username", "locale",
        "timezone", "revision", "createdAt",
        "updatedAt", "emailVerified", "mobileVerified", "passwordChangeRequired", "externalId",
        "hasPassword", "lastLoginAt", "suspendedUntil", "deletionDueAt",
    }  # fmt: skip
    for name in ("alice@example.com", "alice"):
        assert api.log_in(name).json["user"]["id"] == user["id"]


def test_address_and_number_each_need_a_code(api: Api) -> None:
    codes = [api.code("alice@example.com", "register"), api.code("13800138000", "register")]
    body = registration(api, mobile="13800138000", verificationCodes=codes[:1])
    response = api.post("/users", body)
    assert (response.status_code, error_code(response)) == (400, "error.code-invalid")
    # Nothing was used up.
    assert api.post("/users", {**body, "verificationCodes": codes}).status_code == 201


def test_a_username_alone_needs_a_captcha_and_no_code(api: Api) -> None:
    body = registration(api, email=None, username="alice", verificationCodes=[])
    assert error_code(api.post("/users", body)) == "error.captcha-required"
    wrong = {**api.captcha(), "answer": "41"}
    assert error_code(api.post("/users", {**body, "captcha": wrong})) == "error.captcha-invalid"
    assert api.post("/users", {**body, "captcha": api.captcha()}).status_code == 201


def test_one_captcha_makes_one_user(api: Api) -> None:
    body = registration(api, email=None, username="alice", verificationCodes=[], captcha=api.captcha())
    assert api.post("/users", body).status_code == 201
    again = api.post("/users", {**body, "username": "bob"})
    assert error_code(again) == "error.captcha-invalid"


def test_registrations_from_one_address_are_limited(api: Api) -> None:
    person = api.person(username="taken")
    body = registration(api, email=None, username="taken", verificationCodes=[])
    answers = [api.post("/users", {**body, "captcha": api.captcha()}) for _ in range(31)]
    assert [answer.status_code for answer in answers] == [409] * 30 + [429]
    assert answers[-1].headers["Retry-After"] == "3600"
    assert api.get("/users/me", by=person).status_code == 200


def test_a_user_tries_ten_usernames_a_day(api: Api, clock: ManualClock) -> None:
    api.person(username="taken")
    person, other = api.person(), api.person()
    tries = [api.put("/users/me/username", {"username": "taken"}, by=person) for _ in range(11)]
    assert [answer.status_code for answer in tries] == [409] * 10 + [429]
    assert tries[-1].headers["Retry-After"] == "86400"
    assert api.put("/users/me/username", {"username": "free"}, by=other).status_code == 200
    clock.advance(24 * HOUR)
    person.token = api.log_in(person.email).headers["X-Access-Token"]
    assert api.put("/users/me/username", {"username": "mine"}, by=person).status_code == 200


def test_a_refused_registration_leaves_its_code_valid(api: Api) -> None:
    api.person(email="other@example.com", username="taken")
    body = registration(api, username="taken")
    assert error_code(api.post("/users", body)) == "error.credential-taken"
    assert api.post("/users", {**body, "username": "free"}).status_code == 201


class TestClosedRegistration:
    """Servers whose administrators create the users."""

    @pytest.fixture(params=["invited", "closed"])
    def mode(self, request: pytest.FixtureRequest) -> str:
        mode: str = request.param
        return mode

    @pytest.fixture
    def config_changes(self, mode: str) -> Table:
        return merged(SMS_LOGIN, {"users": {"registration": mode}})

    def test_self_registration_is_refused(self, api: Api, mode: str) -> None:
        wanted = {"invited": "error.invitation-required", "closed": "error.registration-closed"}[mode]
        for response in (
            api.post("/users", registration(api, verificationCodes=[])),
            api.request_code("alice@example.com", "register"),
        ):
            assert (response.status_code, error_code(response)) == (403, wanted)
        # A login code would be of no use, so none is sent.
        assert api.request_code("13800138000", "login").status_code == 201
        assert api.outbox() == []

    def test_users_created_by_an_administrator_log_in(self, api: Api) -> None:
        number = "13800138000"
        person = api.person(mobile=number)
        response = api.log_in(number, None, verificationCode=api.code(number, "login"))
        assert response.json["user"]["id"] == person.id


@pytest.mark.parametrize("purpose", ["unbind", "bind"])
def test_a_code_of_another_purpose_does_not_register(api: Api, purpose: str) -> None:
    codes = [api.code("alice@example.com", purpose)]
    response = api.post("/users", registration(api, verificationCodes=codes))
    assert error_code(response) == "error.code-invalid"


def test_a_code_of_another_recipient_does_not_register(api: Api) -> None:
    codes = [api.code("mallory@example.com", "register")]
    response = api.post("/users", registration(api, verificationCodes=codes))
    assert error_code(response) == "error.code-invalid"


def test_a_code_registers_once(api: Api) -> None:
    codes = [api.code("alice@example.com", "register")]
    assert api.post("/users", registration(api, verificationCodes=codes)).status_code == 201
    response = api.post("/users", registration(api, verificationCodes=codes))
    assert error_code(response) == "error.code-invalid"


def test_a_credential_belongs_to_one_user(api: Api) -> None:
    api.person(email="alice@example.com", username="alice")
    response = api.post("/users", registration(api))
    assert (response.status_code, error_code(response)) == (409, "error.credential-taken")
    body = registration(api, email=None, username="ALICE", verificationCodes=[], captcha=api.captcha())
    assert error_code(api.post("/users", body)) == "error.credential-taken"


@pytest.mark.parametrize(
    ("password", "code"),
    [
        ("Short1A", "too-short"),
        ("alllowercase1", "no-uppercase"),
        ("ALLUPPERCASE1", "no-lowercase"),
        ("NoDigitsHere", "no-digit"),
        ("Password1", "too-common"),
    ],
)
@pytest.mark.rule("5 change 2", "8 password minimum length")
def test_the_password_policy_holds(api: Api, password: str, code: str) -> None:
    response = api.post("/users", registration(api, password=password))
    assert (response.status_code, error_code(response)) == (400, "error.validation-failed")
    assert code in [item["code"] for item in response.json["error"]["details"]]


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"email": None}, "email"),
        ({"email": "13800138000"}, "email"),
        ({"mobile": "alice@example.com"}, "mobile"),
        ({"username": "alice@example.com"}, "username"),
        ({"username": "13800138000"}, "username"),
        ({"name": ""}, "name"),
        ({"name": "nul\0"}, "name"),
        ({"type": "ADMIN"}, "type"),
    ],
)
def test_a_malformed_registration_names_the_field(api: Api, changes: Json, field: str) -> None:
    response = api.post("/users", registration(api, verificationCodes=[], **changes))
    assert (response.status_code, error_code(response)) == (400, "error.validation-failed")
    assert response.json["error"]["details"][0]["field"] == field


@pytest.mark.rule("5.6")
def test_one_sees_oneself_and_administrators_see_all(api: Api) -> None:
    person, other, admin = api.person(), api.person(), api.person(admin=True)
    assert api.get("/users/me", by=person).json["id"] == person.id
    assert api.get(f"/users/{person.id}", by=person).status_code == 200
    assert api.get(f"/users/{person.id}", by=other).status_code == 403
    assert api.get(f"/users/{UNKNOWN}", by=other).status_code == 403
    assert api.get(f"/users/{person.id}", by=admin).status_code == 200
    assert api.get(f"/users/{UNKNOWN}", by=admin).status_code == 404
    assert api.get("/users", by=person).status_code == 403
    listed = api.get("/users?pageSize=2", by=admin).json
    assert [user["id"] for user in listed["data"]] == [person.id, other.id]
    assert listed["meta"]["totalCount"] == 3


@pytest.mark.rule("7 409")
def test_a_name_is_changed_on_the_revision_it_was_read_at(api: Api) -> None:
    person = api.person()
    user = api.get("/users/me", by=person)
    body = {"name": "Renamed", "revision": user.json["revision"]}
    changed = api.patch("/users/me", body, by=person)
    assert (changed.status_code, changed.json["name"]) == (200, "Renamed")
    assert changed.json["revision"] > user.json["revision"]
    stale = api.patch("/users/me", body, by=person)
    assert (stale.status_code, error_code(stale)) == (409, "error.revision-conflict")


def test_if_match_holds_the_etag(api: Api) -> None:
    person = api.person()
    etag = api.get("/users/me", by=person).headers["ETag"]
    changed = api.patch("/users/me", {"name": "A"}, by=person, headers={"If-Match": etag})
    assert changed.status_code == 200
    stale = api.patch("/users/me", {"name": "B"}, by=person, headers={"If-Match": etag})
    assert (stale.status_code, error_code(stale)) == (412, "error.precondition-failed")


@pytest.mark.rule("5.6")
def test_only_administrators_change_types_and_the_tokens_of_before_die(api: Api) -> None:
    person, admin = api.person(), api.person(admin=True)
    assert api.patch("/users/me", {"type": "ADMIN"}, by=person).status_code == 403
    assert api.patch(f"/users/{person.id}", {"type": "ADMIN"}, by=admin).status_code == 200
    assert api.get("/users/me", by=person).status_code == 401
    assert api.log_in(person.email).json["user"]["type"] == "ADMIN"


class TestSuspension:
    """Suspending and reinstating."""

    @pytest.mark.rule("5.2")
    def test_a_suspended_user_is_logged_out_and_notified(self, api: Api) -> None:
        person, admin = api.person(), api.person(admin=True)
        response = api.post(f"/users/{person.id}/suspension", by=admin)
        assert (response.status_code, response.json["status"]) == (200, "suspended")
        assert error_code(api.get("/users/me", by=person)) == "error.token-invalid"
        refused = api.log_in(person.email)
        assert (refused.status_code, error_code(refused)) == (403, "error.user-suspended")
        assert api.outbox()[-1]["recipient"] == person.email

    def test_a_reinstated_user_logs_in_again_and_old_tokens_stay_dead(self, api: Api) -> None:
        person, admin = api.person(), api.person(admin=True)
        api.post(f"/users/{person.id}/suspension", by=admin)
        response = api.delete(f"/users/{person.id}/suspension", by=admin)
        assert (response.status_code, response.json["status"]) == (200, "active")
        assert api.get("/users/me", by=person).status_code == 401
        assert api.log_in(person.email).status_code == 200

    def test_only_administrators_suspend(self, api: Api) -> None:
        person, other = api.person(), api.person()
        assert api.post(f"/users/{other.id}/suspension", by=person).status_code == 403
        assert api.get("/users/me", by=other).status_code == 200
