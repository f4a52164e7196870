"""GET /audit-events."""

from urllib.parse import urlencode

import pytest
from tests.support.api import PASSWORD, Api, Json, Person, error_code

from strongroom.activity.audit.service import FAILURE, AuditEvent, AuditService
from strongroom.clock import iso_format
from strongroom.foundation.caller import Origin
from strongroom.testing.clock import SECOND, ManualClock

ACTOR, OTHER = "01a1fd35-41a4-7159-832d-f9df39268981", "01a1fd35-41a4-7159-832d-f9df39268982"
PLACE = Origin("192.0.2.7", "Mozilla/5.0", "request-1")


@pytest.fixture
def admin(api: Api) -> Person:
    return api.person(admin=True, name="Root")


@pytest.fixture
def times(api: Api, admin: Person, clock: ManualClock) -> list[str]:
    """Records four events, each ten seconds after the one before; returns the times of all four."""
    events = [
        AuditEvent("shelf.add", actor_id=ACTOR, target_type="shelf", target_id="one", origin=PLACE),
        AuditEvent("shelf.add", FAILURE, actor_id=OTHER, target_type="shelf", target_id="two"),
        AuditEvent("shelf.move", actor_id=OTHER, target_type="shelf", target_id="one"),
        AuditEvent("book.add", actor_id=OTHER, target_type="book", target_id="one", origin=PLACE),
    ]
    times, audit = [], AuditService(clock)
    for event in events:
        clock.advance(10 * SECOND)
        times.append(iso_format(clock.now()))
        with api.container.database.write() as connection:
            audit.record(connection, event)
    return times


def listed(api: Api, admin: Person, **query: str) -> list[tuple[str, str]]:
    """Return the action and the target of each record that the query finds."""
    response = api.get(f"/audit-events?{urlencode(query)}", by=admin)
    assert response.status_code == 200, response.text
    return [(item["action"], item["target"]["id"]) for item in response.json["data"]]


def test_only_administrators_see_what_happened(api: Api, admin: Person) -> None:
    assert api.get("/audit-events", by=admin).status_code == 200
    visitor, user = api.get("/audit-events"), api.get("/audit-events", by=api.person())
    assert (visitor.status_code, error_code(visitor)) == (401, "error.token-required")
    assert (user.status_code, error_code(user)) == (403, "error.forbidden")


def test_a_record_says_who_did_what_when_from_where_and_how_it_ended(
    api: Api, admin: Person, clock: ManualClock
) -> None:
    headers = {"User-Agent": "Tester/1", "X-Request-Id": "abc-123"}
    tenant = api.post("/api/v1/tenants", {"name": "Acme"}, by=admin, headers=headers).json["id"]
    record = api.get("/audit-events", by=admin).json["data"][0]
    assert record.pop("id").isdigit()
    assert record == {
        "at": iso_format(clock.now()),
        "action": "tenant.create",
        "outcome": "success",
        "actor": {"$ref": admin.id},
        "target": {"type": "tenant", "id": tenant},
        "address": "127.0.0.1",
        "userAgent": "Tester/1",
        "requestId": "abc-123",
        "details": {},
    }


def test_a_failed_login_has_no_actor_and_says_why(api: Api, admin: Person) -> None:
    api.log_in("nobody@example.com", "Wrong1Horse")
    record = api.get("/audit-events?action=login&outcome=failure", by=admin).json["data"][0]
    assert (record["actor"], record["target"]) == (None, None)
    assert record["details"] == {"code": "error.invalid-credentials", "name": "nobody@example.com"}


def test_the_newest_come_first(api: Api, admin: Person, times: list[str]) -> None:
    body = api.get("/audit-events", by=admin).json
    sequences = [int(item["id"]) for item in body["data"]]
    assert sequences == list(range(body["meta"]["totalCount"], 0, -1))
    assert [item["at"] for item in body["data"][:4]] == times[::-1]


def test_actors_who_are_users_are_included(api: Api, admin: Person, times: list[str]) -> None:
    api.tenant(admin)
    included = api.get("/audit-events?pageSize=5", by=admin).json["included"]
    assert included == {admin.id: {"id": admin.id, "type": "user", "name": "Root"}}


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ({"action": "shelf.add"}, ["shelf.add two", "shelf.add one"]),
        ({"action": "shelf.add", "outcome": "failure"}, ["shelf.add two"]),
        ({"action": "shelf.add", "outcome": "success"}, ["shelf.add one"]),
        ({"actorId": ACTOR}, ["shelf.add one"]),
        ({"actorId": OTHER}, ["book.add one", "shelf.move one", "shelf.add two"]),
        ({"targetType": "book"}, ["book.add one"]),
        ({"targetId": "one"}, ["book.add one", "shelf.move one", "shelf.add one"]),
        ({"targetType": "shelf", "targetId": "one"}, ["shelf.move one", "shelf.add one"]),
        ({"address": "192.0.2.7"}, ["book.add one", "shelf.add one"]),
        ({"address": "192.0.2"}, []),
        ({"action": "shelf.add", "actorId": OTHER, "targetId": "one"}, []),
    ],
)
def test_filters_find_what_all_of_them_apply_to(
    api: Api, admin: Person, times: list[str], query: dict[str, str], found: list[str]
) -> None:
    assert [" ".join(item) for item in listed(api, admin, **query)] == found


def test_since_is_inclusive_and_until_is_not(api: Api, admin: Person, times: list[str]) -> None:
    since_second = listed(api, admin, since=times[1])
    assert since_second == [("book.add", "one"), ("shelf.move", "one"), ("shelf.add", "two")]
    assert listed(api, admin, since=times[1], until=times[2]) == [("shelf.add", "two")]
    assert listed(api, admin, since=times[1], until=times[1]) == []
    east = times[3].replace("Z", "+00:00")
    assert listed(api, admin, since=east) == [("book.add", "one")]


def test_pages_of_all_and_of_filtered_records(api: Api, admin: Person, times: list[str]) -> None:
    total = api.get("/audit-events", by=admin).json["meta"]["totalCount"]
    for query, expected in (("", total), ("&targetId=one", 3)):
        seen: list[str] = []
        link: str | None = f"/audit-events?pageSize=2{query}"
        while link is not None:
            body = api.get(link.removeprefix("https://files.example.com"), by=admin).json
            assert body["meta"]["totalCount"] == expected
            seen += [item["id"] for item in body["data"]]
            link = body["meta"]["nextPageLink"]
        assert len(seen) == expected
        assert seen == sorted(set(seen), key=int, reverse=True)
        assert api.get(f"/audit-events?pageNumber=99{query}", by=admin).json["data"] == []


@pytest.mark.parametrize(
    ("name", "value"),
    [("actor", ACTOR), ("Action", "login"), ("outcome", "good"), ("action", ""), ("action", "x" * 65),
     ("actorId", "x" * 65), ("targetId", "a\0b"), ("since", "yesterday"), ("since", "2026-06-21"),
     ("until", "2026-06-21T00:00:00"), ("until", "1782000000000"), ("pageSize", "201")],
)  # fmt: skip
def test_a_parameter_that_is_unknown_or_malformed_is_400(
    api: Api, admin: Person, name: str, value: str
) -> None:
    response = api.get(f"/audit-events?{urlencode({name: value})}", by=admin)
    assert (response.status_code, error_code(response)) == (400, "error.validation-failed")
    assert [item["field"] for item in response.json["error"]["details"]] == [name]


def test_every_parameter_is_documented(api: Api) -> None:
    operation = api.get("/openapi.json").json["paths"]["/audit-events"]["get"]
    described = {item["name"] for item in operation["parameters"] if item["description"]}
    assert described == {
        "action", "outcome", "actorId", "targetType", "targetId", "address", "since", "until",
        "pageSize", "pageNumber", "cursor",
    }  # fmt: skip


def test_the_record_contains_no_secrets(api: Api, admin: Person) -> None:
    person = api.person()
    api.log_in(person.email, "Wrong1Horse")
    api.log_in("My1Password-typed-into-the-name", "Wrong1Horse")
    api.delete("/authorizations/current", by=person)
    body = api.get("/audit-events?pageSize=200", by=admin)
    assert body.json["meta"]["totalCount"] >= 7
    for secret in (PASSWORD, "Wrong1Horse", "My1Password", str(person.token), str(admin.token)):
        assert secret not in body.text


@pytest.mark.parametrize(
    ("typed", "recorded"),
    [
        ("Nobody@Example.com", "nobody@example.com"),
        (" root ", "root"),
        ("138 0013 8000", "+8613800138000"),
    ],
)
def test_a_failed_login_of_an_unknown_name_is_recorded_with_the_name(
    api: Api, admin: Person, typed: str, recorded: str
) -> None:
    api.log_in(typed, "Wrong1Horse")
    (event,) = failures(api, admin)
    assert event["details"] == {"code": "error.invalid-credentials", "name": recorded}


@pytest.mark.parametrize(
    "typed", ["Correct1Horse", "alice Correct1Horse", "Alice.Correct1@x.io", "***", "x" * 1000]
)
def test_what_may_be_a_password_is_recorded_as_a_hash(api: Api, admin: Person, typed: str) -> None:
    for name in (typed, typed, "another ***"):
        api.log_in(name, "Wrong1Horse")
    hashes = [event["details"]["nameHash"] for event in failures(api, admin)]
    assert [len(item) for item in hashes] == [16, 16, 16]
    assert len(set(hashes)) == 2
    assert all(event["details"].keys() == {"code", "nameHash"} for event in failures(api, admin))


def failures(api: Api, admin: Person) -> list[Json]:
    events: list[Json] = api.get("/audit-events?action=login&outcome=failure", by=admin).json["data"]
    return events


def test_a_user_that_the_operator_creates_is_no_actor(api: Api, admin: Person) -> None:
    user = api.person()
    records = api.get("/audit-events?action=user.create&pageSize=100", by=admin).json["data"]
    (record,) = [item for item in records if item["target"]["id"] == user.id]
    assert record["actor"] is None
