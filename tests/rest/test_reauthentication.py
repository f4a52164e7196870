"""A stolen access token binds nothing: every credential takes a proof that the user is there."""

from functools import partial

import pytest
from sqlalchemy import delete
from tests.support.api import PASSWORD, Answer, Api, Json, Person, error_code
from tests.support.config import Table
from tests.support.http import at_once
from tests.support.wechat import Logins, WeChat

from strongroom.foundation.caller import Origin
from strongroom.identity.accounts.change_password import ATTEMPTS
from strongroom.identity.accounts.registration import Registration, RegistrationService
from strongroom.identity.users.models import passwords
from strongroom.testing.clock import MINUTE

NEW = "Another1Horse"
THIEF = "thief@evil.example"


@pytest.fixture
def config_changes(platform: WeChat) -> Table:
    return platform.config("https://127.0.0.1")


@pytest.fixture
def without_contact(api: Api) -> Person:
    """A user with a username and a password alone."""
    registration = Registration(name="Victim", password=PASSWORD, username="victim")
    user = api.container.get(RegistrationService).create(registration, Origin())
    return Person(user.id, "victim", api.log_in("victim").headers["X-Access-Token"])


def bind_address(api: Api, person: Person, **proof: object) -> Answer:
    body = {"email": THIEF, "verificationCode": api.code(THIEF, "bind"), **proof}
    return api.post("/users/me/emails", body, by=person)


def blamed(answer: Answer) -> list[tuple[str, str]]:
    return [(item["field"], item["code"]) for item in answer.json["error"]["details"]]


def test_a_token_alone_does_not_bind_an_address_to_an_account_without_contacts(
    api: Api, without_contact: Person
) -> None:
    api.clock.advance(10 * MINUTE)
    refused = bind_address(api, without_contact)
    assert (refused.status_code, error_code(refused)) == (400, "error.wrong-password")
    assert blamed(refused) == [("currentPassword", "required")]
    wrong = bind_address(api, without_contact, currentPassword="Wrong1Password")
    assert (wrong.status_code, blamed(wrong)) == (400, [("currentPassword", "wrong")])
    bound = bind_address(api, without_contact, currentPassword=PASSWORD)
    assert (bound.status_code, bound.json["value"]) == (201, THIEF)


def test_a_token_is_no_way_to_guess_the_password(api: Api, without_contact: Person) -> None:
    statuses = [
        bind_address(api, without_contact, currentPassword="Wrong1Password").status_code
        for _ in range(ATTEMPTS + 1)
    ]
    assert statuses == [*[400] * ATTEMPTS, 429]
    assert bind_address(api, without_contact, currentPassword=PASSWORD).status_code == 429


def test_a_mistyped_code_does_not_use_up_the_other_one(api: Api) -> None:
    person = api.person()
    held, new = api.code(person.email, "bind"), api.code(THIEF, "bind")
    wrong = {"id": new["id"], "code": "000000" if new["code"] != "000000" else "111111"}
    answers = [
        api.post("/users/me/emails", body, by=person).status_code
        for body in (
            {"email": THIEF, "verificationCode": wrong, "heldCode": held},
            {"email": THIEF, "verificationCode": new, "heldCode": {**held, "code": "x"}},
            {"email": THIEF, "verificationCode": new, "heldCode": held},
            {"email": THIEF, "verificationCode": new, "heldCode": held},
        )
    ]
    assert answers == [400, 400, 201, 400]


def without_password(api: Api) -> Person:
    """Return a user without a password, who is logged in."""
    person = api.person()
    with api.container.base.database.write() as connection:
        connection.execute(delete(passwords).where(passwords.c.user_id == person.id))
    return person


def set_first(api: Api, person: Person, **proof: object) -> Answer:
    return api.put("/users/me/password", {"newPassword": NEW, **proof}, by=person)


class TestFirstPasswords:
    """A user without a password sets one, with a proof."""

    def test_a_code_of_a_contact_sets_the_first_password(self, api: Api) -> None:
        person = without_password(api)
        assert api.get("/users/me", by=person).json["hasPassword"] is False
        refused = set_first(api, person)
        assert (error_code(refused), blamed(refused)) == (
            "error.code-invalid",
            [("heldCode", "required")],
        )
        code = api.code(person.email, "bind")
        assert set_first(api, person, newPassword="weak", heldCode=code).status_code == 400
        assert set_first(api, person, heldCode=code).status_code == 200
        assert api.get("/users/me", by=person).json["hasPassword"] is True
        assert api.log_in(person.email, NEW).status_code == 200

    def test_a_user_without_contacts_needs_a_recent_login(
        self, api: Api, without_contact: Person
    ) -> None:
        with api.container.base.database.write() as connection:
            connection.execute(delete(passwords))
        api.clock.advance(6 * MINUTE)
        assert error_code(set_first(api, without_contact)) == "error.fresh-proof-required"

    def test_a_code_does_not_replace_a_password(self, api: Api) -> None:
        person = api.person()
        code = api.code(person.email, "bind")
        refused = set_first(api, person, heldCode=code)
        assert (error_code(refused), blamed(refused)) == (
            "error.wrong-password",
            [("oldPassword", "required")],
        )
        assert api.log_in(person.email, NEW).status_code == 401

    def test_of_first_passwords_at_one_moment_one_is_set(
        self, api: Api, without_contact: Person
    ) -> None:
        with api.container.base.database.write() as connection:
            connection.execute(delete(passwords))
        answers = at_once([partial(set_first, api, without_contact) for _ in range(4)])
        assert sorted(answer.status_code for answer in answers) == [200, 400, 400, 400]


def test_a_missing_code_of_a_held_contact_is_named(api: Api) -> None:
    person = api.person()
    api.clock.advance(10 * MINUTE)
    # The password is not enough if the user has a contact.
    for proof in ({}, {"currentPassword": PASSWORD}):
        refused = bind_address(api, person, **proof)
        assert refused.status_code == 400
        assert blamed(refused) == [("heldCode", "required")]


def test_a_fresh_proof_changes_a_contact_with_one_code(api: Api) -> None:
    person = api.person()
    api.clock.advance(10 * MINUTE - 1)
    assert bind_address(api, person).status_code == 201
    assert person.email in {message["recipient"] for message in api.outbox()}
    api.clock.advance(1)
    assert blamed(bind_address(api, person)) == [("heldCode", "required")]
    renewed = api.post("/authorizations/current/step-up", {"currentPassword": PASSWORD}, by=person)
    proven = Person(person.id, THIEF, renewed.json["accessToken"])
    assert bind_address(api, proven).status_code == 201


@pytest.mark.parametrize("app", ["site", "mini"])
def test_a_token_alone_does_not_bind_wechat(api: Api, logins: Logins, app: str) -> None:
    person = api.person()
    refused = logins.bind(person, "lin", app, {})
    assert (refused.status_code, blamed(refused)) == (400, [("heldCode", "required")])
    foreign: Json = {"heldCode": api.code(THIEF, "bind")}
    assert blamed(logins.bind(person, "lin", app, foreign)) == [("heldCode", "wrong")]
    assert {kind for kind, _ in logins.held(person)} == {"email"}
    assert logins.bind(person, "lin", app).status_code == 201


def test_wechat_takes_the_password_of_a_user_without_contacts(
    api: Api, logins: Logins, without_contact: Person
) -> None:
    refused = logins.bind(without_contact, "lin", "mini", {})
    assert blamed(refused) == [("currentPassword", "required")]
    proof = {"currentPassword": PASSWORD}
    assert logins.bind(without_contact, "lin", "mini", proof).status_code == 201


def test_without_contact_and_password_a_login_of_the_last_minutes_is_the_proof(
    api: Api, logins: Logins
) -> None:
    person = logins.person(logins.open_mini_program("lin"))
    api.clock.advance(5 * MINUTE - 1)
    assert logins.bind(person, "lin", "site").status_code == 201
    api.clock.advance(1)
    assert error_code(logins.bind(person, "lin", "mini")) == "error.fresh-proof-required"
    api.clock.advance(5 * MINUTE)
    refused = bind_address(api, person)
    assert (refused.status_code, error_code(refused)) == (403, "error.fresh-proof-required")
    again = logins.person(logins.open_mini_program("lin"))
    assert bind_address(api, again).status_code == 201


def test_a_refreshed_login_is_as_old_as_the_login(api: Api, logins: Logins) -> None:
    tokens = logins.open_mini_program("lin").json
    api.clock.advance(10 * MINUTE)
    renewed = api.post("/authorizations/refresh", {"refreshToken": tokens["refreshToken"]}).json
    person = Person(tokens["user"]["id"], "", renewed["accessToken"])
    assert error_code(bind_address(api, person)) == "error.fresh-proof-required"


def test_a_username_takes_any_one_proof(api: Api) -> None:
    person = api.person()
    assert api.put("/users/me/username", {"username": "fresh"}, by=person).status_code == 200
    api.clock.advance(5 * MINUTE)
    refused = api.put("/users/me/username", {"username": "stolen"}, by=person)
    assert (refused.status_code, error_code(refused)) == (403, "error.fresh-proof-required")
    proofs: list[Json] = [
        {"currentPassword": PASSWORD},
        {"heldCode": api.code(person.email, "bind")},
    ]
    for number, proof in enumerate(proofs):
        body = {"username": f"name{number}", **proof}
        assert api.put("/users/me/username", body, by=person).status_code == 200
    assert "Your username was changed from name0 to name1." in api.outbox()[-1]["text"]
