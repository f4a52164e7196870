"""POST /authorizations: section 4.2 of the specification, and the safe readings of the contract."""

from typing import Any

import pytest
from tests.support.api import PASSWORD, Answer, Api, Person, error_code
from tests.support.audit import reading_sealed

from strongroom.activity.audit.service import AuditService
from strongroom.foundation.errors import Unavailable
from strongroom.foundation.limits.attempts import LEASE
from strongroom.identity.users.password_hashing import PasswordHasher
from strongroom.identity.users.passwords import UserPasswords
from strongroom.plugin_api.login import Credential
from strongroom.testing.clock import HOUR, MINUTE, ManualClock


@pytest.mark.rule("4.2 POST /authorizations", "4.2 login success", "5.2", "7 200")
def test_a_login_gives_the_token_in_header_and_body(api: Api) -> None:
    person = api.person(name="Alice")
    response = api.log_in(person.email)
    assert response.status_code == 200
    body = response.json
    assert response.headers["X-Access-Token"] == body["accessToken"]
    assert "X-Access-Token" in response.headers["Access-Control-Expose-Headers"]
    assert body["user"] == {"id": person.id, "name": "Alice", "type": "USER"}
    assert body["expiresAt"].endswith("Z")


@pytest.mark.parametrize(
    "username",
    [
        "alice@example.com",
        " Alice@EXAMPLE.com ",
        "\uff41lice@example.com",
        "13800138000",
        "+86 138 0013 8000",
        "0086-138-0013-8000",
        "alice.w",
        "ALICE.W",
    ],
)
@pytest.mark.rule("5 login 1")
def test_every_spelling_of_every_credential_logs_in(api: Api, username: str) -> None:
    api.person(email="alice@example.com", mobile="13800138000", username="alice.w")
    assert api.log_in(username).status_code == 200


@pytest.mark.parametrize("password", [None, ""])
@pytest.mark.rule("4.2 login without a password")
def test_a_bare_username_never_logs_in(api: Api, password: str | None) -> None:
    person = api.person()
    response = api.log_in(person.email, password)
    assert (response.status_code, error_code(response)) == (401, "error.invalid-credentials")
    assert "X-Access-Token" not in response.headers


@pytest.mark.rule("4.2 login failure", "7 401")
def test_unknown_and_wrong_are_answered_alike(api: Api) -> None:
    person = api.person()
    unknown, wrong = api.log_in("nobody@example.com"), api.log_in(person.email, PASSWORD + "x")
    for response in (unknown, wrong):
        assert (response.status_code, error_code(response)) == (401, "error.invalid-credentials")
        assert "X-Access-Token" not in response.headers
    assert unknown.json["error"]["message"] == wrong.json["error"]["message"]


@pytest.mark.rule("5 login 2", "8 failed logins")
def test_a_captcha_is_due_after_three_failures_by_one_name(api: Api) -> None:
    person = api.person()
    for _ in range(3):
        assert api.log_in(person.email, "Wrong1Password").status_code == 401
    response = api.log_in(person.email)
    assert (response.status_code, error_code(response)) == (400, "error.captcha-required")


def test_failures_are_counted_for_names_that_do_not_exist(api: Api) -> None:
    for _ in range(3):
        assert api.log_in("nobody@example.com").status_code == 401
    assert error_code(api.log_in("nobody@example.com")) == "error.captcha-required"


def test_forty_spellings_share_one_count(api: Api) -> None:
    spellings = ["nobody@example.com", "NOBODY@example.com", " nobody@EXAMPLE.com"]
    for spelling in spellings:
        assert api.log_in(spelling).status_code == 401
    assert error_code(api.log_in("Nobody@Example.Com")) == "error.captcha-required"


class TestAddressCount:
    """Failed logins by many names from one address."""

    FREE = 30

    def fail(self, api: Api, times: int, address: str = "192.0.2.1") -> list[int]:
        overrides = {"REMOTE_ADDR": address}
        bodies = [{"username": f"u{n}@example.com", "password": "Wrong1Password"} for n in range(times)]
        return [
            api.post("/authorizations", body, environ_overrides=overrides).status_code for body in bodies
        ]

    def log_in(self, api: Api, person: Person, address: str = "192.0.2.1") -> Answer:
        body = {"username": person.email, "password": PASSWORD}
        return api.post("/authorizations", body, environ_overrides={"REMOTE_ADDR": address})

    def test_typos_of_colleagues_do_not_cost_a_captcha(self, api: Api) -> None:
        person = api.person()
        assert self.fail(api, 3) == [401] * 3
        assert self.log_in(api, person).status_code == 200

    def test_after_thirty_failures_from_one_address_a_captcha_is_due(self, api: Api) -> None:
        person = api.person()
        assert self.fail(api, self.FREE + 1) == [401] * self.FREE + [400]
        assert error_code(self.log_in(api, person)) == "error.captcha-required"
        assert self.log_in(api, person, "192.0.2.2").status_code == 200

    def test_good_logins_neither_fill_nor_extend_the_window(self, api: Api, clock: ManualClock) -> None:
        person = api.person()
        self.fail(api, self.FREE - 1)
        for _ in range(5):
            clock.advance(11 * MINUTE)
            assert self.log_in(api, person).status_code == 200
        assert self.fail(api, 2) == [401, 400]
        clock.advance(HOUR - 55 * MINUTE)
        assert self.fail(api, 1) == [401]

    def test_the_addresses_of_one_ipv6_network_share_one_count(self, api: Api) -> None:
        person = api.person()
        for number in range(self.FREE):
            body = {"username": f"u{number}@example.com", "password": "Wrong1Password"}
            overrides = {"REMOTE_ADDR": f"2001:db8:0:1:{number:x}::1"}
            response = api.post("/authorizations", body, environ_overrides=overrides)
            assert response.status_code == 401
        assert error_code(self.log_in(api, person, "2001:DB8:0:1::ffff")) == "error.captcha-required"
        assert self.log_in(api, person, "2001:db8:0:2::1").status_code == 200

    @pytest.mark.parametrize("address", ["1.2.3.4", "::ffff:1.2.3.4", "::FFFF:102:304"])
    def test_every_spelling_of_an_address_is_one_client(self, api: Api, address: str) -> None:
        person = api.person()
        self.fail(api, self.FREE, "1.2.3.4")
        assert error_code(self.log_in(api, person, address)) == "error.captcha-required"

    def test_the_audit_keeps_the_canonical_address(self, api: Api) -> None:
        self.fail(api, 1, "2001:0DB8:0:1:0::5")
        self.fail(api, 1, "::ffff:1.2.3.4")
        admin = api.person(admin=True)
        events = api.get("/audit-events?action=login", by=admin).json["data"]
        addresses = {event["address"] for event in events if event["outcome"] == "failure"}
        assert addresses == {"2001:db8:0:1::5", "1.2.3.4"}


@pytest.mark.rule("4.2 login captcha")
def test_a_solved_captcha_lets_one_attempt_pass(api: Api) -> None:
    person = api.person()
    for _ in range(3):
        api.log_in(person.email, "Wrong1Password")
    captcha = api.post("/captchas", {}).json
    answer = {"id": captcha["id"], "answer": "42"}
    assert api.log_in(person.email, captcha=answer).status_code == 200
    for _ in range(3):
        api.log_in(person.email, "Wrong1Password")
    spent = api.log_in(person.email, captcha=answer)
    assert error_code(spent) == "error.captcha-invalid"


@pytest.mark.parametrize("answer", ["41", " ", "0"])
@pytest.mark.rule("4.2 login captcha")
def test_a_wrong_captcha_is_refused_and_used_up(api: Api, answer: str) -> None:
    person = api.person()
    for _ in range(3):
        api.log_in(person.email, "Wrong1Password")
    captcha = api.post("/captchas", {}).json
    wrong = api.log_in(person.email, captcha={"id": captcha["id"], "answer": answer})
    assert (wrong.status_code, error_code(wrong)) == (400, "error.captcha-invalid")
    right = api.log_in(person.email, captcha={"id": captcha["id"], "answer": "42"})
    assert error_code(right) == "error.captcha-invalid"


def test_a_captcha_expires(api: Api, clock: ManualClock) -> None:
    person = api.person()
    for _ in range(3):
        api.log_in(person.email, "Wrong1Password")
    captcha = api.post("/captchas", {}).json
    clock.advance(300_000)
    response = api.log_in(person.email, captcha={"id": captcha["id"], "answer": "42"})
    assert error_code(response) == "error.captcha-invalid"


def test_success_resets_the_count_of_the_name(api: Api) -> None:
    person = api.person()
    for _ in range(2):
        api.log_in(person.email, "Wrong1Password")
    assert api.log_in(person.email).status_code == 200
    for _ in range(3):
        assert api.log_in(person.email, "Wrong1Password").status_code == 401
    assert error_code(api.log_in(person.email)) == "error.captcha-required"


def test_failures_are_forgotten_after_an_hour(api: Api, clock: ManualClock) -> None:
    person = api.person()
    for _ in range(3):
        api.log_in(person.email, "Wrong1Password")
    clock.advance(HOUR)
    assert api.log_in(person.email).status_code == 200


@pytest.mark.parametrize(
    ("body", "field", "code"),
    [
        ({}, "username", "required"),
        ({"username": ""}, "username", "invalid"),
        ({"username": "x" * 1025}, "username", "invalid"),
        ({"username": 7}, "username", "invalid"),
        ({"username": None}, "username", "null"),
        ({"username": "a", "pasword": "b"}, "pasword", "unknown-field"),
        ({"username": "a", "verificationCode": {"id": "x"}}, "verificationCode.code", "required"),
        ({"username": "a", "captcha": {"id": "x", "answer": ""}}, "captcha.answer", "invalid"),
    ],
)
@pytest.mark.rule("4.2 login request", "7 400")
def test_a_body_that_does_not_validate_is_400_and_names_the_field(
    api: Api, body: dict[str, object], field: str, code: str
) -> None:
    response = api.post("/authorizations", body)
    assert (response.status_code, error_code(response)) == (400, "error.validation-failed")
    assert [(item["field"], item["code"]) for item in response.json["error"]["details"]] == [
        (field, code)
    ]


def test_invalid_json_is_malformed(api: Api) -> None:
    response = api.request("POST", "/authorizations", data=b"{", content_type="application/json")
    assert (response.status_code, error_code(response)) == (400, "error.malformed-request")


@pytest.mark.rule("4.2 login audit")
def test_every_attempt_is_audited_and_says_nothing_secret(api: Api) -> None:
    person = api.person()
    api.log_in(person.email, "Wrong1Password")
    with reading_sealed(api.container.database) as connection:
        rows = connection.exec_driver_sql(
            "SELECT action, outcome, actor_id, target_id, details, address FROM audit_events"
            " WHERE action = 'login' ORDER BY sequence"
        ).all()
    good, bad = rows
    assert (good.outcome, good.actor_id, good.address) == ("success", person.id, "127.0.0.1")
    assert (bad.outcome, bad.actor_id, bad.target_id) == ("failure", None, person.id)
    assert "Wrong1Password" not in str(rows)
    assert PASSWORD not in str(rows)


def test_a_login_under_way_does_not_outlive_the_password_that_it_checked(
    api: Api, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    person = api.person()
    verify = PasswordHasher.verify_login

    def verify_while_the_password_changes(hasher: PasswordHasher, password: str, *rest: Any) -> bool:
        fits = verify(hasher, password, *rest)
        monkeypatch.setattr(PasswordHasher, "verify_login", verify)
        clock.advance(1)
        body = {"oldPassword": PASSWORD, "newPassword": "Another2Battery"}
        assert api.put("/users/me/password", body, by=person).status_code == 200
        return fits

    monkeypatch.setattr(PasswordHasher, "verify_login", verify_while_the_password_changes)
    response = api.log_in(person.email)
    assert (response.status_code, error_code(response)) == (401, "error.invalid-credentials")


@pytest.mark.config({"limits": {"login_per_address": ["5/hour"]}})
class TestLimit:
    """Login attempts from one address."""

    def test_past_the_limit_every_attempt_is_429(self, api: Api, clock: ManualClock) -> None:
        person = api.person()
        for _ in range(4):
            assert api.log_in(person.email).status_code == 200
        for password in (PASSWORD, None, "Wrong1Password"):
            response = api.log_in(person.email, password)
            assert (response.status_code, error_code(response)) == (429, "error.too-many-requests")
            assert int(response.headers["Retry-After"]) == 3600
        clock.advance(HOUR)
        assert api.log_in(person.email).status_code == 200


def test_failures_that_could_not_be_recorded_do_not_block_their_name(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    def record(*_arguments: object) -> None:
        raise Unavailable(retry_after=1)

    person = api.person()
    with monkeypatch.context() as outage:
        outage.setattr(AuditService, "record_change", record)
        for _ in range(3):
            assert api.log_in(person.email, PASSWORD + "x").status_code == 503
    # They are counted: without waiting, and before their leases end.
    assert error_code(api.log_in(person.email)) == "error.captcha-required"


def test_an_attempt_that_outlives_its_lease_learns_nothing(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Others may have taken its place: a long queue of hashes would double the number of attempts."""
    person, check = api.person(), UserPasswords.check_password

    def check_late(service: UserPasswords, username: str, password: str) -> Credential | None:
        api.clock.advance(LEASE)
        return check(service, username, password)

    with monkeypatch.context() as queue:
        queue.setattr(UserPasswords, "check_password", check_late)
        answers = [api.log_in(person.email, password) for password in (PASSWORD, PASSWORD + "x")]
    assert [answer.status_code for answer in answers] == [503, 503]
    assert answers[0].json["error"]["message"] == answers[1].json["error"]["message"]
    assert api.log_in(person.email).status_code == 200
