"""Deletions that users schedule, and can cancel until they are due."""

from functools import partial

import pytest
from tests.support.api import Answer, Api, Json, Person, error_code
from tests.support.http import at_once

from strongroom.clock import iso_format
from strongroom.extensions.own_data.scheduled_deletions import ScheduledDeletions
from strongroom.identity.accounts.account_deletion import AccountDeletion
from strongroom.testing.clock import HOUR, MINUTE

DAY = 24 * HOUR
GRACE = 14 * DAY


def schedule(api: Api, person: Person, **headers: str) -> Answer:
    return api.post("/users/me/deletion", by=person, headers=headers)


def delete_due(api: Api) -> int:
    return api.container.get(ScheduledDeletions).delete_due()


def again(api: Api, person: Person) -> Person:
    """Return the person with a new login."""
    reply = api.log_in(person.email)
    assert reply.status_code == 200, reply.text
    return Person(person.id, person.email, reply.json["accessToken"])


def actions(api: Api, prefix: str) -> list[Json]:
    admin = api.person(admin=True)
    records: list[Json] = api.get("/audit-events?pageSize=100", by=admin).json["data"]
    return [item for item in records if item["action"].startswith(prefix)]


def test_a_user_is_deleted_when_the_grace_is_over_and_not_before(api: Api) -> None:
    person = api.person()
    reply = schedule(api, person)
    due_at = iso_format(api.clock.now() + GRACE)
    assert (reply.status_code, reply.json) == (201, {"dueAt": due_at})
    assert api.get("/users/me/deletion", by=person).json == {"dueAt": due_at}
    assert api.get("/users/me", by=person).json["deletionDueAt"] == due_at
    api.clock.advance(GRACE - 1)
    assert delete_due(api) == 0
    person = again(api, person)
    api.clock.advance(1)
    assert "core.delete_due_users" in api.container.jobs()
    assert delete_due(api) == 1
    assert api.get("/users/me", by=person).status_code == 401
    assert api.log_in(person.email).status_code == 401
    assert "was deleted" in api.outbox()[-1]["text"]
    assert [item["actor"]["$ref"] for item in actions(api, "user.delete")] == [person.id]
    assert delete_due(api) == 0


def test_a_user_cancels_a_deletion_after_a_login(api: Api) -> None:
    person = api.person()
    schedule(api, person)
    api.clock.advance(GRACE - 1)
    person = again(api, person)
    assert api.delete("/users/me/deletion", by=person).json == {"success": True}
    assert "was cancelled" in api.outbox()[-1]["text"]
    assert "When: " in api.outbox()[-1]["text"]
    assert "127.0.0.1" in api.outbox()[-1]["text"]
    for method in ("GET", "DELETE"):
        gone = api.request(method, "/users/me/deletion", by=person)
        assert (gone.status_code, error_code(gone)) == (404, "error.not-found")
    api.clock.advance(GRACE)
    assert delete_due(api) == 0
    assert api.log_in(person.email).status_code == 200
    (event,) = actions(api, "user.cancel-deletion")
    assert event["details"] == {"cause": "user"}


def test_a_deletion_that_is_cancelled_at_the_last_moment_is_not_done(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    person = api.person()
    schedule(api, person)
    api.clock.advance(GRACE)
    person = again(api, person)
    delete, cancelled = ScheduledDeletions._delete, []

    def cancel_first(deletions: ScheduledDeletions, user_id: str) -> bool:
        # After the list of the users who are due, and before the deletion of this one.
        cancelled.append(api.delete("/users/me/deletion", by=person).status_code)
        return delete(deletions, user_id)

    monkeypatch.setattr(ScheduledDeletions, "_delete", cancel_first)
    assert delete_due(api) == 0
    assert cancelled == [200]
    assert api.get("/users/me", by=person).status_code == 200


def test_other_logins_end_and_a_message_says_until_when_it_can_be_cancelled(api: Api) -> None:
    person = api.person()
    api.patch("/users/me", {"locale": "zh-CN"}, by=person)
    other = again(api, person)
    schedule(api, person)
    assert api.get("/users/me", by=other).status_code == 401
    assert api.get("/users/me", by=person).status_code == 200
    sent = api.outbox()[-1]
    assert sent["recipient"] == person.email
    assert "登录并撤销" in sent["text"]
    due_at = iso_format(api.clock.now() + GRACE)
    assert f"{due_at[:10]} {due_at[11:16]} UTC" in sent["text"]


def test_a_second_request_does_not_postpone_the_deletion(api: Api) -> None:
    person = api.person()
    first = schedule(api, person).json
    api.clock.advance(MINUTE)
    count = len(api.outbox())
    assert schedule(api, person).json == first
    assert len(api.outbox()) == count
    assert len(actions(api, "user.schedule-deletion")) == 1


def test_concurrent_requests_schedule_one_deletion(api: Api) -> None:
    person = api.person()
    replies = at_once([partial(schedule, api, person) for _ in range(4)])
    assert [reply.status_code for reply in replies] == [201] * 4
    assert len({reply.text for reply in replies}) == 1
    assert len(actions(api, "user.schedule-deletion")) == 1


def test_an_old_login_needs_a_proof(api: Api) -> None:
    person = api.person()
    api.clock.advance(10 * MINUTE)
    refused = schedule(api, person)
    assert (refused.status_code, error_code(refused)) == (403, "error.fresh-proof-required")
    assert api.get("/users/me", by=person).json["deletionDueAt"] is None
    code = api.code(person.email, "unbind")
    proof = {"X-Verification-Code": f"{code['id']}.{code['code']}"}
    assert schedule(api, person, **proof).status_code == 201


@pytest.mark.parametrize("method", ["GET", "POST", "DELETE"])
def test_no_one_schedules_cancels_or_reads_the_deletion_of_others(api: Api, method: str) -> None:
    person, admin = api.person(), api.person(admin=True)
    schedule(api, person)
    path = f"/users/{person.id}/deletion"
    for caller in (api.person(), admin):
        assert api.request(method, path, by=caller).status_code == 403
    assert api.request(method, path).status_code == 401
    assert api.get(f"/users/{person.id}", by=admin).json["deletionDueAt"] is not None


def test_the_last_administrator_schedules_no_deletion(api: Api) -> None:
    admin = api.person(admin=True)
    refused = schedule(api, admin)
    assert (refused.status_code, error_code(refused)) == (409, "error.last-administrator")
    owner, member = api.person(), api.person()
    api.join(api.tenant(owner), owner, member)
    assert schedule(api, owner).status_code == 409


def test_a_user_who_has_become_the_last_administrator_is_not_deleted(api: Api) -> None:
    first, second, person = api.person(admin=True), api.person(admin=True), api.person()
    assert schedule(api, first).status_code == 201
    assert schedule(api, person).status_code == 201
    assert api.delete(f"/users/{second.id}", by=first).status_code == 200
    api.clock.advance(GRACE)
    # The refusal of one deletion does not stop the others.
    assert delete_due(api) == 1
    assert "last administrator" in api.outbox()[-1]["text"] + api.outbox()[-2]["text"]
    first = again(api, first)
    assert api.get("/users/me", by=first).json["deletionDueAt"] is None
    assert [item["details"] for item in actions(api, "user.cancel-deletion")] == [
        {"cause": "last-administrator"}
    ]


def test_the_deletion_of_a_suspended_user_waits_for_the_reinstatement(api: Api) -> None:
    person, admin = api.person(), api.person(admin=True)
    schedule(api, person)
    assert api.post(f"/users/{person.id}/suspension", {}, by=admin).status_code == 200
    api.clock.advance(GRACE)
    assert delete_due(api) == 0
    admin = again(api, admin)
    assert api.get(f"/users/{person.id}", by=admin).json["deletionDueAt"] is not None
    assert api.delete(f"/users/{person.id}/suspension", by=admin).status_code == 200
    assert delete_due(api) == 1


def test_keys_and_files_work_until_the_deletion(api: Api) -> None:
    person = api.person()
    tenant = api.tenant(person)
    key = api.post("/users/me/access-keys", {"name": "key", "scopes": ["files:read"]}, by=person).json
    node = api.upload(tenant, person, "note.txt", b"kept")
    schedule(api, person)
    path, headers = f"{tenant}/files/{node['id']}", {"Authorization": f"Bearer {key['key']}"}
    assert api.get(path, headers=headers).status_code == 200
    api.clock.advance(GRACE)
    delete_due(api)
    assert api.get(path, headers=headers).status_code == 401


def test_an_administrator_deletes_a_user_at_once(api: Api) -> None:
    person, admin = api.person(), api.person(admin=True)
    schedule(api, person)
    assert api.delete(f"/users/{person.id}", by=admin).status_code == 200
    api.clock.advance(GRACE)
    assert delete_due(api) == 0


def test_a_failure_of_one_deletion_does_not_stop_the_others(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    people = [api.person() for _ in range(3)]
    for person in people:
        schedule(api, person)
    end = AccountDeletion.end

    def fail_once(deletion: object, connection: object, user_id: str, *rest: object) -> object:
        if user_id == people[0].id:
            raise RuntimeError("the plugin failed")
        return end(deletion, connection, user_id, *rest)  # type: ignore[arg-type]

    api.clock.advance(GRACE)
    monkeypatch.setattr(AccountDeletion, "end", fail_once)
    assert delete_due(api) == 2
    monkeypatch.undo()
    # Nothing of the failed deletion was committed.
    assert delete_due(api) == 1


@pytest.mark.config({"users": {"deletion_grace_days": 0}})
def test_without_a_grace_users_are_deleted_at_once(api: Api) -> None:
    person = api.person()
    assert schedule(api, person).json == {"dueAt": iso_format(api.clock.now())}
    assert api.get("/users/me", by=person).status_code == 401
    assert "was deleted" in api.outbox()[-1]["text"]
