"""Deletion of accounts: permission, immediate effects, and data that is kept or erased later."""

from functools import partial
from urllib.parse import quote

import pytest
from sqlalchemy import text
from tests.support.api import PASSWORD, Api, Person, error_code
from tests.support.http import at_once

from strongroom.plugin_api.state import UnknownUser
from strongroom.testing.clock import HOUR, MINUTE

DAY = 24 * HOUR


def prune(api: Api) -> dict[str, int]:
    return dict(api.container.prune_job().run())


def test_users_delete_themselves_after_a_recent_login(api: Api) -> None:
    person, admin = api.person(name="Alice"), api.person(admin=True)
    other = api.log_in(person.email).json
    response = api.delete("/users/me", by=person)
    assert (response.status_code, response.json) == (200, {"success": True})
    assert api.get("/users/me", by=person).status_code == 401
    assert api.get("/users/me", headers={"X-Access-Token": other["accessToken"]}).status_code == 401
    refresh = {"refreshToken": other["refreshToken"]}
    assert api.post("/authorizations/refresh", refresh).status_code == 401
    refused = api.log_in(person.email)
    assert (refused.status_code, error_code(refused)) == (401, "error.invalid-credentials")
    for method in ("GET", "DELETE", "PATCH"):
        gone = api.request(method, f"/users/{person.id}", by=admin, json={})
        assert (gone.status_code, error_code(gone)) == (404, "error.not-found")
    listed = api.get("/users", by=admin).json
    assert [user["id"] for user in listed["data"]] == [admin.id]
    # The user again, without the token that has died.
    assert api.delete("/users/me", by=person).status_code == 401
    assert "was deleted" in api.outbox()[-1]["text"]


def test_an_old_login_needs_a_proof(api: Api) -> None:
    people = [api.person(), api.person()]
    api.clock.advance(10 * MINUTE)
    refused = api.delete("/users/me", by=people[0])
    assert (refused.status_code, error_code(refused)) == (403, "error.fresh-proof-required")
    code = api.code(people[0].email, "unbind")
    wrong = [{"X-Verification-Code": "x.y"}, {"X-Current-Password": "Wrong1Password"}]
    for headers in wrong:
        answer = api.delete("/users/me", by=people[0], headers=headers)
        assert answer.status_code == 400
        assert [item["field"] for item in answer.json["error"]["details"]] == list(headers)
    proofs = [
        {"X-Verification-Code": f"{code['id']}.{code['code']}"},
        {"X-Current-Password": quote(PASSWORD)},
    ]
    for person, headers in zip(people, proofs, strict=True):
        assert api.delete("/users/me", by=person, headers=headers).status_code == 200


def test_only_administrators_delete_others(api: Api) -> None:
    person, stranger, admin = api.person(), api.person(), api.person(admin=True)
    assert api.delete(f"/users/{person.id}", by=stranger).status_code == 403
    assert api.delete(f"/users/{person.id}").status_code == 401
    api.clock.advance(20 * MINUTE)
    assert api.delete(f"/users/{person.id}", by=admin).status_code == 200
    assert api.get("/users/me", by=person).status_code == 401
    again = api.delete(f"/users/{person.id}", by=admin)
    assert (again.status_code, error_code(again)) == (404, "error.not-found")
    events = api.get("/audit-events?action=user.delete", by=admin).json["data"]
    assert [event["target"]["id"] for event in events] == [person.id]


def test_the_last_administrator_stays(api: Api) -> None:
    first, second, person = api.person(admin=True), api.person(admin=True), api.person()
    acts = [
        partial(api.delete, f"/users/{second.id}", by=first),
        partial(api.delete, f"/users/{first.id}", by=second),
    ]
    statuses = sorted(answer.status_code for answer in at_once(acts))
    # The second may find its token dead, or itself the last one.
    assert statuses[0] == 200
    assert statuses[1] in (401, 409)
    left = first if api.get("/users/me", by=first).status_code == 200 else second
    refused = api.delete("/users/me", by=left)
    assert (refused.status_code, error_code(refused)) == (409, "error.last-administrator")
    assert api.delete(f"/users/{person.id}", by=left).status_code == 200


def test_files_stay_with_their_tenant_and_the_address_is_free(api: Api) -> None:
    owner, colleague = api.person(name="Owner"), api.person()
    tenant = api.tenant(owner)
    api.join(tenant, owner, colleague, "admin")
    node = api.upload(tenant, owner, "kept.txt", b"kept")
    assert api.delete("/users/me", by=owner).status_code == 200
    content = api.get(f"{tenant}/files/{node['id']}/download", by=colleague)
    assert (content.status_code, content.data) == (200, b"kept")
    assert api.get(f"/credentials/{owner.email}/available").json == {"available": True}
    again = api.person(email=owner.email)
    assert again.id != owner.id
    assert api.get(f"{tenant}/files/{node['id']}", by=again).status_code in (403, 404)


def test_the_only_administrator_of_a_tenant_with_members_names_another_first(api: Api) -> None:
    owner, member, admin = api.person(), api.person(), api.person(admin=True)
    tenant = api.tenant(owner)
    api.join(tenant, owner, member)
    refused = api.delete("/users/me", by=owner)
    assert (refused.status_code, error_code(refused)) == (409, "error.last-administrator")
    api.join(tenant, owner, member, "admin")
    assert api.delete("/users/me", by=owner).status_code == 200
    # An administrator of the server is not held up by it.
    assert api.delete(f"/users/{member.id}", by=admin).status_code == 200


def test_personal_data_are_erased_after_a_month(api: Api) -> None:
    person, admin = api.person(name="Alice Personal"), api.person(admin=True)
    api.patch("/users/me", {"locale": "zh-CN"}, by=person)
    api.delete(f"/users/{person.id}", by=admin)
    api.clock.advance(30 * DAY - 1)
    assert prune(api)["personal data of deleted users"] == 0
    assert personal(api, person) == ("Alice Personal", "zh-CN")
    api.clock.advance(1)
    assert prune(api)["personal data of deleted users"] == 1
    assert personal(api, person) == ("", None)
    with api.container.database.read() as connection:
        for table in ("authorizations", "credentials", "passwords"):
            query = text(f"SELECT count(*) FROM {table} WHERE user_id = :id")
            assert connection.execute(query, {"id": person.id}).scalar_one() == 0
    assert prune(api)["personal data of deleted users"] == 0
    again = api.log_in(admin.email).headers["X-Access-Token"]
    listed = api.get("/audit-events?action=user.erase", headers={"X-Access-Token": again}).json
    assert [event["details"] for event in listed["data"]] == [{"count": "1"}]


def personal(api: Api, person: Person) -> tuple[str, str | None]:
    with api.container.database.read() as connection:
        query = text("SELECT name, locale FROM users WHERE id = :id")
        name, locale = connection.execute(query, {"id": person.id}).one()
    return name, locale


@pytest.mark.parametrize("language", ["zh-CN", None])
def test_notices_that_others_cause_come_in_the_locale_of_the_user(
    api: Api, language: str | None
) -> None:
    person, admin = api.person(), api.person(admin=True)
    changed = api.patch("/users/me", {"locale": language}, by=person)
    assert (changed.status_code, changed.json["locale"]) == (200, language)
    api.post(f"/users/{person.id}/suspension", by=admin, headers={"Accept-Language": "de"})
    assert ("您的账号" in api.outbox()[-1]["text"]) == (language is not None)


def test_values_of_plugins_go_with_the_user(api: Api) -> None:
    person, other = api.person(), api.person()
    store = api.container.hosts.get("password").store
    for owner in (person, other):
        store.put(owner.id, "theme", "dark")
    assert api.delete("/users/me", by=person).status_code == 200
    assert store.keys(person.id) == []
    assert store.keys(other.id) == ["theme"]
    with pytest.raises(UnknownUser):
        store.put(person.id, "theme", "dark")
