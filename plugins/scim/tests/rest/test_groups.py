"""Groups over SCIM, in the dialects of Entra and Okta."""

import json
from typing import Any

import pytest
from tests.support.api import Api, Json
from tests.support.config import lifted, merged
from tests.support.databases import on_sqlite
from tests.support.directories import GROUP, Company

ENTRA_GROUP = "http://schemas.microsoft.com/2006/11/ResourceManagement/ADSCIM/2.0/Group"

pytestmark = [
    on_sqlite,
    pytest.mark.config(merged(lifted(), {"plugins": {"enabled": ["storage_local", "scim"]}})),
]


@pytest.fixture
def company(api: Api) -> Company:
    return Company.made(api)


def make_group(company: Company, name: str = "Sales", **members: Any) -> Json:
    body = {"schemas": [GROUP, ENTRA_GROUP], "displayName": name, **members}
    answer = company.scim("POST", "/Groups", body)
    assert answer.status_code == 201, answer.text
    group: Json = answer.json
    return group


def members_of(company: Company, group: Json) -> set[str]:
    answer = company.scim("GET", f"/Groups/{group['id']}")
    assert answer.status_code == 200, answer.text
    return {member["value"] for member in answer.json.get("members", [])}


def test_a_group_has_members_with_references(company: Company) -> None:
    ann = company.scim_user()
    group = make_group(company, externalId="g1", members=[{"value": ann["id"]}])
    (member,) = group["members"]
    assert member["$ref"].endswith(f"/scim/v2/Users/{ann['id']}")
    (of_user,) = company.scim("GET", f"/Users/{ann['id']}").json["groups"]
    assert (of_user["value"], of_user["display"]) == (group["id"], "Sales")
    assert of_user["$ref"].endswith(f"/scim/v2/Groups/{group['id']}")


def test_entra_adds_and_removes_members(company: Company) -> None:
    ann, ben = company.scim_user(), company.scim_user("ben@acme.example")
    group = make_group(company)
    path = f"/Groups/{group['id']}"
    added = [{"$ref": None, "value": ann["id"]}, {"$ref": None, "value": ben["id"]}]
    answer = company.patch(path, {"op": "Add", "path": "members", "value": added})
    assert answer.status_code == 204, answer.text
    assert members_of(company, group) == {ann["id"], ben["id"]}
    removed = [{"$ref": None, "value": ann["id"]}]
    assert company.patch(path, {"op": "Remove", "path": "members", "value": removed}).status_code == 204
    # Not all of them, as the path alone would say.
    assert members_of(company, group) == {ben["id"]}
    again = company.patch(path, {"op": "remove", "path": f'members[value eq "{ann["id"]}"]'})
    assert again.status_code == 204, again.text
    assert (
        company.patch(path, {"op": "remove", "path": f'members[value eq "{ben["id"]}"]'}).status_code
        == 204
    )
    assert members_of(company, group) == set()
    assert (
        company.patch(path, {"op": "Replace", "path": "displayName", "value": "S2"}).status_code == 204
    )
    assert company.scim("GET", path).json["displayName"] == "S2"


def test_members_who_are_in_the_group_change_nothing(company: Company) -> None:
    ann = company.scim_user()
    group = make_group(company, members=[{"value": ann["id"]}])
    path = f"/Groups/{group['id']}"
    for value in ([{"value": ann["id"]}], [{"$ref": None, "value": ann["id"]}]):
        add = {"op": "Add", "path": "members", "value": value}
        assert company.patch(path, add).status_code == 204
    body = {"schemas": [GROUP], "displayName": "Sales", "members": [{"value": ann["id"]}]}
    assert company.scim("PUT", path, body).status_code == 200
    assert company.scim("GET", path).json["meta"] == group["meta"]


def test_changes_of_members_alone_do_not_read_the_other_members(
    company: Company, monkeypatch: pytest.MonkeyPatch
) -> None:
    ann, ben = company.scim_user(), company.scim_user("ben@acme.example")
    group = make_group(company, members=[{"value": ann["id"]}])
    path, version = f"/Groups/{group['id']}", group["meta"]["version"]
    with monkeypatch.context() as patched:
        patched.setattr(
            "strongroom.assembly.plugin_host.provisioning.HostProvisioning.group_members",
            lambda *_: pytest.fail("the members are read"),
        )
        answer = company.patch(
            path,
            {"op": "add", "path": "members", "value": [{"value": ben["id"], "display": "Ben"}]},
            {"op": "remove", "path": f'members[value eq "{ann["id"]}"]'},
        )
        assert answer.status_code == 204, answer.text
        assert answer.headers["ETag"] != version
        for unknown in ("nobody", company.owner.id):
            add = {"op": "add", "path": "members", "value": [{"value": unknown}]}
            assert company.patch(path, add).status_code == 400
    assert members_of(company, group) == {ben["id"]}


@pytest.mark.parametrize(
    ("operations", "expected"),
    [
        ([{"op": "add", "path": "members", "value": "ANN"}], 400),
        ([{"op": "add", "path": "members", "value": [{}]}], 204),
        ([{"op": "add", "path": "members", "value": [{"value": "ANN", "type": "Group"}]}], 204),
        ([{"op": "remove", "path": 'members[value eq "BEN" or value eq "ANN"]'}], 204),
        ([{"op": "add", "path": "members", "value": {"value": "ANN"}}], 204),
        ([{"op": "add", "path": "members", "value": []}], 204),
    ],
)
def test_other_changes_of_members_are_answered(
    company: Company, operations: list[Json], expected: int
) -> None:
    ann = company.scim_user()
    group = make_group(company)
    text = json.dumps(operations).replace("ANN", ann["id"])
    answer = company.patch(f"/Groups/{group['id']}", *json.loads(text))
    assert answer.status_code == expected, answer.text


def test_okta_pushes_a_group(company: Company) -> None:
    ann, ben = company.scim_user(), company.scim_user("ben@acme.example")
    group = make_group(company, members=[{"value": ann["id"], "display": "ann@acme.example"}])
    path = f"/Groups/{group['id']}"
    renamed = {"op": "replace", "value": {"id": group["id"], "displayName": "Sales 2"}}
    assert company.patch(path, renamed).status_code == 204
    changed = company.patch(
        path,
        {"op": "remove", "path": f'members[value eq "{ann["id"]}"]'},
        {"op": "add", "path": "members", "value": [{"value": ben["id"], "display": "Ben"}]},
    )
    assert changed.status_code == 204, changed.text
    assert members_of(company, group) == {ben["id"]}
    replaced = {"op": "replace", "path": "members", "value": [{"value": ann["id"]}]}
    assert company.patch(path, replaced).status_code == 204
    assert members_of(company, group) == {ann["id"]}


def test_lists_leave_members_out(company: Company) -> None:
    ann = company.scim_user()
    make_group(company, members=[{"value": ann["id"]}])
    make_group(company, "Support")
    answer = company.scim("GET", "/Groups?excludedAttributes=members").json
    assert [group["displayName"] for group in answer["Resources"]] == ["Sales", "Support"]
    assert all("members" not in group for group in answer["Resources"])
    for text, names in {
        'displayName eq "SALES"': ["Sales"],
        f'members eq "{ann["id"]}"': ["Sales"],
        f'members[value eq "{ann["id"]}"]': ["Sales"],
        'displayName sw "Su"': ["Support"],
    }.items():
        answer = company.scim("GET", "/Groups?" + company.query(filter=text))
        assert answer.status_code == 200, answer.text
        found = [group["displayName"] for group in answer.json["Resources"]]
        assert found == names, text


def test_members_are_users_of_the_directory(company: Company) -> None:
    other = Company.made(company.api).scim_user("eve@other.example")
    group = make_group(company)
    for user in (other["id"], company.owner.id, "nobody", "a\0"):
        add = {"op": "add", "path": "members", "value": [{"value": user}]}
        answer = company.patch(f"/Groups/{group['id']}", add)
        assert answer.status_code in (400, 404), answer.text
    assert members_of(company, group) == set()


def test_names_are_unique_and_a_deleted_group_is_gone(company: Company) -> None:
    group = make_group(company, externalId="g1")
    body = {"schemas": [GROUP], "displayName": "Sales"}
    refused = company.scim("POST", "/Groups", body)
    assert (refused.status_code, refused.json["scimType"]) == (409, "uniqueness")
    assert company.scim("DELETE", f"/Groups/{group['id']}").status_code == 204
    assert company.scim("GET", f"/Groups/{group['id']}").status_code == 404
    make_group(company, externalId="g1")


def test_a_large_group_is_set_in_one_request(company: Company) -> None:
    with company.acting() as host:
        users = [
            host.provisioning.provision_user(company.tenant, record)[0].id
            for record in company.records(300)
        ]
    group = make_group(company, members=[{"value": user} for user in users])
    assert members_of(company, group) == set(users)
    body = {"schemas": [GROUP], "displayName": "Sales", "members": [{"value": users[0]}]}
    assert company.scim("PUT", f"/Groups/{group['id']}", body).status_code == 200
    assert members_of(company, group) == {users[0]}
