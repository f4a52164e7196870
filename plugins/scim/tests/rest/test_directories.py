"""The routes by which administrators register directories."""

import pytest
from tests.support.api import Api, Json, Person, error_code
from tests.support.config import lifted, merged
from tests.support.databases import on_sqlite
from tests.support.directories import Company

pytestmark = [
    on_sqlite,
    pytest.mark.config(merged(lifted(), {"plugins": {"enabled": ["storage_local", "scim"]}})),
]


@pytest.fixture
def company(api: Api) -> Company:
    return Company.made(api)


def make_account(api: Api, path: str, by: Person) -> str:
    answer = api.post(f"{path}/service-accounts", {"name": "Robot"}, by=by)
    assert answer.status_code == 201, answer.text
    return str(answer.json["id"])


def test_administrators_register_change_and_remove_directories(company: Company, api: Api) -> None:
    owner, path = company.owner, f"{company.path}/directories"
    account = make_account(api, company.path, owner)
    made = api.post(path, {"name": "Okta", "accountId": account}, by=owner)
    assert made.status_code == 201, made.text
    directory: Json = made.json
    assert made.headers["Location"].endswith(f"{path}/{directory['id']}")
    assert directory["mayWrite"] is True
    assert directory["lastUsedAt"] is None
    body = {"name": "Okta 2", "accountId": account, "mayWrite": False, "successorId": owner.id}
    changed = api.put(f"{path}/{directory['id']}", body, by=owner)
    assert changed.status_code == 200, changed.text
    assert {name: changed.json[name] for name in body} == body
    assert api.get(path, by=owner).json["meta"]["totalCount"] == 2
    assert api.delete(f"{path}/{directory['id']}", by=owner).json == {"success": True}
    gone = api.delete(f"{path}/{directory['id']}", by=owner)
    assert error_code(gone) == "error.directory-not-found"


def test_the_list_says_when_a_directory_was_used(company: Company) -> None:
    company.scim("GET", "/Users")
    answer = company.api.get(f"{company.path}/directories", by=company.owner)
    (directory,) = answer.json["data"]
    assert directory["lastUsedAt"] is not None


def test_others_are_refused(company: Company, api: Api) -> None:
    stranger, root = api.person(), api.person(admin=True)
    account = make_account(api, company.path, company.owner)
    body = {"name": "X", "accountId": account}
    for path, person in (
        (f"{company.path}/directories", stranger),
        (f"{company.path}/directories", root),
        ("/api/v1/directories", company.owner),
    ):
        for method in ("GET", "POST"):
            answer = api.request(method, path, by=person, **({} if method == "GET" else {"json": body}))
            assert error_code(answer) == "error.directory-forbidden", (method, path, answer.text)
    robot = company.robot
    answer = api.post(f"{company.path}/directories", body, by=robot)
    assert error_code(answer) == "error.key-not-accepted"
    successor = {**body, "successorId": stranger.id}
    answer = api.post(f"{company.path}/directories", successor, by=company.owner)
    assert error_code(answer) == "error.directory-successor"
    of_another = {"name": "X", "accountId": stranger.id}
    answer = api.post(f"{company.path}/directories", of_another, by=company.owner)
    assert error_code(answer) == "error.validation-failed"


def test_administrators_of_the_server_register_its_directories(api: Api) -> None:
    root = api.person(admin=True)
    account = make_account(api, "/api/v1", root)
    made = api.post("/api/v1/directories", {"name": "HR", "accountId": account}, by=root)
    assert made.status_code == 201, made.text
    path = f"/api/v1/directories/{made.json['id']}"
    assert api.put(path, {"name": "HR2", "accountId": account}, by=root).json["name"] == "HR2"
    assert api.get("/api/v1/directories", by=root).json["data"][0]["name"] == "HR2"
    assert api.delete(path, by=root).status_code == 200
