"""What users see of themselves, and how administrators find users."""

import pytest
from tests.support.api import PASSWORD, Api, Person, error_code

from strongroom.foundation.caller import Origin
from strongroom.identity.accounts.registration import Registration, RegistrationService
from strongroom.identity.users.credential_changes import ChangedBy, CredentialChanges
from strongroom.identity.users.credentials import CredentialService
from strongroom.identity.users.models import User
from strongroom.identity.users.service import UserService
from strongroom.plugin_api.login import Credential

pytestmark = pytest.mark.both_databases


def test_details_have_the_credentials_of_the_user(api: Api) -> None:
    person = api.person(mobile="13800138000", username="Alice.W")
    admin = api.person(admin=True)
    expected = {
        "email": person.email,
        "mobile": "+8613800138000",
        "username": "alice.w",
        "locale": None,
    }
    for by in (person, admin):
        shown = api.get(f"/users/{person.id}", by=by).json
        assert {name: shown[name] for name in expected} == expected
    listed = {user["id"]: user for user in api.get("/users", by=admin).json["data"]}
    assert {name: listed[person.id][name] for name in expected} == expected
    assert listed[admin.id]["mobile"] is None


@pytest.mark.parametrize("locale", ["zh-CN", "en", "sr-Latn-RS", "de-CH-1996"])
def test_a_locale_is_set_and_cleared(api: Api, locale: str) -> None:
    person = api.person()
    assert api.patch("/users/me", {"locale": locale}, by=person).json["locale"] == locale
    assert api.patch("/users/me", {"locale": None}, by=person).json["locale"] is None


@pytest.mark.parametrize("locale", ["", "x", "zh_CN", "zh-", "en\n", "a" * 36, 7])
def test_an_invalid_locale_is_refused(api: Api, locale: object) -> None:
    refused = api.patch("/users/me", {"locale": locale}, by=api.person())
    assert (refused.status_code, error_code(refused)) == (400, "error.validation-failed")
    assert refused.json["error"]["details"][0]["field"] == "locale"


@pytest.fixture
def admin(api: Api) -> Person:
    return api.person(admin=True, name="Root", email="root@example.com")


def test_administrators_find_users(api: Api, admin: Person) -> None:
    alice = api.person(name="Alice 100%", email="alice@example.com", mobile="13800138000")
    bob = api.person(name="Bob 张三", email="bob@other.example", username="bobby")
    api.post(f"/users/{bob.id}/suspension", by=admin)
    for query, expected in {
        "email=ALICE@example.com": [alice],
        "email=alice": [],
        "mobile=138 0013 8000": [alice],
        "username=Bobby": [bob],
        "username=alice@example.com": [],
        "status=suspended": [bob],
        "status=active&type=USER": [alice],
        "type=ADMIN": [admin],
        "q=alice": [alice],
        "q=张三": [bob],
        "q=other.ex": [bob],
        "q=100%25": [alice],
        "q=0_0": [],
        "q=138001": [alice],
        "q=example&status=active&pageSize=1&pageNumber=2": [alice],
        "q=nobody": [],
        "q=example&sort=name": [alice, bob, admin],
        "q=example&sort=-name": [admin, bob, alice],
        "q=ALICE@example&email=alice@example.com": [alice],
        "q=bob&email=alice@example.com": [],
        "sort=name": [alice, bob, admin],
        "sort=-createdAt": [bob, alice, admin],
        "email=alice@example.com&mobile=13800138000": [alice],
        "email=alice@example.com&username=bobby": [],
    }.items():
        answer = api.get(f"/users?{query}", by=admin)
        assert answer.status_code == 200, query
        assert [user["id"] for user in answer.json["data"]] == [user.id for user in expected], query
    found = api.get("/users?q=example&pageSize=1", by=admin).json["meta"]
    assert found["totalCount"] == 3
    assert "q=example" in found["nextPageLink"]


@pytest.mark.parametrize(
    "query",
    [
        *("name=a", "sort=email", "sort=", "externalId=", "status=deleted", "type=user"),
        *("q=", "email=", "q=%00"),
    ],
)
def test_other_filters_are_refused(api: Api, admin: Person, query: str) -> None:
    refused = api.get(f"/users?{query}", by=admin)
    assert (refused.status_code, error_code(refused)) == (400, "error.validation-failed")


def _found(api: Api, admin: Person, part: str) -> list[str]:
    return [user["id"] for user in api.get(f"/users?q={part}", by=admin).json["data"]]


def test_each_change_of_a_user_changes_what_searches_find(api: Api, admin: Person) -> None:
    alice = api.person(name="Alice", email="first@example.com", username="wonder")
    for part in ("ali", "first@", "nder"):
        assert _found(api, admin, part) == [alice.id]
    api.patch("/users/me", {"name": "李雷"}, by=alice)
    assert (_found(api, admin, "李雷"), _found(api, admin, "ali")) == ([alice.id], [])
    assert _found(api, admin, "first@") == [alice.id]
    with api.container.database.write() as connection:
        credentials = api.container.get(CredentialService)
        credentials.release(connection, alice.id, "email")
        credentials.bind(connection, alice.id, Credential("mobile", "+8613900139000"))
        api.container.get(CredentialChanges).settle(connection, ChangedBy(None))
    assert (_found(api, admin, "first@"), _found(api, admin, "3900139")) == ([], [alice.id])
    with api.container.database.write() as connection:
        credentials.release_one(connection, alice.id, Credential("mobile", "+8613900139000"))
        api.container.get(CredentialChanges).settle(connection, ChangedBy(None))
    assert _found(api, admin, "3900139") == []
    api.delete(f"/users/{alice.id}", by=admin)
    assert (_found(api, admin, "李雷"), _found(api, admin, "nder")) == ([], [])


def test_a_transaction_that_fails_leaves_searches_as_they_were(api: Api, admin: Person) -> None:
    alice = api.person(name="Alice")

    def rename_and_fail() -> None:
        with api.container.database.write() as connection:
            api.container.get(UserService).change(connection, alice.id, name="Bob")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        rename_and_fail()
    with api.container.database.write():
        pass
    assert (_found(api, admin, "Bob"), _found(api, admin, "Alice")) == ([], [alice.id])


def test_users_are_found_by_their_id_in_another_system(api: Api, admin: Person) -> None:
    person = api.person()
    api.person()
    with api.container.database.write() as connection:
        api.container.get(UserService).change(connection, person.id, external_id="hr-7")
    for query, expected in {"hr-7": [person.id], "hr-7&q=nobody": [], "HR-7": [], "hr": []}.items():
        users = api.get(f"/users?externalId={query}", by=admin).json["data"]
        assert [user["id"] for user in users] == expected


def test_each_login_sets_its_time_and_a_refresh_does_not(api: Api, admin: Person) -> None:
    registration = api.container.get(RegistrationService)
    first, second, third = (
        registration.create(
            Registration(name="", password=PASSWORD, email=f"user{number}@example.com"), Origin()
        )
        for number in range(3)
    )

    def time_of(person: User) -> str:
        return str(api.get(f"/users/{person.id}", by=admin).json["lastLoginAt"])

    assert time_of(second) == "None"
    api.clock.advance(1000)
    tokens = api.log_in("user1@example.com").json
    api.log_in("user0@example.com")
    api.clock.advance(1000)
    refreshed = api.post("/authorizations/refresh", {"refreshToken": tokens["refreshToken"]})
    assert refreshed.status_code == 200
    earlier = time_of(first)
    assert time_of(second) == earlier
    api.log_in("user1@example.com")
    assert "None" > time_of(second) > earlier
    order = [third.id, *(person.id for person in (admin, first, second))]
    for sort, expected in (("lastLoginAt", order), ("-lastLoginAt", order[::-1])):
        users = api.get(f"/users?sort={sort}", by=admin).json["data"]
        assert [user["id"] for user in users] == expected


def test_only_administrators_search(api: Api) -> None:
    assert api.get("/users?q=a", by=api.person()).status_code == 403


def test_credentials_come_in_the_envelope(api: Api, admin: Person) -> None:
    person = api.person(mobile="13800138000", username="alice")
    first = api.get(f"/users/{person.id}/credentials?pageSize=2", by=admin).json
    assert first["success"] is True
    assert (first["meta"]["totalCount"], first["meta"]["pageCount"]) == (3, 2)
    rest = api.get(f"/users/{person.id}/credentials?pageSize=2&pageNumber=2", by=person).json
    kinds = [item["kind"] for item in (*first["data"], *rest["data"])]
    assert sorted(kinds) == ["email", "mobile", "username"]
    assert first["data"][0].keys() == {"kind", "value", "verified", "createdAt"}
    unknown = "01a1fd35-41a4-7159-832d-f9df39268981"
    assert api.get(f"/users/{unknown}/credentials", by=admin).status_code == 404
