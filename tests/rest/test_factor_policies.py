"""Users who must have a second factor: every login option, under every policy."""

from collections.abc import Callable
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pyotp
import pytest
from sqlalchemy import text
from tests.support.api import PASSWORD, Answer, Api, Json, Person, claims_of, error_code
from tests.support.config import Table, lifted, merged
from tests.support.totp import wrong_code
from tests.support.wechat import Logins, WeChat

from strongroom.extensions.first_start.first_administrator import Setup
from strongroom.foundation.caller import Origin
from strongroom.foundation.errors import ChallengeInvalid
from strongroom.identity.accounts.registration import Registration, RegistrationService
from strongroom.identity.sessions.factor_challenges import DUE_LIFETIME, TRIES
from strongroom.identity.sessions.factor_enrolments import FactorEnrolments
from strongroom.identity.users.credential_changes import ChangedBy, CredentialChanges
from strongroom.identity.users.models import UserType
from strongroom.plugin_api.factors import Enrolment
from strongroom.plugin_api.login import MULTI_FACTOR, SINGLE_FACTOR
from strongroom.testing.clock import MINUTE, ManualClock
from strongroom_factor_totp import plugin

DAY = 24 * 60 * MINUTE
GRACE_DAYS = 7


@pytest.fixture
def required_for() -> list[str]:
    return ["all"]


@pytest.fixture
def grace_days() -> int:
    return 0


@pytest.fixture
def config_changes(platform: WeChat, required_for: list[str], grace_days: int) -> Table:
    config = merged(platform.config("https://127.0.0.1"), lifted())
    config["plugins"] = {"enabled": ["storage_local", "login_sms", "login_wechat", "factor_totp"]}
    config["login"]["methods"] = ["password", "sms", "wechat"]
    policy = {"required_for": required_for, "grace_days": grace_days}
    config["second_factors"] = policy if required_for else {}
    return config


@pytest.fixture(autouse=True)
def time_of_the_test(clock: ManualClock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plugin, "time", SimpleNamespace(time=lambda: clock.now() / 1000))


def code_of(api: Api, secret: str) -> str:
    return pyotp.TOTP(secret).generate_otp(api.clock.now() // 30_000)


def made(api: Api, name: str, kind: UserType = UserType.USER, **identifiers: Any) -> Person:
    """Make a user without logging in."""
    registration = Registration(
        name=name, password=PASSWORD, email=f"{name}@example.com", kind=kind, **identifiers
    )
    user = api.container.get(RegistrationService).create(registration, Origin())
    return Person(user.id, f"{name}@example.com")


def begin(api: Api, permission: Json, kind: str = "totp", **options: Any) -> Answer:
    body = {"id": permission["id"], "kind": kind, "name": "Phone"}
    return api.post("/authorizations/enrolments", body, **options)


def confirm(api: Api, permission: Json, begun: Json, answer: Any, **options: Any) -> Answer:
    body = {"id": permission["id"], "enrolmentId": begun["id"], "answer": answer}
    return api.post("/authorizations/enrolments/confirmation", body, **options)


def permitted(answer: Answer) -> Json:
    """Return the permission to enrol, which is all that the answer has."""
    assert (answer.status_code, error_code(answer)) == (401, "error.second-factor-enrolment-required")
    assert set(answer.json) == {"error", "enrolment"}
    assert "X-Access-Token" not in answer.headers
    permission: Json = answer.json["enrolment"]
    assert permission["kinds"] == ["totp"]
    return permission


def enrol_at_login(api: Api, answer: Answer) -> tuple[Answer, str]:
    """Enrol a factor by the answer of a login; return the finished login, and the secret."""
    permission = permitted(answer)
    begun = begin(api, permission).json
    secret = begun["shown"]["secret"]
    done = confirm(api, permission, begun, code_of(api, secret))
    assert done.status_code == 200, done.text
    return done, secret


def challenged(answer: Answer) -> Json:
    assert (answer.status_code, error_code(answer)) == (401, "error.second-factor-required")
    challenge: Json = answer.json["challenge"]
    return challenge


def enrol(api: Api, person: Person) -> str:
    begun = api.post("/users/me/factors", {"kind": "totp"}, by=person).json
    secret: str = begun["shown"]["secret"]
    body = {"answer": code_of(api, secret)}
    done = api.post(f"/users/me/factors/{begun['id']}/confirmation", body, by=person)
    assert done.status_code == 201, done.text
    return secret


@dataclass
class Ways:
    """Every login option: each returns the answer to a right first proof."""

    api: Api
    logins: Logins
    _made: int = field(default=0)

    def person(self, kind: UserType) -> tuple[Person, str]:
        """Make a user with each credential, who has never logged in; return a mobile number, too."""
        self._made += 1
        mobile = f"+86138001380{self._made:02}"
        return made(self.api, f"user{self._made}", kind, mobile=mobile), mobile

    def password(self, person: Person, _: str) -> Answer:
        return self.api.log_in(person.email)

    def sms(self, _: Person, mobile: str) -> Answer:
        return self.api.log_in(mobile, None, verificationCode=self.api.code(mobile, "login"))

    def reset(self, person: Person, _: str) -> Answer:
        code = self.api.code(person.email, "reset-password")
        body = {"verificationCode": code, "newPassword": "Another1Horse"}
        done = self.api.post(f"/users/{person.email}/reset-password", body)
        assert done.status_code == 200, done.text
        assert "accessToken" not in done.json
        return self.api.log_in(person.email, "Another1Horse")

    def wechat_site(self, _: Person, __: str) -> Answer:
        return self.logins.scan("lin")

    def mini_program(self, _: Person, __: str) -> Answer:
        return self.logins.open_mini_program("lin")


WAYS: dict[str, Callable[[Ways, Person, str], Answer]] = {
    "password": Ways.password,
    "SMS code": Ways.sms,
    "password reset": Ways.reset,
    "WeChat on a site": Ways.wechat_site,
    "WeChat's mini program": Ways.mini_program,
}
BY_ITSELF = {"WeChat on a site", "WeChat's mini program"}
"""Ways that register their users."""


@pytest.mark.parametrize("grace_days", [0, GRACE_DAYS])
@pytest.mark.parametrize("required_for", [[], ["admin"], ["tenant-admin"], ["all"]], ids=str)
def test_no_login_option_leaves_a_required_factor_out(
    api: Api, logins: Logins, required_for: list[str], grace_days: int
) -> None:
    ways, tried = Ways(api, logins), 0
    for kind in (UserType.USER, UserType.ADMIN):
        for name, way in WAYS.items():
            if name in BY_ITSELF and kind is UserType.ADMIN:
                continue
            person, mobile = ways.person(kind)
            is_required = "all" in required_for or (
                "admin" in required_for and kind is UserType.ADMIN and name not in BY_ITSELF
            )
            tried += 1
            answer = way(ways, person, mobile)
            if is_required and grace_days:
                assert answer.status_code == 200, (name, answer.text)
                due_at = answer.json["secondFactorDueAt"]
                api.clock.advance(GRACE_DAYS * DAY - 1)
                assert way(ways, person, mobile).json["secondFactorDueAt"] == due_at
                api.clock.advance(1)
                answer = way(ways, person, mobile)
            if is_required:
                done, _ = enrol_at_login(api, answer)
                assert claims_of(done.json["accessToken"])["acr"] == MULTI_FACTOR
                challenged(way(ways, person, mobile))
            else:
                assert answer.status_code == 200, (name, answer.text)
                assert "secondFactorDueAt" not in answer.json
                assert claims_of(answer.json["accessToken"])["acr"] == SINGLE_FACTOR
    assert tried == 8


@pytest.mark.parametrize("required_for", [["tenant-admin"]], ids=str)
def test_who_administers_a_tenant_needs_a_factor(api: Api) -> None:
    owner, member = api.person(), api.person()
    path = api.tenant(owner)
    api.join(path, owner, member)
    permitted(api.log_in(owner.email))
    assert api.log_in(member.email).status_code == 200
    api.join(path, owner, member, "admin")
    permitted(api.log_in(member.email))
    # A tenant that is deleted counts no longer.
    assert api.delete(path, by=owner).status_code == 200
    assert api.log_in(owner.email).status_code == 200


def test_the_first_administrator_enrols_at_the_first_login(api: Api) -> None:
    link = api.container.get(Setup).issue(Origin()).token
    body = {"token": link, "name": "Root", "email": "root@example.com", "password": PASSWORD}
    assert api.post("/setup", body).status_code == 201
    done, _ = enrol_at_login(api, api.log_in("root@example.com"))
    assert done.json["user"]["type"] == "ADMIN"


def test_who_registers_enrols_at_the_first_login(api: Api) -> None:
    code = api.code("new@example.com", "register")
    body = {
        "name": "New",
        "email": "new@example.com",
        "password": PASSWORD,
        "verificationCodes": [code],
    }
    registered = api.post("/users", body)
    assert registered.status_code == 201, registered.text
    assert "X-Access-Token" not in registered.headers
    enrol_at_login(api, api.log_in("new@example.com"))


def test_the_login_that_registers_a_user_enrols_too(api: Api, logins: Logins) -> None:
    done, secret = enrol_at_login(api, logins.scan("lin"))
    person = logins.person(done)
    api.clock.advance(30_000)
    challenge = challenged(logins.scan("lin"))
    body = {"challenge": {"id": challenge["id"], "totp": code_of(api, secret)}}
    again = api.post("/authorizations", body)
    assert again.json["user"]["id"] == person.id


class TestPermission:
    """What a login gets instead of tokens permits to enrol a factor, once, and nothing else."""

    def test_it_is_no_token_and_no_challenge(self, api: Api) -> None:
        person = made(api, "ann")
        permission = permitted(api.log_in(person.email))
        person.token = permission["id"]
        assert api.get("/users/me", by=person).status_code == 401
        assert api.post("/users/me/factors", {"kind": "totp"}, by=person).status_code == 401
        assert api.post("/authorizations/current/step-up", {}, by=person).status_code == 401
        answered = {"challenge": {"id": permission["id"], "totp": "000000"}}
        assert error_code(api.post("/authorizations", answered)) == "error.challenge-invalid"
        refreshed = api.post("/authorizations/refresh", {"refreshToken": permission["id"]})
        assert error_code(refreshed) == "error.token-invalid"

    def test_it_counts_once(self, api: Api) -> None:
        person = made(api, "ann")
        permission = permitted(api.log_in(person.email))
        first, second = begin(api, permission).json, begin(api, permission).json
        done = confirm(api, permission, first, code_of(api, first["shown"]["secret"]))
        assert done.status_code == 200
        again = confirm(api, permission, second, code_of(api, second["shown"]["secret"]))
        assert error_code(again) == "error.challenge-invalid"
        assert error_code(begin(api, permission)) == "error.challenge-invalid"
        person.token = done.json["accessToken"]
        assert len(api.get("/users/me/factors", by=person).json["data"]) == 1

    def test_it_is_used_up_with_the_factor(self, api: Api) -> None:
        # As two nodes do at the same moment; neither sees the other's factor yet.
        enrolments, person = api.container.get(FactorEnrolments), made(api, "ann")
        permission = permitted(api.log_in(person.email))
        begun = [begin(api, permission).json["id"] for _ in range(2)]
        data = Enrolment({"secret": "", "step": 0})
        with api.container.database.write() as connection:
            enrolments.finish(connection, person.id, begun[0], "totp", "", data, due=permission["id"])
            api.container.get(CredentialChanges).settle(connection, ChangedBy(None))
        with (
            pytest.raises(ChallengeInvalid),
            api.container.database.write() as connection,
        ):
            enrolments.finish(connection, person.id, begun[1], "totp", "", data, due=permission["id"])

    def test_those_of_other_logins_end_with_the_first_factor(self, api: Api) -> None:
        person = made(api, "ann")
        mine, other = (permitted(api.log_in(person.email)) for _ in range(2))
        begun = begin(api, other).json
        enrolled = begin(api, mine).json
        done = confirm(api, mine, enrolled, code_of(api, enrolled["shown"]["secret"]))
        assert done.status_code == 200
        late = confirm(api, other, begun, code_of(api, begun["shown"]["secret"]))
        assert error_code(late) == "error.challenge-invalid"

    def test_a_factor_enrolled_meanwhile_ends_it(self, api: Api) -> None:
        person = made(api, "ann")
        permission = permitted(api.log_in(person.email))
        begun = begin(api, permission).json
        # As a login would that has both the factor and this permission in the database.
        columns = "id, user_id, factor, is_backup, name, sealed_data, revision, created_at"
        values = "'x', :user, 'totp', :backup, '', '', 1, 0"
        added = f"INSERT INTO second_factors ({columns}) VALUES ({values})"
        with api.container.database.engine.begin() as connection:
            connection.execute(text(added), {"user": person.id, "backup": False})
        late = confirm(api, permission, begun, code_of(api, begun["shown"]["secret"]))
        assert error_code(late) == "error.challenge-invalid"

    def test_the_enrolment_of_another_user_does_not_fit(self, api: Api) -> None:
        mine = permitted(api.log_in(made(api, "ann").email))
        other = permitted(api.log_in(made(api, "bob").email))
        begun = begin(api, other).json
        mixed = confirm(api, mine, begun, code_of(api, begun["shown"]["secret"]))
        assert error_code(mixed) == "error.challenge-invalid"

    def test_it_expires(self, api: Api) -> None:
        permission = permitted(api.log_in(made(api, "ann").email))
        api.clock.advance(DUE_LIFETIME - 1)
        begun = begin(api, permission).json
        api.clock.advance(1)
        late = confirm(api, permission, begun, code_of(api, begun["shown"]["secret"]))
        assert error_code(late) == "error.challenge-invalid"
        assert error_code(begin(api, permission)) == "error.challenge-invalid"

    def test_it_is_for_the_device_of_the_first_proof(self, api: Api) -> None:
        permission = permitted(api.log_in(made(api, "ann").email))
        elsewhere: Json = {"headers": {"X-Device-Id": "other"}}
        assert error_code(begin(api, permission, **elsewhere)) == "error.challenge-invalid"
        begun = begin(api, permission).json
        code = code_of(api, begun["shown"]["secret"])
        refused = confirm(api, permission, begun, code, **elsewhere)
        assert error_code(refused) == "error.challenge-invalid"

    def test_a_new_password_voids_it(self, api: Api) -> None:
        person = made(api, "ann")
        permission = permitted(api.log_in(person.email))
        begun = begin(api, permission).json
        api.clock.advance(1)
        code = api.code(person.email, "reset-password")
        body = {"verificationCode": code, "newPassword": "Another1Horse"}
        assert api.post(f"/users/{person.email}/reset-password", body).status_code == 200
        late = confirm(api, permission, begun, code_of(api, begun["shown"]["secret"]))
        assert error_code(late) == "error.invalid-credentials"
        done, _ = enrol_at_login(api, api.log_in(person.email, "Another1Horse"))
        assert done.status_code == 200

    def test_a_suspended_user_enrols_nothing(self, api: Api) -> None:
        person = made(api, "ann")
        permission = permitted(api.log_in(person.email))
        begun = begin(api, permission).json
        admin, _ = enrol_at_login(api, api.log_in(made(api, "root", UserType.ADMIN).email))
        root = Person("", "", admin.json["accessToken"])
        assert api.post(f"/users/{person.id}/suspension", {}, by=root).status_code == 200
        late = confirm(api, permission, begun, code_of(api, begun["shown"]["secret"]))
        # The suspension has ended the enrolment.
        assert error_code(late) == "error.challenge-invalid"

    def test_wrong_answers_end_the_enrolment(self, api: Api) -> None:
        permission = permitted(api.log_in(made(api, "ann").email))
        begun = begin(api, permission).json
        for _ in range(TRIES):
            answer = wrong_code(begun["shown"]["secret"], api.clock.now() / 1000)
            wrong = confirm(api, permission, begun, answer)
            assert (wrong.status_code, error_code(wrong)) == (400, "error.factor-invalid")
        ended = confirm(api, permission, begun, code_of(api, begun["shown"]["secret"]))
        assert error_code(ended) == "error.challenge-invalid"

    @pytest.mark.parametrize("kind", ["recovery-code", "riddle", ""])
    def test_only_factors_of_their_own_are_enrolled(self, api: Api, kind: str) -> None:
        permission = permitted(api.log_in(made(api, "ann").email))
        assert begin(api, permission, kind).status_code == 400

    @pytest.mark.parametrize("secret", ["", "x", "x" * 43, "\u00e9" * 43, "x" * 64])
    def test_an_unknown_one_is_refused(self, api: Api, secret: str) -> None:
        refused = begin(api, {"id": secret})
        assert refused.status_code in (400, 401)
        assert refused.status_code == 400 or error_code(refused) == "error.challenge-invalid"


class TestRefresh:
    """A login that proves less than a new one would is refreshed no more."""

    @pytest.fixture
    def required_for(self) -> list[str]:
        return []

    def refresh(self, api: Api, answer: Answer) -> Answer:
        return api.post("/authorizations/refresh", {"refreshToken": answer.json["refreshToken"]})

    def test_other_logins_must_prove_a_new_factor(self, api: Api) -> None:
        person = api.person()
        other, mine = api.log_in(person.email), api.log_in(person.email)
        person.token = mine.json["accessToken"]
        secret = enrol(api, person)
        # The login that has enrolled the factor has proven it.
        again = self.refresh(api, mine)
        assert claims_of(again.json["accessToken"])["acr"] == MULTI_FACTOR
        refused = self.refresh(api, other)
        assert (refused.status_code, error_code(refused)) == (401, "error.step-up-required")
        assert f'acr_values="{MULTI_FACTOR}"' in refused.headers["WWW-Authenticate"]
        # The token was not used up: after a step-up it is accepted, once.
        person.token = other.json["accessToken"]
        challenge = challenged(api.post("/authorizations/current/step-up", {}, by=person))
        api.clock.advance(30_000)
        body = {"challenge": {"id": challenge["id"], "totp": code_of(api, secret)}}
        assert api.post("/authorizations/current/step-up", body, by=person).status_code == 200
        assert self.refresh(api, other).status_code == 200
        api.clock.advance(10_000)
        assert error_code(self.refresh(api, other)) == "error.token-invalid"

    def test_a_fresh_password_does_not_add_a_factor(self, api: Api) -> None:
        person = api.person()
        other, thief = api.log_in(person.email), api.log_in(person.email)
        thief_person = Person(person.id, "", thief.json["accessToken"])
        begun = api.post("/users/me/factors", {"kind": "totp"}, by=thief_person).json
        person.token = other.json["accessToken"]
        enrol(api, person)
        # An enrolment that was begun before the first factor cannot be finished after it.
        body = {"answer": code_of(api, begun["shown"]["secret"])}
        path = f"/users/me/factors/{begun['id']}/confirmation"
        refused = api.post(path, body, by=thief_person)
        assert error_code(refused) == "error.step-up-required"
        assert len(api.get("/users/me/factors", by=person).json["data"]) == 1

    def test_a_factor_that_is_removed_counts_no_longer(self, api: Api) -> None:
        person = api.person()
        first = api.log_in(person.email)
        person.token = first.json["accessToken"]
        enrol(api, person)
        factor = api.get("/users/me/factors", by=person).json["data"][0]["id"]
        assert api.delete(f"/users/me/factors/{factor}", by=person).status_code == 200
        (login,) = [
            login
            for login in api.get("/users/me/authorizations", by=person).json["data"]
            if login["current"]
        ]
        assert (login["acr"], login["amr"]) == (SINGLE_FACTOR, ["pwd"])
        again = self.refresh(api, first)
        assert claims_of(again.json["accessToken"])["acr"] == SINGLE_FACTOR


class TestNewPolicy:
    """A policy that begins to hold while users are logged in."""

    @pytest.fixture
    def required_for(self) -> list[str]:
        return ["tenant-admin"]

    def test_a_refresh_is_refused_from_then_on(self, api: Api) -> None:
        person = api.person()
        issued = api.log_in(person.email)
        body = {"refreshToken": issued.json["refreshToken"]}
        person.token = issued.json["accessToken"]
        path = api.tenant(person)
        refused = api.post("/authorizations/refresh", body)
        assert (refused.status_code, error_code(refused)) == (401, "error.step-up-required")
        # A user who still has a token may enrol, and the login continues.
        secret = enrol(api, person)
        assert api.post("/authorizations/refresh", body).status_code == 200
        api.clock.advance(30_000)
        challenge = challenged(api.log_in(person.email))
        answer = {"challenge": {"id": challenge["id"], "totp": code_of(api, secret)}}
        person.token = api.post("/authorizations", answer).json["accessToken"]
        assert api.get(path, by=person).status_code == 200

    def test_the_last_factor_stays(self, api: Api) -> None:
        person = api.person()
        enrol(api, person)
        api.tenant(person)
        factor = api.get("/users/me/factors", by=person).json["data"][0]["id"]
        refused = api.delete(f"/users/me/factors/{factor}", by=person)
        assert (refused.status_code, error_code(refused)) == (409, "error.second-factor-needed")
        assert len(api.get("/users/me/factors", by=person).json["data"]) == 1

    def test_access_keys_and_service_accounts_are_no_logins(self, api: Api) -> None:
        person = api.person()
        path = api.tenant(person)
        account = api.post(f"{path}/service-accounts", {"name": "robot"}, by=person).json["id"]
        body: Json = {"name": "key", "scopes": ["tenants:read"], "currentPassword": PASSWORD}
        keys = [f"{path}/service-accounts/{account}/access-keys", "/users/me/access-keys"]
        for place in keys:
            key = api.post(place, body, by=person)
            robot = Person(account, "", key.json["key"])
            assert api.get(path, by=robot).status_code == 200
            # A key is refreshed or exchanged for a login nowhere.
            refused = api.post("/authorizations/refresh", {"refreshToken": key.json["key"]})
            assert refused.status_code == 401
            stepped = api.post("/authorizations/current/step-up", {}, by=robot)
            assert error_code(stepped) == "error.key-not-accepted"


class TestGrace:
    """The days for which a user may log in without the factor."""

    @pytest.fixture
    def grace_days(self) -> int:
        return GRACE_DAYS

    def test_it_is_granted_once(self, api: Api) -> None:
        person = made(api, "ann")
        first = api.log_in(person.email)
        person.token = first.json["accessToken"]
        enrol(api, person)
        admin = made(api, "root", UserType.ADMIN)
        admin.token = api.log_in(admin.email).json["accessToken"]
        assert api.delete(f"/users/{person.id}/factors", by=admin).status_code == 200
        # A reset does not restart the grace period.
        again = api.log_in(person.email)
        assert again.json["secondFactorDueAt"] == first.json["secondFactorDueAt"]
        api.clock.advance(GRACE_DAYS * DAY)
        permitted(api.log_in(person.email))

    def test_a_refresh_states_it_and_ends_with_it(self, api: Api) -> None:
        issued = api.log_in(made(api, "ann").email)
        api.clock.advance(GRACE_DAYS * DAY - 1)
        body = {"refreshToken": issued.json["refreshToken"]}
        again = api.post("/authorizations/refresh", body)
        assert again.json["secondFactorDueAt"] == issued.json["secondFactorDueAt"]
        api.clock.advance(1)
        body = {"refreshToken": again.json["refreshToken"]}
        refused = api.post("/authorizations/refresh", body)
        assert error_code(refused) == "error.step-up-required"


class TestReport:
    """Who has which factors, for administrators."""

    @pytest.fixture
    def required_for(self) -> list[str]:
        return ["admin", "tenant-admin"]

    @pytest.fixture
    def grace_days(self) -> int:
        return GRACE_DAYS

    def test_it_states_what_each_user_has_and_needs(self, api: Api) -> None:
        admin, owner, user = api.person(admin=True), api.person(), api.person()
        path = api.tenant(owner)
        api.post(f"{path}/service-accounts", {"name": "robot"}, by=owner)
        api.log_in(owner.email)
        enrol(api, user)
        report = api.get("/second-factors", by=admin).json
        rows = {row["user"]["$ref"]: row for row in report["data"]}
        assert set(rows) == {admin.id, owner.id, user.id} == set(report["included"])
        needed = {user_id: row["isRequired"] for user_id, row in rows.items()}
        assert needed == {admin.id: True, owner.id: True, user.id: False}
        assert rows[user.id]["factors"] == ["totp"]
        assert rows[user.id]["dueAt"] is None
        assert rows[owner.id]["factors"] == []
        assert rows[owner.id]["dueAt"] == rows[admin.id]["dueAt"]
        missing = api.get("/second-factors?missing=true", by=admin).json["data"]
        assert [row["user"]["$ref"] for row in missing] == [admin.id, owner.id]
        enrol(api, admin)
        missing = api.get("/second-factors?missing=true&pageSize=1", by=admin).json
        assert missing["meta"]["totalCount"] == 1

    def test_it_is_for_administrators(self, api: Api) -> None:
        assert error_code(api.get("/second-factors", by=api.person())) == "error.forbidden"
