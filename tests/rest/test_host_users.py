"""``host.users`` finds, creates and changes users by the rules of the REST API."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from sqlalchemy import delete
from tests.support.api import PASSWORD, Answer, Api, Person
from tests.support.databases import on_sqlite
from tests.support.plugin_calls import outcome, outcome_of, refusal, request_of

from strongroom.identity.users.models import credentials
from strongroom.plugin_api.authentication import Scope
from strongroom.plugin_api.host import HostAPI
from strongroom.plugin_api.users import UsersAPI

UNKNOWN = "0190a1b2-0000-7000-8000-000000000000"


@pytest.fixture
def host(api: Api) -> HostAPI:
    return api.container.hosts.get("storage_local")


@pytest.mark.both_databases
def test_a_user_goes_through_its_whole_life(api: Api, host: HostAPI) -> None:
    admin = api.person(admin=True)
    with host.acting_as(admin.id):
        made = host.users.create(
            "Ada",
            email="Ada@Example.com",
            email_verified=True,
            username="ada",
            password=PASSWORD,
            external_id="hr-1",
            server_metadata={"team": "Sales"},
        )
        assert (made.name, made.status, made.type) == ("Ada", "active", "USER")
        assert (made.email, made.email_verified, made.username) == ("Ada@example.com", True, "ada")
        assert api.log_in("ada").status_code == 200
        assert host.users.get(made.id) == made
        for found in (
            host.users.find(email="ADA@example.com"),
            host.users.find(username="ada"),
            host.users.find(external_id="hr-1"),
            host.users.find(external_id="hr-1", email="ada@example.com"),
        ):
            assert found == made
        assert host.users.find(external_id="hr-2") is None
        assert host.users.find(external_id="hr-1", email=admin.email) is None
        changed = host.users.update(
            made.id, name="Ada King", locale="en-GB", external_id="hr-2", revision=made.revision
        )
        assert (changed.name, changed.locale, changed.external_id) == ("Ada King", "en-GB", "hr-2")
        with refusal("revision-conflict"):
            host.users.update(made.id, name="Other", revision=made.revision)
        assert host.users.update(made.id, external_id=None, locale=None).external_id is None
        until = api.clock.now() + 60_000
        suspended = host.users.suspend(made.id, reason="On leave", until=until)
        assert (suspended.status, suspended.suspended_until) == ("suspended", until)
        assert [user.id for user in host.users.list(status="suspended").items] == [made.id]
        assert api.log_in("ada").status_code == 403
        assert host.users.reinstate(made.id).status == "active"
        assert host.users.list(q="king").items == [host.users.get(made.id)]
        assert host.users.list(size=1).next == 2
        host.users.delete(made.id)
        assert host.users.find(username="ada") is None
        with refusal("not-found"):
            host.users.get(made.id)


@pytest.mark.both_databases
def test_an_external_id_is_of_one_user(api: Api, host: HostAPI) -> None:
    admin = api.person(admin=True)
    with host.acting_as(admin.id):
        first = host.users.create("Ada", username="ada", external_id="hr-1")
        second = host.users.create("Bea", username="bea", external_id="hr-2")
        with refusal("credential-taken"):
            host.users.create("Eve", username="eve", external_id="hr-1")
        with refusal("credential-taken"):
            host.users.update(second.id, external_id="hr-1")
        assert host.users.update(first.id, external_id="hr-1").external_id == "hr-1"
        host.users.delete(first.id)
        assert host.users.update(second.id, external_id="hr-1").external_id == "hr-1"
    with host.acting_as(second.id):
        assert host.users.update(second.id, name="Beate").name == "Beate"
        with refusal("forbidden"):
            host.users.update(second.id, external_id="mine")


def test_values_have_the_bounds_of_rest(api: Api, host: HostAPI) -> None:
    admin = api.person(admin=True)
    with host.acting_as(admin.id):
        for call in (
            lambda: host.users.create(""),
            lambda: host.users.create("Ada"),
            lambda: host.users.create("Ada", email="nonsense"),
            lambda: host.users.create("A\0", username="ada"),
            lambda: host.users.create("Ada", username="ada", password="weak"),
            lambda: host.users.create("Ada", username="ada", external_id="x" * 256),
            lambda: host.users.create("Ada", username="ada", server_metadata={"a": "x" * 20_000}),
            lambda: host.users.create("Ada", username="ada", mobile_verified=True),
            lambda: host.users.update(admin.id, locale="not a tag"),
            lambda: host.users.list(status="deleted"),  # type: ignore[arg-type]
            lambda: host.users.list(size=0),
            lambda: host.users.suspend(UNKNOWN, until=api.clock.now()),
            lambda: host.users.suspend(UNKNOWN, reason="x" * 256),
            lambda: host.users.find(external_id="x" * 256),
        ):
            with refusal("validation-failed"):
                call()
        with pytest.raises(ValueError, match="name an address"):
            host.users.find()
        assert host.users.list(q="ada").total == 0


def test_a_user_cannot_be_deleted_by_a_plugin_that_acts_as_the_user(api: Api, host: HostAPI) -> None:
    person = api.person()
    with host.acting_as(person.id):
        assert outcome(lambda: host.users.delete(person.id)) != "ok"
        assert host.users.me().email == person.email


def test_a_label_names_each_user_and_masks_contacts(api: Api, host: HostAPI) -> None:
    ada, nameless = api.person(name="Ada"), api.person(name="", email="someone@example.com")
    unreachable = api.person(name="")
    with api.container.base.database.write() as connection:
        connection.execute(delete(credentials).where(credentials.c.user_id == unreachable.id))
    with api.app.test_request_context(headers={"Accept-Language": "zh"}):
        assert host.users.find_labels([ada.id, nameless.id, unreachable.id, UNKNOWN]) == {
            ada.id: "Ada",
            nameless.id: "s•••@example.com",
            unreachable.id: f"未填姓名的用户 · {unreachable.id[-8:]}",
        }
        assert host.users.find_labels([ada.id, nameless.id], "none") == {ada.id: "Ada", nameless.id: ""}
        assert host.users.find_labels([nameless.id], "whole") == {nameless.id: "someone@example.com"}


def test_an_active_user_needs_no_caller(api: Api, host: HostAPI) -> None:
    person, root = api.person(name="Ada"), api.person(admin=True)
    user = host.users.find_active(person.id)
    assert user is not None
    assert (user.name, user.email) == ("Ada", person.email)
    assert api.post(f"/users/{person.id}/suspension", {}, by=root).status_code == 200
    assert host.users.find_active(person.id) is None
    assert host.users.find_active(UNKNOWN) is None


Call = tuple[Callable[[UsersAPI, Person], object], Callable[[Api, Person, Person], Answer]]
CALLS: dict[str, Call] = {
    "get": (
        lambda users, target: users.get(target.id),
        lambda api, target, by: api.get(f"/users/{target.id}", by=by),
    ),
    "get an unknown user": (
        lambda users, _: users.get(UNKNOWN),
        lambda api, _, by: api.get(f"/users/{UNKNOWN}", by=by),
    ),
    "list": (
        lambda users, _: users.list(),
        lambda api, _, by: api.get("/users", by=by),
    ),
    "find": (
        lambda users, target: users.find(email=target.email),
        lambda api, target, by: api.get(f"/users?email={target.email}", by=by),
    ),
    "update": (
        lambda users, target: users.update(target.id, name="New"),
        lambda api, target, by: api.patch(f"/users/{target.id}", {"name": "New"}, by=by),
    ),
    "suspend": (
        lambda users, target: users.suspend(target.id),
        lambda api, target, by: api.post(f"/users/{target.id}/suspension", {}, by=by),
    ),
    "reinstate": (
        lambda users, target: users.reinstate(target.id),
        lambda api, target, by: api.delete(f"/users/{target.id}/suspension", by=by),
    ),
    "delete": (
        lambda users, target: users.delete(target.id),
        lambda api, target, by: api.delete(f"/users/{target.id}", by=by),
    ),
}


def key_of(api: Api, person: Person, *scopes: Scope) -> Person:
    body = {"name": "robot", "scopes": list(scopes), "currentPassword": PASSWORD}
    answer = api.post("/users/me/access-keys", body, by=person)
    assert answer.status_code == 201, answer.text
    return replace(person, token=answer.json["key"])


@on_sqlite
@pytest.mark.parametrize("name", CALLS)
def test_each_caller_gets_what_rest_gives(api: Api, host: HostAPI, name: str) -> None:
    by_host, by_rest = CALLS[name]
    admin, user = api.person(admin=True), api.person()
    callers = {
        "user": user,
        "administrator": admin,
        "reading key of an administrator": key_of(api, admin, Scope.USERS_READ),
        "writing key of an administrator": key_of(api, admin, Scope.USERS_WRITE),
        "writing key of a user": key_of(api, user, Scope.USERS_WRITE),
    }
    differences = []
    for role, caller in callers.items():
        one, other = api.person(), api.person()
        with request_of(api, host, caller, Scope.USERS_READ):
            got = outcome(lambda target=one: by_host(host.users, target))  # type: ignore[misc]
        expected = outcome_of(by_rest(api, other, caller))
        if got != expected:
            differences.append((role, got, expected))
    assert differences == []


def test_only_administrators_create_users(api: Api, host: HostAPI) -> None:
    admin, user = api.person(admin=True), api.person()
    for caller, expected in (
        (user, "error.forbidden"),
        (admin, "ok"),
        (key_of(api, admin, Scope.USERS_READ), "error.insufficient-scope"),
        (key_of(api, admin, Scope.USERS_WRITE), "ok"),
        (key_of(api, user, Scope.USERS_WRITE), "error.forbidden"),
    ):
        with request_of(api, host, caller, Scope.USERS_READ):
            name = f"user{len(api.get('/users', by=admin).json['data'])}"
            assert outcome(lambda name=name: host.users.create("Ada", username=name)) == expected  # type: ignore[misc]
    events = api.get("/audit-events?action=user.create", by=admin).json["data"]
    assert [event["details"].get("plugin") for event in events[:2]] == ["storage_local"] * 2
