"""Users as administrators create and change them."""

import re
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pyotp
import pytest
from sqlalchemy import select
from tests.support.api import PASSWORD, Answer, Api, Json, Person, error_code
from tests.support.config import SMS_LOGIN, merged

from strongroom.foundation.caller import Identity
from strongroom.identity.accounts.reauthentication import Reauthentication
from strongroom.identity.users.models import user_metadata
from strongroom.testing.clock import HOUR, MINUTE

EMAIL = "alice@example.com"
MOBILE = "+8613800138000"
PHPASS = {"algorithm": "phpass", "hash": "$P$9IQRaTwmfeRo7ud9Fh4E2PdI0S3r.L0"}
PHPASS_PASSWORD = "test12345"

pytestmark = pytest.mark.config(
    merged(
        SMS_LOGIN,
        {
            "plugins": {"enabled": ["storage_local", "login_sms", "password_schemes", "factor_totp"]},
            "users": {"link_url": "https://app.example.com/password#"},
        },
    )
)


@pytest.fixture
def root(api: Api) -> Person:
    """The administrator."""
    return api.person(admin=True, email="root@example.com", name="Root")


def created(api: Api, root: Person, **body: Any) -> Json:
    """Return a user that the administrator has created."""
    response = api.post("/users", {"name": "Alice", **body}, by=root)
    assert response.status_code == 201, response.text
    user: Json = response.json
    return user


def logged_in(answer: Answer, email: str = "") -> Person:
    """Return the user of a successful login."""
    assert answer.status_code == 200, answer.text
    return Person(answer.json["user"]["id"], email, answer.headers["X-Access-Token"])


def details(answer: Answer) -> list[tuple[str, str]]:
    """Return the fields and the codes of an error."""
    return [(each["field"], each["code"]) for each in answer.json["error"]["details"]]


class TestCreation:
    """Administrators create users by the path of registration."""

    def test_needs_neither_a_code_nor_a_captcha_nor_a_password(self, api: Api, root: Person) -> None:
        response = api.post("/users", {"name": "Alice", "email": "Alice@Example.com"}, by=root)
        assert response.status_code == 201
        user = response.json
        assert response.headers["Location"].endswith(f"/users/{user['id']}")
        shown = (user["email"], user["emailVerified"], user["type"])
        assert shown == ("Alice@example.com", False, "USER")
        assert api.get(f"/users/{user['id']}", by=root).headers["ETag"] == response.headers["ETag"]
        code = api.code(EMAIL, "reset-password")
        reset = {"verificationCode": code, "newPassword": PASSWORD}
        assert api.post(f"/users/{EMAIL}/reset-password", reset).status_code == 200
        assert logged_in(api.log_in(EMAIL)).id == user["id"]

    def test_stores_everything_that_is_stated(self, api: Api, root: Person) -> None:
        body = {
            "email": EMAIL, "emailVerified": True, "mobile": MOBILE, "username": "alice",
            "password": PASSWORD, "externalId": "hr-17", "metadata": {"team": "x"},
            "serverMetadata": {"plan": "gold"},
        }  # fmt: skip
        user = created(api, root, **body)
        stated = {name: user[name] for name in ("email", "mobile", "username", "externalId")}
        assert stated == {name: body[name] for name in stated}
        assert (user["emailVerified"], user["mobileVerified"]) == (True, False)
        assert user["passwordChangeRequired"] is False
        assert api.get(f"/users/{user['id']}", by=root).json == user
        listed = api.get("/users?username=alice", by=root).json["data"]
        assert listed == [user]

    def test_users_do_not_see_what_is_for_administrators(self, api: Api, root: Person) -> None:
        body = {"email": EMAIL, "password": PASSWORD, "serverMetadata": {"plan": "gold"}}
        created(api, root, **body)
        alice = logged_in(api.log_in(EMAIL))
        seen = api.get("/users/me", by=alice).json
        assert not {"suspensionReason", "serverMetadata"} & set(seen)
        assert "suspensionReason" in api.get(f"/users/{alice.id}", by=root).json
        assert "gold" not in str(seen)

    def test_takes_over_the_password_of_another_system(self, api: Api, root: Person) -> None:
        user = created(api, root, email=EMAIL, passwordHash=PHPASS)
        assert logged_in(api.log_in(EMAIL, PHPASS_PASSWORD)).id == user["id"]

    @pytest.mark.parametrize(
        ("body", "expected"),
        [
            ({}, [("email", "invalid")]),
            ({"email": "no address"}, [("email", "invalid")]),
            ({"username": "al", "mobile": "12"}, [("mobile", "invalid"), ("username", "invalid")]),
            ({"username": "alice", "emailVerified": True}, [("emailVerified", "invalid")]),
            ({"username": "alice", "password": "weak"}, None),
            ({"username": "alice", "passwordChangeRequired": True}, None),
            ({"username": "alice", "password": PASSWORD, "passwordHash": PHPASS}, None),
            ({"username": "alice", "passwordHash": {"algorithm": "rot13"}}, None),
            ({"username": "alice", "passwordHash": {}}, None),
            ({"username": "alice", "metadata": {"a": "x" * 16_384}}, [("metadata", "invalid")]),
            ({"username": "alice", "metadata": []}, [("metadata", "invalid")]),
            ({"username": "alice", "externalId": "x" * 256}, [("externalId", "invalid")]),
            ({"username": "alice", "type": "ADMIN"}, [("type", "unknown-field")]),
            ({"username": "alice", "invitation": "x"}, [("invitation", "unknown-field")]),
        ],
    )
    def test_a_wrong_field_is_named(
        self, api: Api, root: Person, body: Json, expected: list[tuple[str, str]] | None
    ) -> None:
        answer = api.post("/users", {"name": "Alice", **body}, by=root)
        assert (answer.status_code, error_code(answer)) == (400, "error.validation-failed")
        if expected:
            assert sorted(details(answer)) == expected
        else:
            assert details(answer)[0][0] in body
        assert api.get("/users", by=root).json["meta"]["totalCount"] == 1

    def test_a_deep_object_is_no_metadata(self, api: Api, root: Person) -> None:
        value: Any = "x"
        for _ in range(17):
            value = {"a": value}
        answer = api.post("/users", {"name": "A", "username": "alice", "metadata": value}, by=root)
        assert details(answer) == [("metadata", "invalid")]

    def test_names_and_external_ids_are_taken_once(self, api: Api, root: Person) -> None:
        created(api, root, username="alice", externalId="hr-17")
        answer = api.post("/users", {"name": "B", "username": "bob", "externalId": "hr-17"}, by=root)
        assert (answer.status_code, error_code(answer)) == (409, "error.credential-taken")
        assert details(answer) == [("externalId", "taken")]
        answer = api.post("/users", {"name": "B", "username": "Alice"}, by=root)
        assert details(answer) == [("username", "taken")]
        # Neither has left anything behind.
        created(api, root, username="bob", externalId="hr-18")

    def test_a_deletion_releases_the_external_id(self, api: Api, root: Person) -> None:
        user = created(api, root, username="alice", externalId="hr-17")
        assert api.delete(f"/users/{user['id']}", by=root).status_code == 200
        created(api, root, username="alice", externalId="hr-17")

    def test_records_the_administrator(self, api: Api, root: Person) -> None:
        user = created(api, root, email=EMAIL)
        query = f"action=user.create&targetId={user['id']}"
        (record,) = api.get(f"/audit-events?{query}", by=root).json["data"]
        assert record["actor"] == {"$ref": root.id}

    @pytest.mark.config({"users": {"registration": "closed"}})
    def test_is_possible_while_registration_is_closed(self, api: Api, root: Person) -> None:
        created(api, root, email=EMAIL)
        assert error_code(
            api.post("/users", {"name": "B", "username": "bob", "password": PASSWORD})
        ) == ("error.registration-closed")

    @pytest.mark.config({"limits": {"managed_users_per_caller": ["2/hour"]}})
    def test_is_limited_per_administrator(self, api: Api, root: Person) -> None:
        other = api.person(admin=True)
        for by, statuses in ((root, [201, 201, 429]), (other, [201, 201, 429])):
            answers = [api.post("/users", {"name": "A", "username": f"u{by.id[-6:]}{i}"}, by=by)
                       for i in range(3)]  # fmt: skip
            assert [answer.status_code for answer in answers] == statuses

    @pytest.mark.config({"limits": {"register_per_address": ["1/hour"]}})
    def test_does_not_use_up_registrations_of_the_address(self, api: Api, root: Person) -> None:
        for name in ("alice", "bob"):
            created(api, root, username=name)
        body = {"name": "Carol", "username": "carol", "password": PASSWORD}
        assert error_code(api.post("/users", body)) == "error.captcha-required"
        assert api.post("/users", body).status_code == 429


class TestOtherCallers:
    """Registration is for all others, as without a token."""

    def test_the_token_of_a_user_changes_nothing(self, api: Api) -> None:
        alice = api.person()
        body = {"name": "Bob", "username": "bob", "password": PASSWORD}
        assert error_code(api.post("/users", body, by=alice)) == "error.captcha-required"
        answer = api.post("/users", {**body, "captcha": api.captcha()}, by=alice)
        assert answer.status_code == 201
        assert "suspensionReason" not in answer.json

    @pytest.mark.parametrize("has_token", [True, False])
    def test_fields_of_administrators_are_refused_by_name(self, api: Api, has_token: bool) -> None:
        by = api.person() if has_token else None
        body = {"emailVerified": True, "passwordHash": PHPASS, "externalId": "1", "serverMetadata": {}}
        answer = api.post("/users", {"name": "B", "email": EMAIL, "password": PASSWORD, **body}, by=by)
        assert answer.status_code == 400
        assert sorted(details(answer)) == [(name, "administrators-only") for name in sorted(body)]

    def test_a_missing_password_is_named_with_the_other_fields(self, api: Api) -> None:
        answer = api.post("/users", {"email": EMAIL})
        assert details(answer) == [("name", "required"), ("password", "required")]

    def test_an_invalid_token_is_no_registration(self, api: Api) -> None:
        body = {"name": "Bob", "username": "bob", "password": PASSWORD, "captcha": api.captcha()}
        answer = api.post("/users", body, by=Person("", "", "not-a-token"))
        assert (answer.status_code, error_code(answer)) == (401, "error.token-invalid")

    @pytest.mark.config({"limits": {"register_per_address": ["2/hour"]}})
    def test_a_token_does_not_circumvent_the_limit_of_the_address(self, api: Api) -> None:
        alice = api.person()
        body = {"name": "Bob", "username": "bob", "password": PASSWORD}
        answers = [api.post("/users", body, by=alice) for _ in range(3)]
        assert [answer.status_code for answer in answers] == [400, 400, 429]


def user_of(api: Api, root: Person, **body: Any) -> Person:
    """Return a user with a verified address and a password, logged in."""
    user = created(api, root, **{"email": EMAIL, "emailVerified": True, "password": PASSWORD, **body})
    answer = api.log_in(EMAIL)
    return Person(user["id"], EMAIL, answer.headers.get("X-Access-Token"))


def code_login(api: Api, recipient: str) -> Answer:
    """Log in by a code."""
    return api.log_in(recipient, None, verificationCode=api.code(recipient, "login"))


class TestVerification:
    """A contact that no proof has verified proves nothing, until its holder returns a code."""

    def test_a_code_verifies_the_contact(self, api: Api, root: Person) -> None:
        user = created(api, root, mobile=MOBILE, email=EMAIL)
        assert code_login(api, MOBILE).status_code == 200
        seen = api.get(f"/users/{user['id']}", by=root).json
        assert (seen["mobileVerified"], seen["emailVerified"]) == (True, False)

    def test_a_login_by_the_password_verifies_nothing(self, api: Api, root: Person) -> None:
        alice = user_of(api, root, emailVerified=False)
        assert api.get("/users/me", by=alice).json["emailVerified"] is False
        (credential,) = api.get("/users/me/credentials", by=alice).json["data"]
        assert credential["verified"] is False

    def test_a_code_of_a_registration_verifies_nothing(self, api: Api, root: Person) -> None:
        user = created(api, root, email=EMAIL)
        codes = [api.code(EMAIL, "register")]
        body = {"name": "B", "email": EMAIL, "password": PASSWORD, "verificationCodes": codes}
        assert error_code(api.post("/users", body)) == "error.credential-taken"
        assert api.get(f"/users/{user['id']}", by=root).json["emailVerified"] is False

    def test_what_an_administrator_says_of_a_contact_is_recorded(self, api: Api, root: Person) -> None:
        alice = user_of(api, root, emailVerified=False)
        path, sent = f"/users/{alice.id}/contacts/email", len(api.outbox())
        (former,) = api.get("/users/me/credentials", by=alice).json["data"]
        api.clock.advance(1000)
        # The third says the same again.
        for verified in (True, False, False):
            body = {"value": EMAIL, "verified": verified}
            assert api.put(path, body, by=root).status_code == 200
        (held,) = api.get("/users/me/credentials", by=alice).json["data"]
        assert held["createdAt"] == former["createdAt"]
        records = api.get(f"/audit-events?targetId={alice.id}&action=credential.bind", by=root)
        details = [each["details"] for each in records.json["data"]]
        assert [each.get("verified") for each in details] == ["false", "true"]
        texts = [each["text"] for each in api.outbox()[sent:] if each["recipient"] == EMAIL]
        assert [" not verified" in text for text in texts] == [False, True]

    def test_an_unverified_contact_is_no_proof(self, api: Api, root: Person) -> None:
        alice = user_of(api, root, emailVerified=False)
        body = {"mobile": MOBILE, "verificationCode": api.code(MOBILE, "bind")}
        held = {"heldCode": api.code(EMAIL, "bind")}
        answer = api.post("/users/me/mobiles", {**body, **held}, by=alice)
        assert details(answer) == [("currentPassword", "required")]
        proof = {"currentPassword": PASSWORD}
        assert api.post("/users/me/mobiles", {**body, **proof}, by=alice).status_code == 201
        # Nor is it one to remove the verified contact.
        api.clock.advance(MINUTE)
        code = api.code(EMAIL, "unbind")
        headers = {"X-Verification-Code": f"{code['id']}.{code['code']}"}
        answer = api.delete("/users/me/mobiles", by=alice, headers=headers)
        assert error_code(answer) == "error.code-invalid"

    def test_invitations_wait_for_the_verification(self, api: Api, root: Person) -> None:
        tenant = api.tenant(root)
        assert api.post(f"{tenant}/invitations", {"email": EMAIL}, by=root).status_code == 201
        alice = user_of(api, root, emailVerified=False)
        assert api.get("/users/me/invitations", by=alice).json["data"] == []
        assert api.get(tenant, by=alice).status_code == 403
        reset = {"verificationCode": api.code(EMAIL, "reset-password"), "newPassword": NEW}
        assert api.post(f"/users/{EMAIL}/reset-password", reset).status_code == 200
        alice = logged_in(api.log_in(EMAIL, NEW))
        assert api.get(tenant, by=alice).status_code == 200


class TestContacts:
    """Administrators set what users log in by."""

    def test_sets_a_contact_and_notifies_both(self, api: Api, root: Person) -> None:
        alice = user_of(api, root)
        sent = len(api.outbox())
        body = {"value": "New@Example.com", "verified": True}
        answer = api.put(f"/users/{alice.id}/contacts/email", body, by=root)
        assert answer.status_code == 200, answer.text
        assert (answer.json["value"], answer.json["verified"]) == ("New@example.com", True)
        assert {each["recipient"] for each in api.outbox()[sent:]} == {EMAIL, "New@example.com"}
        assert api.log_in(EMAIL).status_code == 401
        assert api.log_in("new@example.com").status_code == 200

    def test_codes_and_links_of_the_former_contact_are_void(self, api: Api, root: Person) -> None:
        alice = user_of(api, root)
        code, token = api.code(EMAIL, "reset-password"), sent_link(api, root, alice.id)
        path = f"/users/{alice.id}/contacts/email"
        assert api.put(path, {"value": "new@example.com"}, by=root).status_code == 200
        assert api.put(path, {"value": EMAIL}, by=root).status_code == 200
        reset = {"verificationCode": code, "newPassword": NEW}
        answer = api.post(f"/users/{EMAIL}/reset-password", reset)
        assert error_code(answer) == "error.code-invalid"
        assert error_code(redeem(api, token)) == "error.account-link-invalid"

    def test_removes_even_the_last_one(self, api: Api, root: Person) -> None:
        alice = user_of(api, root)
        path = f"/users/{alice.id}/contacts/email"
        assert api.delete(path, by=root).status_code == 200
        assert api.delete(path, by=root).status_code == 404
        assert api.get(f"/users/{alice.id}", by=root).json["email"] is None
        assert api.log_in(EMAIL).status_code == 401

    def test_records_the_administrator(self, api: Api, root: Person) -> None:
        alice = user_of(api, root)
        for kind, value in (("mobile", MOBILE), ("username", "alice")):
            path = f"/users/{alice.id}/contacts/{kind}"
            assert api.put(path, {"value": value}, by=root).status_code == 200
        assert api.delete(f"/users/{alice.id}/contacts/mobile", by=root).status_code == 200
        query = f"action={{}}&targetId={alice.id}"
        for action, count in (("credential.bind", 2), ("credential.unbind", 1)):
            records = api.get(f"/audit-events?{query.format(action)}", by=root).json["data"]
            assert [record["actor"] for record in records] == [{"$ref": root.id}] * count

    def test_wrong_requests_are_refused(self, api: Api, root: Person) -> None:
        alice, path = user_of(api, root), "/users/{}/contacts/{}"
        created(api, root, username="bob")
        cases = [
            (path.format(alice.id, "email"), {"value": "a\r\nBcc: b@example.com"}, 400),
            (path.format(alice.id, "email"), {"value": MOBILE}, 400),
            (path.format(alice.id, "email"), {}, 400),
            (path.format(alice.id, "username"), {"value": "bob"}, 409),
            (path.format(alice.id, "passkey"), {"value": "x"}, 404),
            (path.format("0190a1b2-0000-7000-8000-000000000000", "email"), {"value": EMAIL}, 404),
        ]
        for url, body, status in cases:
            assert api.put(url, body, by=root).status_code == status, (url, body)
        assert api.put(path.format(alice.id, "email"), {"value": EMAIL}, by=alice).status_code == 403


TAKEOVERS = [
    ("PUT", "contacts/email", {"value": "mallory@example.com"}),
    ("DELETE", "contacts/email", None),
    ("POST", "temporary-password", None),
    ("POST", "links", {"kind": "reset", "send": False}),
]


@pytest.mark.parametrize(("method", "path", "body"), TAKEOVERS)
def test_no_administrator_takes_over_an_equal_or_the_own_account(
    api: Api, root: Person, method: str, path: str, body: Json | None
) -> None:
    other, user = api.person(admin=True), api.person()
    sent = len(api.outbox())
    for target, by, status, code in (
        (other, root, 403, "error.forbidden"),
        (root, root, 409, "error.own-account"),
        (other, user, 403, "error.forbidden"),
        (user, user, 403, "error.forbidden"),
    ):
        answer = api.request(method, f"/users/{target.id}/{path}", json=body, by=by)
        assert (answer.status_code, error_code(answer)) == (status, code)
    assert api.log_in(other.email).status_code == 200
    assert len(api.outbox()) == sent


NEW = "Another1Horse"
OTHER = "Yet1MoreHorse"


def given(api: Api, root: Person, user_id: str) -> str:
    """Return a temporary password of a user."""
    answer = api.post(f"/users/{user_id}/temporary-password", by=root)
    assert answer.status_code == 201, answer.text
    password: str = answer.json["password"]
    return password


class TestTemporaryPassword:
    """A temporary password logs in only together with a new one."""

    def test_the_login_changes_it(self, api: Api, root: Person) -> None:
        alice = user_of(api, root)
        sent = len(api.outbox())
        password = given(api, root, alice.id)
        assert [each["recipient"] for each in api.outbox()[sent:]] == [EMAIL]
        assert api.get("/users/me", by=alice).status_code == 401
        assert api.log_in(EMAIL).status_code == 401
        refused = api.log_in(EMAIL, password)
        assert (refused.status_code, error_code(refused)) == (401, "error.password-change-required")
        assert refused.json["passwordChange"]["expiresAt"]
        assert "X-Access-Token" not in refused.headers
        assert api.get(f"/users/{alice.id}", by=root).json["passwordChangeRequired"] is True
        changed = logged_in(api.log_in(EMAIL, password, newPassword=NEW))
        assert api.get("/users/me", by=changed).json["passwordChangeRequired"] is False
        assert api.log_in(EMAIL, password).status_code == 401
        assert api.log_in(EMAIL, NEW).status_code == 200
        actions = [
            each["action"]
            for each in api.get(f"/audit-events?targetId={alice.id}", by=root).json["data"]
        ]
        assert {"password.give", "password.change"} <= set(actions)

    def test_the_change_ends_other_logins(self, api: Api, root: Person) -> None:
        alice = user_of(api, root, mobile=MOBILE)
        password = given(api, root, alice.id)
        by_code = logged_in(code_login(api, MOBILE))
        assert api.get("/users/me", by=by_code).status_code == 200
        logged_in(api.log_in(EMAIL, password, newPassword=NEW))
        assert api.get("/users/me", by=by_code).status_code == 401

    def test_it_is_wrong_after_72_hours(self, api: Api, root: Person) -> None:
        alice = user_of(api, root, mobile=MOBILE)
        password = given(api, root, alice.id)
        api.clock.advance(72 * HOUR - 1)
        assert error_code(api.log_in(EMAIL, password)) == "error.password-change-required"
        by_code = logged_in(code_login(api, MOBILE))
        api.clock.advance(1)
        for new in (None, NEW):
            answer = api.log_in(EMAIL, password, newPassword=new)
            assert error_code(answer) == "error.invalid-credentials"
        body = {"oldPassword": password, "newPassword": NEW}
        assert error_code(api.put("/users/me/password", body, by=by_code)) == "error.wrong-password"

    def test_a_change_of_type_ends_it(self, api: Api, root: Person) -> None:
        user = user_of(api, root)
        password = given(api, root, user.id)
        assert api.patch(f"/users/{user.id}", {"type": "ADMIN"}, by=root).status_code == 200
        for new in (None, NEW):
            answer = api.log_in(EMAIL, password, newPassword=new)
            assert error_code(answer) == "error.invalid-credentials"

    def test_a_change_of_type_keeps_a_password_that_the_user_chose(self, api: Api, root: Person) -> None:
        user = user_of(api, root, password=PASSWORD)
        assert api.patch(f"/users/{user.id}", {"type": "ADMIN"}, by=root).status_code == 200
        assert api.log_in(EMAIL).status_code == 200

    def test_new_passwords_are_checked(self, api: Api, root: Person) -> None:
        alice = user_of(api, root)
        password = given(api, root, alice.id)
        for new, code in ((password, "unchanged"), ("short1A", "too-short")):
            answer = api.log_in(EMAIL, password, newPassword=new)
            assert details(answer) == [("newPassword", code)]
        answer = api.log_in(EMAIL, "Wrong1Horse", newPassword=NEW)
        assert error_code(answer) == "error.invalid-credentials"
        answer = api.log_in(EMAIL, None, newPassword=NEW)
        assert details(answer) == [("newPassword", "invalid")]

    def test_a_password_that_need_not_change_stays(self, api: Api, root: Person) -> None:
        user_of(api, root)
        answer = api.log_in(EMAIL, PASSWORD, newPassword=NEW)
        assert details(answer) == [("newPassword", "not-due")]
        assert api.log_in(EMAIL).status_code == 200

    def test_a_password_of_the_creation_may_have_to_change(self, api: Api, root: Person) -> None:
        created(api, root, email=EMAIL, password=PASSWORD, passwordChangeRequired=True)
        refused = api.log_in(EMAIL)
        assert error_code(refused) == "error.password-change-required"
        assert refused.json["passwordChange"] == {"expiresAt": None}
        logged_in(api.log_in(EMAIL, PASSWORD, newPassword=NEW))

    def test_a_second_factor_is_still_required(self, api: Api, root: Person) -> None:
        alice = user_of(api, root)
        secret = enrolled(api, alice)
        password = given(api, root, alice.id)
        assert error_code(api.log_in(EMAIL, password)) == "error.password-change-required"
        missing = api.log_in(EMAIL, password, newPassword=NEW)
        assert error_code(missing) == "error.second-factor-required"
        # Nothing has changed before the second proof.
        assert error_code(api.log_in(EMAIL, NEW)) == "error.invalid-credentials"
        challenge = {"id": missing.json["challenge"]["id"], "totp": pyotp.TOTP(secret).now()}
        logged_in(api.post("/authorizations", {"challenge": challenge}))
        assert error_code(api.log_in(EMAIL, NEW)) == "error.second-factor-required"

    def test_one_of_many_changes_at_once_succeeds(self, api: Api, root: Person) -> None:
        alice = user_of(api, root)
        password = given(api, root, alice.id)
        answers = at_once(8, lambda index: api.log_in(EMAIL, password, newPassword=f"{NEW}{index}"))
        (number,) = [i for i, answer in enumerate(answers) if answer.status_code == 200]
        # The others have failed, so that a login needs a captcha.
        answer = api.log_in(EMAIL, f"{NEW}{number}", captcha=api.captcha())
        assert answer.status_code == 200
        token = answers[number].headers["X-Access-Token"]
        assert api.get("/users/me", by=Person("", "", token)).status_code == 200


def enrolled(api: Api, person: Person) -> str:
    """Return the secret of the authenticator app that a user enrols."""
    begun = api.post("/users/me/totp", by=person)
    assert begun.status_code == 201, begun.text
    secret: str = begun.json["secret"]
    # The code before the current one, so that the test can use the current one.
    code = pyotp.TOTP(secret).at(time.time() - 30)
    body = {"code": code}
    assert api.post("/users/me/totp/confirmation", body, by=person).status_code == 200
    return secret


def at_once(count: int, act: Callable[[int], Answer]) -> list[Answer]:
    """Act several times at once, and return the answers in order."""
    barrier = Barrier(count)

    def run(index: int) -> Answer:
        barrier.wait()
        return act(index)

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(run, range(count)))


def link(api: Api, root: Person, user_id: str, kind: str = "reset") -> str:
    """Return the token of a link that the administrator passes on."""
    answer = api.post(f"/users/{user_id}/links", {"kind": kind, "send": False}, by=root)
    assert answer.status_code == 201, answer.text
    url, _, token = answer.json["url"].partition("#")
    assert url == "https://app.example.com/password"
    return str(token)


def sent_link(api: Api, root: Person, user_id: str, kind: str = "reset") -> str:
    """Return the token of a link that was sent to the user."""
    answer = api.post(f"/users/{user_id}/links", {"kind": kind, "send": True}, by=root)
    assert answer.status_code == 201, answer.text
    assert set(answer.json) == {"expiresAt"}
    return token_of(api.outbox()[-1])


def token_of(message: Json) -> str:
    (token,) = set(re.findall(r"/password#(\S+)", message["text"]))
    return str(token)


def redeem(api: Api, token: str, password: str = NEW) -> Answer:
    return api.post("/users/password-links", {"token": token, "newPassword": password})


class TestLinks:
    """A link sets a password, once."""

    def test_an_invited_user_chooses_a_password(self, api: Api, root: Person) -> None:
        user = created(api, root, email=EMAIL, invite=True)
        message = api.outbox()[-1]
        assert message["recipient"] == EMAIL
        assert redeem(api, token_of(message)).status_code == 200
        assert logged_in(api.log_in(EMAIL, NEW)).id == user["id"]
        # It was sent to the address, so its use proves the address.
        assert api.get(f"/users/{user['id']}", by=root).json["emailVerified"] is True

    def test_a_link_that_the_administrator_passes_on_proves_no_contact(
        self, api: Api, root: Person
    ) -> None:
        user = created(api, root, email=EMAIL)
        assert redeem(api, link(api, root, user["id"])).status_code == 200
        assert api.get(f"/users/{user['id']}", by=root).json["emailVerified"] is False

    def test_it_ends_logins_and_is_used_once(self, api: Api, root: Person) -> None:
        alice = user_of(api, root)
        token = link(api, root, alice.id)
        assert details(redeem(api, token, "weak"))[0][0] == "newPassword"
        assert redeem(api, token).status_code == 200
        assert api.get("/users/me", by=alice).status_code == 401
        assert api.log_in(EMAIL).status_code == 401
        for wrong in (token, "unknown", "x" * 128):
            answer = redeem(api, wrong, OTHER)
            assert (answer.status_code, error_code(answer)) == (400, "error.account-link-invalid")
        assert api.log_in(EMAIL, NEW).status_code == 200

    @pytest.mark.parametrize(("kind", "hours"), [("reset", 24), ("invite", 7 * 24)])
    def test_it_expires(self, api: Api, root: Person, kind: str, hours: int) -> None:
        alice = user_of(api, root)
        token = link(api, root, alice.id, kind)
        api.clock.advance(hours * HOUR - 1)
        api.clock.advance(1)
        assert error_code(redeem(api, token)) == "error.account-link-invalid"

    def test_a_newer_one_of_the_kind_and_a_changed_password_void_it(
        self, api: Api, root: Person
    ) -> None:
        alice = user_of(api, root)
        invite, first = link(api, root, alice.id, "invite"), link(api, root, alice.id)
        second = link(api, root, alice.id)
        assert redeem(api, first).status_code == 400
        assert redeem(api, second).status_code == 200
        assert redeem(api, invite).status_code == 400
        last = link(api, root, alice.id)
        body = {"oldPassword": NEW, "newPassword": OTHER}
        alice = logged_in(api.log_in(EMAIL, NEW))
        assert api.put("/users/me/password", body, by=alice).status_code == 200
        assert redeem(api, last).status_code == 400

    def test_one_of_sixteen_redemptions_at_once_succeeds(self, api: Api, root: Person) -> None:
        alice = user_of(api, root)
        token = link(api, root, alice.id)
        answers = at_once(16, lambda index: redeem(api, token, f"{NEW}{index}"))
        statuses = [answer.status_code for answer in answers]
        assert statuses.count(200) == 1
        assert set(statuses) <= {200, 400, 503}
        assert api.log_in(EMAIL, f"{NEW}{statuses.index(200)}").status_code == 200

    def test_another_administrator_gets_only_a_sent_one(self, api: Api, root: Person) -> None:
        other = api.person(admin=True)
        assert redeem(api, sent_link(api, root, other.id)).status_code == 200
        assert api.outbox()[-1]["recipient"] == other.email

    def test_a_deleted_user_has_none(self, api: Api, root: Person) -> None:
        alice = user_of(api, root)
        token = link(api, root, alice.id)
        assert api.delete(f"/users/{alice.id}", by=root).status_code == 200
        assert error_code(redeem(api, token)) == "error.account-link-invalid"

    def test_the_message_contains_no_text_of_users(self, api: Api, root: Person) -> None:
        name = "Eve\u3000 http://evil.example/ <b>"
        user = created(api, root, email=EMAIL, name=name)
        sent_link(api, root, user["id"])
        message = api.outbox()[-1]
        assert "evil" not in message["text"]
        assert "http://" not in message["text"]

    def test_no_contact_and_no_page_are_named(self, api: Api, root: Person) -> None:
        user = created(api, root, username="alice")
        answer = api.post(f"/users/{user['id']}/links", {"kind": "reset"}, by=root)
        assert details(answer) == [("send", "no-contact")]
        answer = api.post("/users", {"name": "B", "username": "bob", "invite": True}, by=root)
        assert answer.status_code == 400
        assert api.get("/users?username=bob", by=root).json["data"] == []

    @pytest.mark.config({"users": {"link_url": None}})
    def test_a_server_without_a_page_names_the_remedy(self, api: Api, root: Person) -> None:
        alice = user_of(api, root)
        answer = api.post(f"/users/{alice.id}/links", {"kind": "reset"}, by=root)
        assert answer.status_code == 501
        assert "link_url" in answer.json["error"]["message"]


def test_a_service_account_manages_users_with_its_scope(api: Api, root: Person) -> None:
    account = api.post("/api/v1/service-accounts", {"name": "HR"}, by=root).json
    robots = {}
    for scope in ("users:read", "users:write"):
        body = {"name": "key", "scopes": [scope], "currentPassword": PASSWORD}
        answer = api.post(f"/users/{account['id']}/access-keys", body, by=root)
        assert answer.status_code == 201, answer.text
        robots[scope] = Person(account["id"], "", answer.json["key"])
    alice = created(api, robots["users:write"], email=EMAIL, metadata={"a": 1})["id"]
    changes: list[tuple[str, str, Json | None]] = [
        *TAKEOVERS[2:],
        ("PUT", "contacts/username", {"value": "alice"}),
        ("DELETE", "contacts/username", None),
        ("PATCH", "metadata", {}),
        ("PATCH", "server-metadata", {}),
    ]
    for method, path, change in changes:
        answers = {
            scope: api.request(method, f"/users/{alice}/{path}", json=change, by=robot)
            for scope, robot in robots.items()
        }
        assert error_code(answers["users:read"]) == "error.insufficient-scope", path
        assert answers["users:write"].status_code in (200, 201), path
        refused = api.request(method, f"/users/{root.id}/{path}", json=change, by=robots["users:write"])
        assert refused.status_code == 403, path
    for path in ("metadata", "server-metadata"):
        assert api.get(f"/users/{alice}/{path}", by=robots["users:read"]).status_code == 200


class TestMetadata:
    """Objects about users, merged as RFC 7396 has it."""

    def test_users_write_their_own(self, api: Api, root: Person) -> None:
        alice = user_of(api, root, metadata={"theme": {"dark": True, "size": 1}, "x": [1]})
        path = "/users/me/metadata"
        body = {"theme": {"size": None, "font": "Song"}, "x": {"y": None}}
        answer = api.patch(path, body, by=alice)
        assert answer.json == {"theme": {"dark": True, "font": "Song"}, "x": {}}
        assert api.get(path, by=alice).json == answer.json
        assert api.get(f"/users/{alice.id}/metadata", by=root).json == answer.json
        assert api.get(f"/users/{root.id}/metadata", by=alice).status_code == 403
        assert api.patch(f"/users/{root.id}/metadata", {}, by=alice).status_code == 403

    def test_users_never_see_those_of_administrators(self, api: Api, root: Person) -> None:
        alice = user_of(api, root, serverMetadata={"plan": "gold"})
        path = f"/users/{alice.id}/server-metadata"
        assert api.get(path, by=root).json == {"plan": "gold"}
        assert api.patch(path, {"plan": "iron"}, by=root).json == {"plan": "iron"}
        for method in ("GET", "PATCH"):
            assert api.request(method, path, json={}, by=alice).status_code == 403
        assert api.get("/users/me/metadata", by=alice).json == {}

    def test_objects_are_small_and_flat(self, api: Api, root: Person) -> None:
        alice, path = user_of(api, root), "/users/me/metadata"
        deep: Any = 1
        for _ in range(20):
            deep = {"a": deep}
        assert api.patch(path, {"a": "x" * 16_000}, by=alice).status_code == 200
        bodies: list[Any] = [{"b": "x" * 1000}, deep, []]
        for body in bodies:
            answer = api.patch(path, body, by=alice)
            assert (answer.status_code, error_code(answer)) == (400, "error.validation-failed")
        assert api.patch(path, {"a": "x" * 200_000}, by=alice).status_code == 413
        answer = api.request("PATCH", path, data="x", headers={"Content-Type": "text/plain"}, by=alice)
        assert answer.status_code == 415
        assert len(api.get(path, by=alice).json["a"]) == 16_000

    def test_the_event_has_no_content(self, api: Api, root: Person) -> None:
        alice = user_of(api, root)
        api.patch("/users/me/metadata", {"secret": "value"}, by=alice)
        query = f"action=user.change-metadata&targetId={alice.id}"
        (record,) = api.get(f"/audit-events?{query}", by=root).json["data"]
        assert "value" not in str(record)

    def test_each_of_both_objects_has_its_own_action(self, api: Api, root: Person) -> None:
        alice = user_of(api, root)
        path = f"/users/{alice.id}"
        assert api.patch(f"{path}/metadata", {"a": 1}, by=alice).status_code == 200
        assert api.patch(f"{path}/server-metadata", {"b": 2}, by=root).status_code == 200
        events = api.get(f"/audit-events?targetId={alice.id}", by=root).json["data"]
        actions = [event["action"] for event in events if "metadata" in event["action"]]
        assert sorted(actions) == ["user.change-metadata", "user.change-server-metadata"]

    def test_they_are_erased_with_the_user(self, api: Api, root: Person) -> None:
        alice = user_of(api, root, metadata={"a": 1}, serverMetadata={"b": 2})
        assert api.delete(f"/users/{alice.id}", by=root).status_code == 200
        with api.container.database.read() as connection:
            assert connection.execute(select(user_metadata)).all() == []


REQUESTS: dict[str, tuple[str, str, dict[str, Any] | None]] = {
    "type": ("PATCH", "", {"type": "ADMIN"}),
    "contact": ("PUT", "/contacts/email", {"value": "new@example.com", "verified": True}),
    "password": ("POST", "/temporary-password", None),
    "link": ("POST", "/links", {"kind": "reset"}),
    "user": ("POST", "", {"name": "Mallory", "email": "m@example.com", "password": PASSWORD}),
}


@pytest.mark.parametrize("kind", REQUESTS)
def test_an_administrator_who_is_suspended_meanwhile_changes_nothing(
    api: Api, root: Person, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    """The request was accepted, and waits for a lock or a hash."""
    mallory, bob = api.person(admin=True), api.person(email="bob@example.com")
    require = Reauthentication.require_factor

    def suspend(service: Reauthentication, identity: Identity) -> None:
        require(service, identity)
        monkeypatch.undo()
        answer = api.patch(f"/users/{mallory.id}", {"status": "suspended"}, by=root)
        assert answer.status_code == 200

    monkeypatch.setattr(Reauthentication, "require_factor", suspend)
    method, path, body = REQUESTS[kind]
    whole = "/users" if kind == "user" else f"/users/{bob.id}{path}"
    answer = api.request(method, whole, json=body, by=mallory)
    assert (answer.status_code, error_code(answer)) == (401, "error.token-invalid")
    seen = api.get(f"/users/{bob.id}", by=root).json
    assert (seen["type"], seen["email"]) == ("USER", "bob@example.com")
    assert api.log_in("bob@example.com").status_code == 200
    assert api.log_in("m@example.com").status_code == 401
