"""Tenants and their members."""

from tests.support.api import Api, error_code
from tests.support.statements import statements

UNKNOWN = "01a1fd35-41a4-7159-832d-f9df39268981"


def test_the_creator_of_a_tenant_administers_it(api: Api) -> None:
    person = api.person()
    response = api.post("/api/v1/tenants", {"name": "Acme"}, by=person)
    assert response.status_code == 201
    assert response.json["name"] == "Acme"
    assert (response.json["usedBytes"], response.json["quotaBytes"]) == (0, None)
    members = api.get(f"/api/v1/tenants/{response.json['id']}/members", by=person).json
    assert [(item["user"], item["role"]) for item in members["data"]] == [({"$ref": person.id}, "admin")]
    assert members["included"][person.id]["name"] == "Somebody"


def test_who_is_no_member_gets_403_whether_or_not_the_tenant_exists(api: Api) -> None:
    tenant, stranger = api.tenant(api.person()), api.person()
    answers = [
        api.get(path, by=stranger)
        for path in (
            tenant,
            f"/api/v1/tenants/{UNKNOWN}",
            f"{tenant}/members",
            "/api/v1/tenants/x/members",
        )
    ]
    assert {(answer.status_code, error_code(answer)) for answer in answers} == {(403, "error.forbidden")}


def test_only_administrators_change_members(api: Api) -> None:
    admin, member, other = api.person(), api.person(), api.person()
    tenant = api.tenant(admin)
    api.join(tenant, admin, member)
    assert api.put(f"{tenant}/members/{other.id}", {"role": "member"}, by=member).status_code == 403
    assert api.delete(f"{tenant}/members/{admin.id}", by=member).status_code == 403
    assert api.put(f"{tenant}/members/{member.id}", {"role": "admin"}, by=admin).status_code == 200
    assert api.put(f"{tenant}/members/{other.id}", {"role": "member"}, by=member).status_code == 200


def test_an_unknown_user_cannot_become_a_member(api: Api) -> None:
    admin = api.person()
    tenant = api.tenant(admin)
    assert api.put(f"{tenant}/members/{UNKNOWN}", {"role": "member"}, by=admin).status_code == 404


def test_a_tenant_keeps_an_administrator(api: Api) -> None:
    admin = api.person()
    tenant = api.tenant(admin)
    demoted = api.put(f"{tenant}/members/{admin.id}", {"role": "member"}, by=admin)
    removed = api.delete(f"{tenant}/members/{admin.id}", by=admin)
    for response in (demoted, removed):
        assert (response.status_code, error_code(response)) == (409, "error.last-administrator")
    assert api.get(tenant, by=admin).status_code == 200


def test_members_may_leave_and_removing_twice_is_no_error(api: Api) -> None:
    admin, member = api.person(), api.person()
    tenant = api.tenant(admin)
    api.join(tenant, admin, member)
    assert api.delete(f"{tenant}/members/{member.id}", by=member).status_code == 200
    assert api.get(tenant, by=member).status_code == 403
    assert api.delete(f"{tenant}/members/{member.id}", by=admin).status_code == 200


def test_a_role_outside_the_list_is_400(api: Api) -> None:
    admin = api.person()
    response = api.put(f"{api.tenant(admin)}/members/{admin.id}", {"role": "owner"}, by=admin)
    assert (response.status_code, error_code(response)) == (400, "error.validation-failed")


def test_administrators_of_the_server_list_the_tenants_of_a_user(api: Api) -> None:
    admin, user, other = api.person(admin=True), api.person(), api.person()
    joined, own = api.tenant(other, "Beta"), api.tenant(user, "Alpha")
    api.tenant(other, "Foreign")
    deleted = api.tenant(user, "Deleted")
    assert api.delete(deleted, by=user).status_code == 200
    api.join(joined, other, user)
    path = f"/api/v1/tenants?memberId={user.id}"
    listed = api.get(path, by=admin).json
    assert [item["id"] for item in listed["data"]] == [own.rpartition("/")[2], joined.rpartition("/")[2]]
    assert listed["meta"]["totalCount"] == 2
    assert [item["name"] for item in api.get(f"{path}&pageSize=1", by=admin).json["data"]] == ["Alpha"]
    assert api.get(f"/api/v1/tenants?memberId={UNKNOWN}", by=admin).json["data"] == []


def test_only_administrators_of_the_server_list_the_tenants_of_a_user(api: Api) -> None:
    user, stranger = api.person(), api.person()
    api.tenant(user)
    for person in (user, stranger):
        assert api.get(f"/api/v1/tenants?memberId={user.id}", by=person).status_code == 403
        assert api.get(f"/api/v1/tenants?all=true&memberId={user.id}", by=person).status_code == 403


def test_the_tenants_of_a_user_take_two_statements(api: Api) -> None:
    admin, user = api.person(admin=True), api.person()
    for _ in range(5):
        api.tenant(user)
    with statements() as executed:
        assert len(api.get(f"/api/v1/tenants?memberId={user.id}", by=admin).json["data"]) == 5
    read = [statement for statement in executed if "tenant_members" in statement]
    assert len(read) == 2, read
