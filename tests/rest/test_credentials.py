"""Binding, unbinding, usernames and passwords: section 4.2 and 5 of the specification."""

import re
from functools import partial

import pytest
from tests.support.api import PASSWORD, Answer, Api, Json, Person, error_code
from tests.support.http import at_once

NEW = "Another2Battery"


def header(code: Json) -> dict[str, str]:
    """Return the header that carries a code."""
    return {"X-Verification-Code": f"{code['id']}.{code['code']}"}


def held(api: Api, person: Person) -> dict[str, str]:
    """Return the credentials of a user."""
    listed = api.get("/users/me/credentials", by=person).json["data"]
    return {item["kind"]: item["value"] for item in listed}


class TestAvailability:
    """GET /credentials/{credential}/available."""

    @pytest.mark.parametrize(
        ("credential", "available"),
        [
            ("alice@example.com", False),
            ("ALICE@example.com", False),
            ("bob@example.com", True),
            ("alice", False),
            ("bob", True),
            ("+86 138 0013 8000", False),
            ("13900139000", True),
            ("no such thing!", False),
        ],
    )
    @pytest.mark.rule("4.2 GET /credentials/{credential}/available")
    def test_it_returns_whether_a_credential_can_be_registered(
        self, api: Api, credential: str, available: bool
    ) -> None:
        api.person(email="alice@example.com", username="alice", mobile="13800138000")
        response = api.get(f"/credentials/{credential}/available")
        assert (response.status_code, response.json) == (200, {"available": available})

    def test_past_sixty_an_hour_a_captcha_is_required(self, api: Api) -> None:
        for _ in range(60):
            assert api.get("/credentials/bob/available").status_code == 200
        refused = api.get("/credentials/bob/available")
        assert (refused.status_code, error_code(refused)) == (400, "error.captcha-required")
        captcha = api.captcha()
        solved = {"X-Captcha": f"{captcha['id']}.{captcha['answer']}"}
        assert api.get("/credentials/bob/available", headers=solved).status_code == 200
        assert (
            error_code(api.get("/credentials/bob/available", headers=solved)) == "error.captcha-invalid"
        )


class TestBinding:
    """POST /users/{userId}/emails and /mobiles."""

    def bind_mobile(self, api: Api, person: Person, number: str, **changes: object) -> Answer:
        body = {
            "mobile": number,
            "verificationCode": api.code(number, "bind"),
            "heldCode": api.code(person.email, "bind"),
            **changes,
        }
        return api.post(f"/users/{person.id}/mobiles", body, by=person)

    @pytest.mark.rule("4.2 POST /users/{userId}/mobiles", "5 binding 1")
    def test_a_number_is_bound_with_a_code_from_it_and_one_from_a_bound_credential(
        self, api: Api
    ) -> None:
        person = api.person()
        response = self.bind_mobile(api, person, "138 0013 8000")
        assert response.status_code == 201
        assert (response.json["kind"], response.json["value"]) == ("mobile", "+8613800138000")
        assert api.log_in("13800138000").json["user"]["id"] == person.id
        assert "The mobile number +86•••8000 was added" in api.outbox()[-1]["text"]

    @pytest.mark.rule("4.2 POST /users/{userId}/emails", "5 binding 1")
    def test_a_bound_address_takes_the_place_of_the_old_one_whose_codes_die(self, api: Api) -> None:
        person = api.person()
        old_reset = api.code(person.email, "reset-password")
        body = {
            "email": "new@example.com",
            "verificationCode": api.code("new@example.com", "bind"),
        }
        # A minute must pass between two codes to one recipient.
        api.clock.advance(60_000)
        body["heldCode"] = api.code(person.email, "bind")
        assert api.post(f"/users/{person.id}/emails", body, by=person).status_code == 201
        assert held(api, person) == {"email": "new@example.com"}
        assert api.log_in(person.email).status_code == 401
        reset = {"verificationCode": old_reset, "newPassword": NEW}
        assert (
            error_code(api.post(f"/users/{person.email}/reset-password", reset)) == "error.code-invalid"
        )

    @pytest.mark.rule("5 binding 1")
    def test_without_a_code_from_a_bound_credential_nothing_is_bound(self, api: Api) -> None:
        person = api.person()
        api.clock.advance(10 * 60_000)
        # The code of the new number is right, so it is the other one that is refused.
        body = {"mobile": "13800138000", "verificationCode": api.code("13800138000", "bind")}
        for held_code in (None, api.code("mallory@example.com", "bind")):
            response = api.post(
                f"/users/{person.id}/mobiles", {**body, "heldCode": held_code}, by=person
            )
            assert (response.status_code, error_code(response)) == (400, "error.code-invalid")
        assert held(api, person) == {"email": person.email}

    def test_a_missing_proof_is_reported_whether_or_not_the_code_is_right(self, api: Api) -> None:
        person = api.person()
        # A fresh login would take the place of the proof.
        api.clock.advance(10 * 60_000)
        right = api.code("13800138000", "bind")
        for code in ({"id": "x", "code": "000000"}, {**right, "code": "x"}, right):
            body = {"mobile": "13800138000", "verificationCode": code}
            response = api.post("/users/me/mobiles", body, by=person)
            (detail,) = response.json["error"]["details"]
            assert (response.status_code, detail["field"], detail["code"]) == (
                400,
                "heldCode",
                "required",
            )
        # The code for the new number was not used up.
        body = {"mobile": "13800138000", "verificationCode": right}
        body["heldCode"] = api.code(person.email, "bind")
        assert api.post("/users/me/mobiles", body, by=person).status_code == 201

    @pytest.mark.rule("7 409")
    def test_what_another_user_holds_is_not_bound(self, api: Api) -> None:
        api.person(mobile="13800138000")
        response = self.bind_mobile(api, api.person(), "13800138000")
        assert (response.status_code, error_code(response)) == (409, "error.credential-taken")

    @pytest.mark.rule("5.6", "7 403")
    def test_users_cannot_bind_for_another(self, api: Api) -> None:
        person, admin = api.person(), api.person(admin=True)
        body = {"mobile": "13800138000", "verificationCode": {"id": "x", "code": "y"}}
        assert api.post(f"/users/{person.id}/mobiles", body, by=admin).status_code == 403


class TestUnbinding:
    """DELETE /users/{userId}/emails and /mobiles."""

    @pytest.mark.rule("4.2 DELETE /users/{userId}/emails", "5 binding 1")
    def test_one_of_the_two_may_go_by_a_code_to_either(self, api: Api) -> None:
        person = api.person(mobile="13800138000")
        code = api.code("13800138000", "unbind")
        response = api.delete("/users/me/emails", by=person, headers=header(code))
        assert (response.status_code, response.json) == (200, {"success": True})
        assert held(api, person) == {"mobile": "+8613800138000"}
        assert api.log_in(person.email).status_code == 401

    @pytest.mark.rule("4.2 DELETE /users/{userId}/mobiles", "5 binding 1")
    def test_the_number_may_go_as_well_and_be_bound_again(self, api: Api) -> None:
        person = api.person(mobile="13800138000")
        code = api.code(person.email, "unbind")
        response = api.delete(f"/users/{person.id}/mobiles", by=person, headers=header(code))
        assert (response.status_code, response.json) == (200, {"success": True})
        assert held(api, person) == {"email": person.email}
        body = {
            "mobile": "13800138000",
            "verificationCode": api.code("13800138000", "bind"),
        }
        # A minute must pass between two codes to one recipient.
        api.clock.advance(60_000)
        body["heldCode"] = api.code(person.email, "bind")
        assert api.post(f"/users/{person.id}/mobiles", body, by=person).status_code == 201
        assert held(api, person) == {"email": person.email, "mobile": "+8613800138000"}

    @pytest.mark.rule("5 binding 3", "8 bound login identifiers")
    def test_the_last_of_the_two_stays(self, api: Api) -> None:
        person = api.person(username="alice")
        code = api.code(person.email, "unbind")
        response = api.delete("/users/me/emails", by=person, headers=header(code))
        assert (response.status_code, error_code(response)) == (409, "error.last-contact")

    @pytest.mark.rule("5 binding 2")
    def test_without_a_code_nothing_goes(self, api: Api) -> None:
        person = api.person(mobile="13800138000")
        assert error_code(api.delete("/users/me/emails", by=person)) == "error.code-invalid"
        wrong = header(api.code("mallory@example.com", "unbind"))
        assert (
            error_code(api.delete("/users/me/emails", by=person, headers=wrong)) == "error.code-invalid"
        )
        malformed = {"X-Verification-Code": "x"}
        assert api.delete("/users/me/emails", by=person, headers=malformed).status_code == 400
        assert len(held(api, person)) == 2

    @pytest.mark.rule("7 404")
    def test_a_missing_credential_cannot_be_removed(self, api: Api) -> None:
        assert api.delete("/users/me/mobiles", by=api.person()).status_code == 404


class TestUsername:
    """PUT /users/{userId}/username."""

    @pytest.mark.rule("4.2 PUT /users/{userId}/username")
    def test_it_is_set_and_set_again(self, api: Api) -> None:
        person = api.person()
        for name in ("alice", "Alice.W"):
            response = api.put(f"/users/{person.id}/username", {"username": name}, by=person)
            assert (response.status_code, response.json["value"]) == (200, name.lower())
        assert api.log_in("alice").status_code == 401
        assert api.log_in("ALICE.w").status_code == 200

    def test_a_taken_one_is_refused_and_the_old_one_kept(self, api: Api) -> None:
        api.person(username="alice")
        person = api.person(username="bob")
        response = api.put("/users/me/username", {"username": "alice"}, by=person)
        assert (response.status_code, error_code(response)) == (409, "error.credential-taken")
        assert held(api, person)["username"] == "bob"


class TestPasswords:
    """Changing, resetting and judging passwords."""

    def change(self, api: Api, person: Person, old: str = PASSWORD, new: str = NEW) -> Answer:
        body = {"oldPassword": old, "newPassword": new}
        return api.put(f"/users/{person.id}/password", body, by=person)

    @pytest.mark.rule("4.2 PUT /users/{userId}/password", "5 change 3")
    def test_a_changed_password_holds_and_every_other_token_dies(self, api: Api) -> None:
        person = api.person()
        other = api.log_in(person.email).headers["X-Access-Token"]
        response = self.change(api, person)
        assert (response.status_code, response.json["strength"]) == (200, "medium")
        assert api.get("/users/me", by=person).status_code == 200
        assert api.get("/users/me", headers={"X-Access-Token": other}).status_code == 401
        assert api.log_in(person.email).status_code == 401
        assert api.log_in(person.email, NEW).status_code == 200
        assert "password" in api.outbox()[-1]["text"]

    def test_of_changes_at_one_moment_one_holds_and_the_others_are_refused(self, api: Api) -> None:
        person = api.person()
        new = [f"{NEW}{number}" for number in range(4)]
        answers = at_once([partial(self.change, api, person, new=password) for password in new])
        statuses = [answer.status_code for answer in answers]
        # Who comes after another's change gives a password that is the old one no more.
        assert sorted(statuses) == [200, 400, 400, 400]
        assert api.log_in(person.email, new[statuses.index(200)]).status_code == 200

    @pytest.mark.rule("4.2 PUT /users/{userId}/password")
    def test_the_old_password_must_be_right(self, api: Api) -> None:
        response = self.change(api, api.person(), old="Wrong1Password")
        assert (response.status_code, error_code(response)) == (400, "error.wrong-password")

    @pytest.mark.rule("5.5")
    def test_only_logged_in_users_change_a_password(self, api: Api) -> None:
        person = api.person()
        body = {"oldPassword": PASSWORD, "newPassword": NEW}
        anonymous = api.put(f"/users/{person.id}/password", body)
        assert (anonymous.status_code, error_code(anonymous)) == (401, "error.token-required")
        assert api.delete("/authorizations/current", by=person).status_code == 200
        ended = api.put("/users/me/password", body, by=person)
        assert (ended.status_code, error_code(ended)) == (401, "error.token-invalid")
        assert api.log_in(person.email).status_code == 200

    @pytest.mark.parametrize(
        ("password", "fault"),
        [
            ("Short1A", "too-short"),
            ("nouppercase1", "no-uppercase"),
            ("NOLOWERCASE1", "no-lowercase"),
            ("NoDigitsHere", "no-digit"),
        ],
    )
    @pytest.mark.rule("5 change 2", "8 password minimum length")
    def test_every_way_to_set_a_password_wants_the_same_of_it(
        self, api: Api, password: str, fault: str
    ) -> None:
        person = api.person()
        code = api.code(person.email, "reset-password")
        registration = {
            "name": "Bob",
            "email": "bob@example.com",
            "password": password,
            "verificationCodes": [api.code("bob@example.com", "register")],
        }
        for response in (
            self.change(api, person, new=password),
            self.reset(api, person.email, code, password),
            api.post("/users", registration),
        ):
            assert (response.status_code, error_code(response)) == (400, "error.validation-failed")
            assert fault in [item["code"] for item in response.json["error"]["details"]]
        # The code was not used up.
        assert self.reset(api, person.email, code).status_code == 200

    @pytest.mark.rule("5 reset 6")
    def test_it_is_kept_as_a_slow_hash(self, api: Api) -> None:
        api.person()
        with api.container.database.read() as connection:
            (kept,) = connection.exec_driver_sql("SELECT hash FROM passwords").scalars()
        assert re.fullmatch(r"\$2b\$04\$[./A-Za-z0-9]{53}", kept)

    @pytest.mark.rule("5 change 1")
    def test_the_new_password_must_differ_and_meet_the_policy(self, api: Api) -> None:
        person = api.person()
        for new, code in ((PASSWORD, "unchanged"), ("short", "too-short")):
            response = self.change(api, person, new=new)
            assert error_code(response) == "error.validation-failed"
            assert (response.json["error"]["details"][0]["field"]) == "newPassword"
            assert code in [item["code"] for item in response.json["error"]["details"]]

    @pytest.mark.rule("5.6")
    def test_users_cannot_change_the_password_of_another(self, api: Api) -> None:
        person, admin = api.person(), api.person(admin=True)
        body = {"oldPassword": PASSWORD, "newPassword": NEW}
        assert api.put(f"/users/{person.id}/password", body, by=admin).status_code == 403

    def reset(self, api: Api, credential: str, code: Json, new: str = NEW) -> Answer:
        body = {"verificationCode": code, "newPassword": new}
        return api.post(f"/users/{credential}/reset-password", body)

    @pytest.mark.rule("4.2 POST /users/{credential}/reset-password", "5 reset 4")
    def test_a_code_resets_the_password_once_and_every_token_dies(self, api: Api) -> None:
        person = api.person()
        code = api.code(person.email, "reset-password")
        response = self.reset(api, person.email, code)
        assert (response.status_code, response.json) == (200, {"success": True})
        assert api.get("/users/me", by=person).status_code == 401
        assert api.log_in(person.email, NEW).status_code == 200
        assert error_code(self.reset(api, person.email, code)) == "error.code-invalid"

    @pytest.mark.rule("5 reset 2", "5 reset 3")
    def test_a_code_to_reset_requires_only_a_captcha(self, api: Api) -> None:
        person = api.person()
        body: Json = {"recipient": person.email, "purpose": "reset-password"}
        assert error_code(api.post("/verification-codes", body)) == "error.captcha-required"
        body["captcha"] = api.captcha()
        assert api.post("/verification-codes", body).status_code == 201
        assert api.outbox()[-1]["recipient"] == person.email

    @pytest.mark.parametrize("kind", ["email", "mobile"])
    @pytest.mark.rule("5 reset 1", "5 reset 5")
    def test_an_address_or_a_number_resets_it_and_that_is_recorded_and_notified(
        self, api: Api, kind: str
    ) -> None:
        person, admin = api.person(mobile="13800138000"), api.person(admin=True)
        credential = person.email if kind == "email" else "13800138000"
        assert self.reset(api, credential, api.code(credential, "reset-password")).status_code == 200
        events = api.get("/audit-events?action=password.reset", by=admin).json["data"]
        assert [event["target"]["id"] for event in events] == [person.id]
        notified = {message["recipient"] for message in api.outbox() if "was changed" in message["text"]}
        assert notified == {person.email, "+8613800138000"}

    def test_known_and_unknown_are_answered_alike(self, api: Api) -> None:
        person = api.person()
        wrong = {"id": "01a1fd35-41a4-7159-832d-f9df39268981", "code": "000000"}
        answers = [self.reset(api, name, wrong) for name in (person.email, "nobody@example.com", "x")]
        assert {(answer.status_code, error_code(answer)) for answer in answers} == {
            (400, "error.code-invalid")
        }

    def test_five_wrong_guesses_close_the_door_and_a_resend_does_not_open_it(self, api: Api) -> None:
        person = api.person()
        code = api.code(person.email, "reset-password", "phone")
        for number in range(5):
            guess = {
                "id": code["id"],
                "code": f"{number:06}" if code["code"] != f"{number:06}" else "999999",
            }
            assert error_code(self.reset(api, person.email, guess)) == "error.code-invalid"
        assert error_code(self.reset(api, person.email, code)) == "error.too-many-requests"
        api.clock.advance(61_000)
        again = api.code(person.email, "reset-password", "phone")
        assert error_code(self.reset(api, person.email, again)) == "error.too-many-requests"

    def test_a_code_expires_after_five_minutes(self, api: Api) -> None:
        person = api.person()
        code = api.code(person.email, "reset-password")
        api.clock.advance(300_000)
        assert error_code(self.reset(api, person.email, code)) == "error.code-invalid"

    @pytest.mark.parametrize(
        ("password", "strength"),
        [("", "low"), ("Password1", "low"), ("correct horse", "medium"), ("xK9#mQ2$vL7@pR4!", "high")],
    )
    @pytest.mark.rule("5 change 3")
    def test_strength_is_judged(self, api: Api, password: str, strength: str) -> None:
        assert api.post("/password-strength", {"password": password}).json == {"strength": strength}
