"""Suspensions: their reason, their end, and who cannot be suspended."""

from collections.abc import Sequence
from functools import partial

import pytest
from sqlalchemy import text
from tests.support.api import Answer, Api, Json, Person, error_code
from tests.support.http import at_once

from strongroom.clock import iso_format
from strongroom.content.tenants.service import TenantService
from strongroom.identity.users.suspension_ends import SuspensionEnds
from strongroom.testing.clock import MINUTE

HOUR = 60 * MINUTE


@pytest.fixture
def root(api: Api) -> Person:
    return api.person(admin=True)


def suspend(api: Api, root: Person, user: Person, **body: object) -> Answer:
    return api.post(f"/users/{user.id}/suspension", dict(body), by=root)


def records(api: Api, action: str) -> Sequence[tuple[str | None, Json]]:
    """Return the actor and the details of the audit records of an action."""
    audit = api.get(f"/audit-events?action={action}", by=api.person(admin=True)).json["data"]
    return [(item["actor"] and item["actor"]["$ref"], item["details"]) for item in audit]


def test_administrators_see_reason_and_end(api: Api, root: Person) -> None:
    user, until = api.person(), iso_format(api.clock.now() + HOUR)
    reply = suspend(api, root, user, reason="Unpaid", until=until)
    assert reply.status_code == 200, reply.text
    assert (reply.json["suspensionReason"], reply.json["suspendedUntil"]) == ("Unpaid", until)
    assert records(api, "user.suspend") == [(root.id, {"cause": "administrator", "until": until})]
    refused = api.log_in(user.email)
    assert (refused.status_code, error_code(refused)) == (403, "error.user-suspended")
    assert "Unpaid" not in refused.text


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"reason": "x" * 256}, "reason"),
        ({"until": "2020-01-01T00:00:00Z"}, "until"),
        ({"until": "tomorrow"}, "until"),
        ({"other": 1}, "other"),
    ],
)
def test_a_wrong_body_suspends_no_one(api: Api, root: Person, body: Json, field: str) -> None:
    user = api.person()
    reply = api.post(f"/users/{user.id}/suspension", body, by=root)
    assert (reply.status_code, reply.json["error"]["details"][0]["field"]) == (400, field)
    assert api.get("/users/me", by=user).status_code == 200


def test_a_login_at_the_end_succeeds_to_the_millisecond(api: Api, root: Person) -> None:
    user = api.person()
    assert suspend(api, root, user, until=iso_format(api.clock.now() + HOUR)).status_code == 200
    api.clock.advance(HOUR - 1)
    assert api.log_in(user.email).status_code == 403
    api.clock.advance(1)
    assert api.log_in(user.email).status_code == 200
    assert api.get("/users/me", by=user).status_code == 401
    shown = api.get(f"/users/{user.id}", by=api.person(admin=True)).json
    assert (shown["status"], shown["suspendedUntil"]) == ("active", None)
    assert records(api, "user.reinstate") == [(None, {"cause": "until"})]
    # Once, whatever else ends suspensions.
    assert api.container.get(SuspensionEnds).reinstate_due() == 0


def test_a_job_reinstates_users_whose_suspension_is_over(api: Api, root: Person) -> None:
    users = [api.person() for _ in range(3)]
    for hours, user in enumerate(users, 1):
        suspend(api, root, user, until=iso_format(api.clock.now() + hours * HOUR), reason="Unpaid")
    forever = api.person()
    suspend(api, root, forever)
    api.clock.advance(2 * HOUR)
    assert "core.reinstate_users" in api.container.jobs()
    assert api.container.get(SuspensionEnds).reinstate_due() == 2
    admin = api.person(admin=True)
    shown = [api.get(f"/users/{user.id}", by=admin).json for user in (*users, forever)]
    assert [user["status"] for user in shown] == ["active", "active", "suspended", "suspended"]
    assert [user["suspensionReason"] for user in shown] == [None, None, "Unpaid", None]
    assert len(records(api, "user.reinstate")) == 2


def test_logins_at_the_end_reinstate_once(api: Api, root: Person) -> None:
    user = api.person()
    suspend(api, root, user, until=iso_format(api.clock.now() + HOUR))
    api.clock.advance(HOUR)
    replies = at_once([partial(api.log_in, user.email) for _ in range(4)])
    assert [reply.status_code for reply in replies] == [200] * 4
    assert len(records(api, "user.reinstate")) == 1


def test_a_suspended_user_who_is_reinstated_has_the_memberships(api: Api, root: Person) -> None:
    user = api.person()
    tenant = api.tenant(user)
    assert api.patch(f"/users/{user.id}", {"status": "suspended"}, by=root).status_code == 200
    assert not api.container.get(TenantService).administers(user.id, tenant.rpartition("/")[2])
    assert api.patch(f"/users/{user.id}", {"status": "active"}, by=root).status_code == 200
    assert api.container.get(TenantService).administers(user.id, tenant.rpartition("/")[2])


def test_a_status_is_changed_once(api: Api, root: Person) -> None:
    user = api.person()
    for status in ("suspended", "suspended", "active", "active"):
        reply = api.patch(f"/users/{user.id}", {"status": status}, by=root)
        assert (reply.status_code, reply.json["status"]) == (200, status)
    assert len(records(api, "user.suspend")) == len(records(api, "user.reinstate")) == 1
    assert records(api, "user.change") == []
    assert [message["recipient"] for message in api.outbox()] == [user.email]


def test_users_do_not_change_their_status(api: Api) -> None:
    user = api.person()
    assert api.patch("/users/me", {"status": "active"}, by=user).status_code == 403


def test_administrators_change_neither_status_nor_type_of_themselves(api: Api, root: Person) -> None:
    api.person(admin=True)
    for change in ({"status": "suspended"}, {"type": "USER"}):
        refused = api.patch("/users/me", change, by=root)
        assert (refused.status_code, error_code(refused)) == (409, "error.own-account")
    refused = suspend(api, root, root)
    assert (refused.status_code, error_code(refused)) == (409, "error.own-account")
    assert api.get("/users/me", by=root).status_code == 200


@pytest.mark.parametrize("change", [{"status": "suspended"}, {"type": "USER"}])
def test_two_administrators_at_once_leave_one(api: Api, root: Person, change: Json) -> None:
    other = api.person(admin=True)
    pairs = [(root, other), (other, root)]
    replies = at_once([partial(api.patch, f"/users/{target.id}", change, by=by) for by, target in pairs])
    # The later one is refused: by its login, which has ended, or by the guard.
    assert sorted(reply.status_code for reply in replies) in ([200, 401], [200, 409])
    query = text("SELECT count(*) FROM users WHERE type = 'ADMIN' AND status = 'active'")
    with api.container.database.read() as connection:
        assert connection.execute(query).scalar_one() == 1


def test_the_last_administrator_is_neither_suspended_nor_demoted(api: Api, root: Person) -> None:
    """Its caller is suspended meanwhile, by a change that this request has not seen."""
    other = api.person(admin=True)
    with api.container.database.write() as connection:
        statement = text("UPDATE users SET status = 'suspended' WHERE id = :id")
        connection.execute(statement, {"id": root.id})
    for change in ({"status": "suspended"}, {"type": "USER"}):
        refused = api.patch(f"/users/{other.id}", change, by=root)
        assert (refused.status_code, error_code(refused)) == (409, "error.last-administrator")
    refused = suspend(api, root, other)
    assert (refused.status_code, error_code(refused)) == (409, "error.last-administrator")
    assert api.get("/users/me", by=other).status_code == 200
