"""Folders, details, lists, deletion, and who may do what."""

import pytest
from sqlalchemy import func, select
from tests.support.api import Api, error_code

from strongroom.content.nodes.models import grants, nodes
from strongroom.content.storage.service import BlobService

UNKNOWN = "01a1fd35-41a4-7159-832d-f9df39268981"


def test_a_tree_is_built_and_listed_level_by_level(api: Api) -> None:
    person = api.person(name="Alice")
    tenant = api.tenant(person)
    folder = api.folder(tenant, person, "documents")
    inner = api.folder(tenant, person, "inner", folder["id"])
    file = api.upload(tenant, person, "a.txt", b"x", folder["id"])
    assert (inner["parentId"], file["parentId"]) == (folder["id"], folder["id"])
    top = api.get(f"{tenant}/owners/me/files", by=person).json
    assert [item["name"] for item in top["data"]] == ["documents"]
    assert top["included"] == {person.id: {"id": person.id, "type": "user", "name": "Alice"}}
    inside = api.get(f"{tenant}/owners/{person.id}/files/{folder['id']}/files", by=person).json
    assert inside["data"] == [file, inner]
    assert inside["meta"]["totalCount"] == 2


@pytest.mark.rule("4.4 GET /api/v1/tenants/{tenantId}/owners/{ownerId}/files/{parentId}/files")
def test_lists_are_sorted_by_language_rules_and_paged(api: Api) -> None:
    person = api.person()
    tenant = api.tenant(person)
    folder = api.folder(tenant, person, "f")["id"]
    for name in ("b", "A", "é", "a", "Z", "文"):
        api.upload(tenant, person, name, b"x", folder)
    path = f"{tenant}/owners/me/files/{folder}/files"
    pages = [api.get(f"{path}?pageSize=4&pageNumber={number}", by=person).json for number in (1, 2)]
    assert [item["name"] for page in pages for item in page["data"]] == ["a", "A", "b", "é", "Z", "文"]
    assert pages[0]["meta"]["nextPageLink"] == f"https://files.example.com{path}?pageSize=4&pageNumber=2"


class TestWhoMayDoWhat:
    """Members see their own nodes; administrators of the tenant manage all; others have no access."""

    def test_a_member_sees_only_own_nodes(self, api: Api) -> None:
        admin, member = api.person(), api.person()
        tenant = api.tenant(admin)
        api.join(tenant, admin, member)
        theirs = api.upload(tenant, admin, "theirs", b"x")
        mine = api.upload(tenant, member, "mine", b"y")
        listed = api.get(f"{tenant}/owners/me/files", by=member).json["data"]
        assert [item["id"] for item in listed] == [mine["id"]]
        for path in (f"/files/{theirs['id']}", f"/files/{theirs['id']}/download"):
            response = api.get(tenant + path, by=member)
            assert (response.status_code, error_code(response)) == (403, "error.forbidden")
        assert api.delete(f"{tenant}/files/{theirs['id']}", by=member).status_code == 403
        assert api.get(f"{tenant}/files/{theirs['id']}", by=admin).status_code == 200

    @pytest.mark.rule("4.4 GET /api/v1/tenants/{tenantId}/files/{fileId}")
    def test_an_administrator_of_the_tenant_manages_all(self, api: Api) -> None:
        admin, member = api.person(), api.person()
        tenant = api.tenant(admin)
        api.join(tenant, admin, member)
        folder = api.folder(tenant, member, "folder")
        file = api.upload(tenant, member, "mine", b"y", folder["id"])
        details = api.get(f"{tenant}/files/{file['id']}", by=admin).json
        assert details["permission"] == "manage"
        assert [i["id"] for i in api.get(f"{tenant}/owners/me/files", by=admin).json["data"]] == [
            folder["id"]
        ]
        assert api.delete(f"{tenant}/files/{file['id']}", by=admin).status_code == 200

    def test_only_administrators_may_read_lists_of_others(self, api: Api) -> None:
        admin, member, other = api.person(), api.person(), api.person()
        tenant = api.tenant(admin)
        for person in (member, other):
            api.join(tenant, admin, person)
        folder = api.folder(tenant, member, "folder")
        file = api.upload(tenant, member, "mine", b"y", folder["id"])
        top = f"{tenant}/owners/{member.id}/files"
        assert [item["id"] for item in api.get(top, by=admin).json["data"]] == [folder["id"]]
        inside = api.get(f"{top}/{folder['id']}/files", by=admin).json["data"]
        assert [item["id"] for item in inside] == [file["id"]]
        assert api.get(top, by=other).status_code == 403
        assert (
            api.get(f"{tenant}/owners/{other.id}/files/{folder['id']}/files", by=admin).json["data"]
            == []
        )
        assert api.get(f"{tenant}/owners/me/files/{folder['id']}/files", by=other).status_code == 403

    @pytest.mark.parametrize(
        "role", ["nobody", "stranger", "administrator", "other tenant's administrator"]
    )
    def test_who_is_no_member_reaches_nothing(self, api: Api, role: str) -> None:
        owner = api.person()
        tenant = api.tenant(owner)
        folder = api.folder(tenant, owner, "folder")["id"]
        file = api.upload(tenant, owner, "file", b"x", folder)["id"]
        caller = api.person(admin=role == "administrator") if role != "nobody" else None
        if role.startswith("other") and caller:
            api.tenant(caller)
        answers = [
            api.get(f"{tenant}/files/{file}", by=caller),
            api.get(f"{tenant}/files/{file}/download", by=caller),
            api.get(f"{tenant}/owners/me/files", by=caller),
            api.get(f"{tenant}/owners/{owner.id}/files/{folder}/files", by=caller),
            api.post(f"{tenant}/folders", {"name": "x"}, by=caller),
            api.post(f"{tenant}/files/{folder}/folders", {"name": "x"}, by=caller),
            api.request("POST", f"{tenant}/files", by=caller, data=b"x",
                        headers={"Content-Disposition": "attachment; filename=x"}),
            api.delete(f"{tenant}/files/{file}", by=caller),
        ]  # fmt: skip
        assert {answer.status_code for answer in answers} == {401 if caller is None else 403}
        assert api.get(f"{tenant}/files/{file}/download", by=owner).data == b"x"

    def test_a_former_member_keeps_no_access(self, api: Api) -> None:
        admin, member = api.person(), api.person()
        tenant = api.tenant(admin)
        api.join(tenant, admin, member)
        file = api.upload(tenant, member, "mine", b"x")["id"]
        api.delete(f"{tenant}/members/{member.id}", by=admin)
        for path in (f"/files/{file}", f"/files/{file}/download", "/owners/me/files"):
            assert api.get(tenant + path, by=member).status_code == 403

    def test_a_node_of_another_tenant_does_not_exist(self, api: Api) -> None:
        person = api.person()
        first, second = api.tenant(person), api.tenant(person)
        file = api.upload(first, person, "file", b"x")["id"]
        for path in (f"/files/{file}", f"/files/{file}/download", f"/owners/me/files/{file}/files"):
            assert api.get(second + path, by=person).status_code == 404
        assert api.delete(f"{second}/files/{file}", by=person).status_code == 404
        assert api.send(second, person, "x", b"x", file).status_code == 404

    def test_the_root_of_a_tenant_is_never_shown(self, api: Api) -> None:
        person = api.person()
        tenant = api.tenant(person)
        api.upload(tenant, person, "file", b"x")
        root = tenant.rpartition("/")[2]
        assert api.get(f"{tenant}/files/{root}", by=person).status_code == 404
        assert api.delete(f"{tenant}/files/{root}", by=person).status_code == 404


class TestDeletion:
    """Deleting files and folders."""

    @pytest.mark.rule("4.4 DELETE /api/v1/tenants/{tenantId}/files/{fileId}")
    def test_a_deleted_file_is_gone_with_its_bytes(self, api: Api) -> None:
        person = api.person()
        tenant = api.tenant(person)
        file = api.upload(tenant, person, "file", b"x")["id"]
        response = api.delete(f"{tenant}/files/{file}?permanently=true", by=person)
        assert (response.status_code, response.json) == (200, {"success": True})
        assert api.get(f"{tenant}/files/{file}", by=person).status_code == 404
        assert api.delete(f"{tenant}/files/{file}", by=person).status_code == 404
        assert list(api.container.get(BlobService).storages["main"].scan()) == []

    @pytest.mark.rule("4.4 DELETE /api/v1/tenants/{tenantId}/files/{fileId}")
    def test_a_folder_goes_with_all_below_it(self, api: Api) -> None:
        person = api.person()
        tenant = api.tenant(person)
        top = parent = api.folder(tenant, person, "top")["id"]
        for depth in range(30):
            api.upload(tenant, person, f"file{depth}", b"xy", parent)
            parent = api.folder(tenant, person, f"folder{depth}", parent)["id"]
        kept = api.upload(tenant, person, "kept", b"z")
        assert api.delete(f"{tenant}/files/{top}?permanently=true", by=person).status_code == 200
        api.container.get(BlobService).collect()
        assert len(list(api.container.get(BlobService).storages["main"].scan())) == 1
        with api.container.database.read() as connection:
            # The root of the tenant, and the kept nodes.
            assert connection.execute(select(func.count()).select_from(nodes)).scalar_one() == 2
            assert connection.execute(select(grants.c.node_id)).scalars().all() == [kept["id"]]
        assert api.get(tenant, by=person).json["usedBytes"] == 1

    def test_the_name_of_a_deleted_file_is_free(self, api: Api) -> None:
        person = api.person()
        tenant = api.tenant(person)
        file = api.upload(tenant, person, "file", b"x")["id"]
        api.delete(f"{tenant}/files/{file}", by=person)
        assert api.upload(tenant, person, "file", b"y")["id"] != file


@pytest.mark.parametrize("node_id", [UNKNOWN, "x", "..", "%00", "a" * 300])
def test_an_unknown_node_is_404(api: Api, node_id: str) -> None:
    person = api.person()
    response = api.get(f"{api.tenant(person)}/files/{node_id}", by=person)
    assert (response.status_code, error_code(response)) == (404, "error.not-found")


def test_details_are_sent_again_only_if_their_tag_differs(api: Api) -> None:
    alice = api.person()
    path = api.tenant(alice)
    path += f"/files/{api.upload(path, alice, 'a.txt', b'x')['id']}"
    tag = api.get(path, by=alice).headers["ETag"]
    for tags in (tag, f"W/{tag}", f'"other", {tag}', "*"):
        for method in ("GET", "HEAD"):
            answer = api.request(method, path, by=alice, headers={"If-None-Match": tags})
            assert (answer.status_code, answer.headers["ETag"], answer.data) == (304, tag, b""), tags
    for header, tags, status in (
        ("If-None-Match", '"other"', 200),
        ("If-Match", tag, 200),
        ("If-Match", "*", 200),
        ("If-Match", '"other"', 412),
        ("If-Match", f"W/{tag}", 412),
        ("If-Modified-Since", "Sat, 01 Jan 2000 00:00:00 GMT", 200),
        ("If-Unmodified-Since", "Sat, 01 Jan 2000 00:00:00 GMT", 200),
    ):
        assert api.get(path, by=alice, headers={header: tags}).status_code == status, (header, tags)
    assert api.patch(path, {"name": "b.txt"}, by=alice).status_code == 200
    assert api.get(path, by=alice, headers={"If-None-Match": tag}).json["name"] == "b.txt"
