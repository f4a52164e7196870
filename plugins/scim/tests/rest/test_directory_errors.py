"""Errors of a directory by user and group, as administrators see them."""

from typing import Any

import pytest
from tests.support.api import Api, Json, error_code
from tests.support.config import lifted, merged
from tests.support.databases import on_sqlite
from tests.support.directories import GROUP, USER, Company

pytestmark = [
    on_sqlite,
    pytest.mark.config(merged(lifted(), {"plugins": {"enabled": ["storage_local", "scim"]}})),
]

BULK = "urn:ietf:params:scim:api:messages:2.0:BulkRequest"


@pytest.fixture
def company(api: Api) -> Company:
    return Company.made(api)


def errors(company: Company) -> list[Json]:
    path = f"{company.path}/directories/{company.directory}/errors"
    answer = company.api.get(path, by=company.owner)
    assert answer.status_code == 200, answer.text
    data: list[Json] = answer.json["data"]
    return data


def listed(company: Company) -> list[tuple[str, str, int, str | None]]:
    return [(item["kind"], item["name"], item["status"], item["scimType"]) for item in errors(company)]


def test_a_refused_user_is_listed_until_a_request_succeeds(company: Company, api: Api) -> None:
    holder = api.person()
    body = {"schemas": [USER], "userName": "Ann@acme.example", "emails": [{"value": holder.email}]}
    assert company.scim("POST", "/Users", body).status_code == 409
    assert company.scim("POST", "/Users", body).status_code == 409
    (error,) = errors(company)
    assert (error["kind"], error["name"], error["status"]) == ("user", "Ann@acme.example", 409)
    assert (error["scimType"], error["count"], error["resourceId"]) == ("uniqueness", 2, None)
    assert holder.email not in error["message"]
    user = company.scim_user("ann@acme.example")
    assert errors(company) == []
    path = f"/Users/{user['id']}"
    changed = {**body, "userName": "ann2@acme.example"}
    assert company.scim("PUT", path, changed).status_code == 409
    (error,) = errors(company)
    assert (error["name"], error["resourceId"]) == ("ann@acme.example", user["id"])
    # A request that changes nothing also succeeds.
    again = {"schemas": [USER], "userName": user["userName"], "displayName": "Ann"}
    assert company.scim("PUT", path, again).json["meta"] == user["meta"]
    assert errors(company) == []


def test_errors_of_each_kind_are_listed(company: Company) -> None:
    user = company.scim_user()
    path = f"/Users/{user['id']}"
    assert company.patch(path, {"op": "replace", "path": "no[", "value": 1}).status_code == 400
    assert listed(company) == [("user", "ann@acme.example", 400, "invalidPath")]
    stale = {"If-Match": 'W/"1-1"'}
    operation = {"op": "replace", "path": "title", "value": "CEO"}
    assert company.patch(path, operation, **stale).status_code == 412
    assert listed(company) == [("user", "ann@acme.example", 412, None)]
    assert company.patch(path, operation).status_code == 200
    group = {"schemas": [GROUP], "displayName": "Sales", "members": [{"value": company.owner.id}]}
    assert company.scim("POST", "/Groups", group).status_code == 400
    assert company.patch("/Groups/guessed", operation).status_code == 404
    assert sorted(listed(company)) == [
        ("group", "Sales", 400, "invalidValue"),
        ("group", "guessed", 404, None),
    ]
    assert company.scim("DELETE", path).status_code == 204


def test_a_deleted_user_has_no_error(company: Company) -> None:
    user = company.scim_user()
    path = f"/Users/{user['id']}"
    assert company.patch(path, {"op": "replace", "path": "no[", "value": 1}).status_code == 400
    assert company.scim("DELETE", path).status_code == 204
    assert errors(company) == []


def test_each_operation_of_a_bulk_request_counts(company: Company) -> None:
    company.scim_user()
    operation = {"method": "POST", "path": "/Users", "bulkId": "a"}
    names = ["ann@acme.example", "ben@acme.example"]
    users: list[Any] = [{"schemas": [USER], "userName": name} for name in names]
    users += [{"schemas": [USER], "userName": "carl@acme.example", "emails": 5}]
    operations = [{**operation, "bulkId": str(index), "data": data} for index, data in enumerate(users)]
    answer = company.scim("POST", "/Bulk", {"schemas": [BULK], "Operations": operations})
    assert [item["status"] for item in answer.json["Operations"]] == ["409", "201", "400"]
    assert {name for _, name, _, _ in listed(company)} == {"ann@acme.example", "carl@acme.example"}
    operations = [{**operation, "data": {**users[2], "emails": []}}]
    company.scim("POST", "/Bulk", {"schemas": [BULK], "Operations": operations})
    assert [name for _, name, _, _ in listed(company)] == ["ann@acme.example"]


@pytest.mark.parametrize("password", ["hunter2secret", {"hunter2secret": 1}, ["hunter2secret"], 5])
def test_no_password_is_stored(company: Company, password: Any) -> None:
    body = {"schemas": [USER], "userName": "ann@acme.example", "password": password, "emails": 5}
    assert company.scim("POST", "/Users", body).status_code == 400
    (error,) = errors(company)
    assert "hunter2" not in str(error)
    company.scim("POST", "/Users", {**body, "emails": []})
    user = company.scim_user("ben@acme.example")
    for operation in (
        {"op": "replace", "path": "password", "value": password},
        {"op": "replace", "value": {"password": password}},
    ):
        wrong = {"op": "replace", "path": "no[", "value": 1}
        answer = company.patch(f"/Users/{user['id']}", operation, wrong)
        assert answer.status_code == 400
        assert errors(company)
        assert "hunter2" not in str(errors(company))


def test_what_is_about_no_resource_is_not_listed(company: Company, api: Api) -> None:
    assert company.scim("GET", "/Users/guessed").status_code == 404
    assert company.scim("POST", "/Users", {"schemas": [USER]}).status_code == 400
    assert company.scim("PUT", "/Users", {"schemas": [USER]}).status_code == 405
    nul = {"schemas": [USER], "userName": "a\0"}
    assert company.scim("POST", "/Users", nul).status_code == 400
    reader = Company.made(api, may_write=False)
    assert reader.scim("POST", "/Users", {"schemas": [USER], "userName": "x"}).status_code == 403
    assert errors(company) == errors(reader) == []


def test_the_list_of_directories_has_counts_and_times(company: Company) -> None:
    def directory() -> Json:
        answer = company.api.get(f"{company.path}/directories", by=company.owner)
        (item,) = answer.json["data"]
        found: Json = item
        return found

    assert directory()["counts"] == {"users": 0, "groups": 0, "errors": 0}
    assert directory()["lastChangedAt"] is None
    company.scim("GET", "/Users")
    assert directory()["lastUsedAt"] is not None
    assert directory()["lastChangedAt"] is None
    user = company.scim_user()
    company.scim("POST", "/Groups", {"schemas": [GROUP], "displayName": "Sales"})
    company.scim("POST", "/Users", {"schemas": [USER], "userName": user["userName"]})
    assert directory()["counts"] == {"users": 1, "groups": 1, "errors": 1}
    assert directory()["lastChangedAt"] is not None


def test_pages_have_cursors(company: Company) -> None:
    for number in range(5):
        company.scim("POST", "/Users", {"schemas": [USER], "userName": f"u{number}", "emails": 5})
    path = f"{company.path}/directories/{company.directory}/errors"
    names, link = [], f"{path}?pageSize=2&cursor="
    while link:
        answer = company.api.get(link, by=company.owner)
        assert answer.status_code == 200, answer.text
        names += [item["name"] for item in answer.json["data"]]
        link = (answer.json["meta"]["nextPageLink"] or "").removeprefix("https://files.example.com")
    assert sorted(names) == [f"u{number}" for number in range(5)]
    by_cursor = company.api.get(f"{company.path}/directories?cursor=", by=company.owner)
    assert by_cursor.status_code == 200, by_cursor.text


def test_only_administrators_read_them(company: Company, api: Api) -> None:
    other = Company.made(api)
    path = f"directories/{company.directory}/errors"
    for person, url, code in (
        (api.person(), f"{company.path}/{path}", "forbidden"),
        (api.person(admin=True), f"{company.path}/{path}", "forbidden"),
        (other.owner, f"{company.path}/{path}", "forbidden"),
        (other.owner, f"{other.path}/{path}", "not-found"),
        (company.owner, f"/api/v1/{path}", "forbidden"),
        (api.person(admin=True), f"/api/v1/{path}", "not-found"),
    ):
        answer = api.get(url, by=person)
        assert error_code(answer) == f"error.directory-{code}", (url, answer.text)
    answer = api.get(f"{company.path}/{path}", by=company.robot)
    assert answer.status_code == 403
