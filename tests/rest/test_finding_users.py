"""What users see of themselves, and how administrators find users."""

import pytest
from tests.support.api import Api, Person, error_code

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
    }.items():
        answer = api.get(f"/users?{query}", by=admin)
        assert answer.status_code == 200, query
        assert [user["id"] for user in answer.json["data"]] == [user.id for user in expected], query
    found = api.get("/users?q=example&pageSize=1", by=admin).json["meta"]
    assert found["totalCount"] == 3
    assert "q=example" in found["nextPageLink"]


@pytest.mark.parametrize(
    "query", ["name=a", "sort=name", "status=deleted", "type=user", "q=", "email=", "q=%00"]
)
def test_other_filters_are_refused(api: Api, admin: Person, query: str) -> None:
    refused = api.get(f"/users?{query}", by=admin)
    assert (refused.status_code, error_code(refused)) == (400, "error.validation-failed")


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
    assert first["data"][0].keys() == {"kind", "value", "createdAt"}
    unknown = "01a1fd35-41a4-7159-832d-f9df39268981"
    assert api.get(f"/users/{unknown}/credentials", by=admin).status_code == 404
