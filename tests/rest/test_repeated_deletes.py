"""A DELETE that is sent twice: a resource is gone (404), a relation has ended already (200)."""

from functools import partial

from tests.support.api import Api, error_code, token_id
from tests.support.http import at_once
from tests.support.scene import Scene


def test_a_resource_is_gone(scene: Scene) -> None:
    file, folder = scene.file("file"), scene.folder("folder")
    paths = [f"{scene.path}/files/{node['id']}" for node in (file, folder)]
    for path in [*paths, scene.path]:
        assert scene.api.delete(path, by=scene.admin).status_code == 200
        again = scene.api.delete(path, by=scene.admin)
        assert (again.status_code, error_code(again)) == (404, "error.not-found")


def test_a_relation_has_ended_already(scene: Scene) -> None:
    file = scene.file("file")
    scene.grant(file, scene.alice, "read")
    grant = f"{scene.path}/files/{file['id']}/owners/{scene.alice.id}"
    members = [f"{scene.path}/members/{user.id}" for user in (scene.alice, scene.bob)]
    for path, by in [(grant, scene.admin), (members[0], scene.admin), (members[1], scene.bob)]:
        for _ in range(2):
            assert scene.api.delete(path, by=by).json == {"success": True}


def test_ending_ones_own_membership_says_nothing_of_a_tenant(scene: Scene) -> None:
    stranger = scene.api.person()
    unknown = "/api/v1/tenants/01a1fd35-41a4-7159-832d-f9df39268981"
    for tenant in (scene.path, unknown):
        assert scene.api.delete(f"{tenant}/members/{stranger.id}", by=stranger).status_code == 200
        assert scene.api.delete(f"{tenant}/members/{scene.alice.id}", by=stranger).status_code == 403
    assert scene.permission(scene.file("file"), scene.admin) == "manage"


def test_a_resource_that_is_gone_is_404(api: Api) -> None:
    admin, person = api.person(admin=True), api.person()
    tenant = api.tenant(person)
    node = api.upload(tenant, person, "a.txt", b"a")["id"]
    folder = api.folder(tenant, person, "folder")["id"]
    business = api.request(
        "POST",
        "/api/v1/files",
        by=person,
        data=b"x",
        headers={"Content-Disposition": "attachment; filename=a.txt", "Content-Type": "text/plain"},
    ).json["fileName"]
    other, third = api.person(), api.person()
    tus = {"Tus-Resumable": "1.0.0"}
    metadata = {"Upload-Length": "1", "Upload-Metadata": "filename YQ=="}
    upload = api.post(f"{tenant}/uploads", by=person, headers={**tus, **metadata}).json["id"]
    paths = [
        f"/users/{other.id}",
        f"/authorizations/{token_id(third.token)}",
        f"{tenant}/files/{node}",
        f"{tenant}/files/{folder}",
        f"/api/v1/files/{business}",
        f"{tenant}/uploads/{upload}",
    ]
    for path in paths:
        by = person if path.startswith("/api") else admin
        first, second = (api.delete(path, by=by, headers=tus) for _ in range(2))
        assert first.status_code in (200, 204), (path, first.text)
        assert (second.status_code, error_code(second)) == (404, "error.not-found"), path


def test_an_ended_token_is_404_also_alone(api: Api) -> None:
    person = api.person()
    assert api.delete(f"/authorizations/{person.token}").status_code == 200
    assert error_code(api.delete(f"/authorizations/{person.token}")) == "error.not-found"
    assert error_code(api.delete("/authorizations/current", by=person)) == "error.token-invalid"


def test_of_many_who_end_a_login_at_once_one_has_ended_it(api: Api) -> None:
    admin, person = api.person(admin=True), api.person()
    end = partial(api.delete, f"/authorizations/{token_id(person.token)}", by=admin)
    statuses = sorted(answer.status_code for answer in at_once([end] * 4))
    assert statuses == [200, 404, 404, 404]
    events = api.get("/audit-events?action=authorization.revoke", by=admin).json
    assert events["meta"]["totalCount"] == 1


def test_a_relation_that_has_ended_is_200(api: Api) -> None:
    admin, owner, member = api.person(admin=True), api.person(), api.person()
    tenant = api.tenant(owner)
    api.join(tenant, owner, member)
    folder = api.folder(tenant, owner, "folder")["id"]
    grants = f"{tenant}/files/{folder}/owners"
    granted = api.post(grants, {"ownerId": member.id, "permission": "read"}, by=owner)
    assert granted.status_code == 201, granted.text
    api.post(f"/users/{member.id}/suspension", by=admin)
    for path, by in (
        (f"{grants}/{member.id}", owner),
        (f"{tenant}/members/{member.id}", owner),
        (f"/users/{member.id}/suspension", admin),
        (f"/users/{member.id}/authorizations", admin),
    ):
        assert [api.delete(path, by=by).status_code for _ in range(2)] == [200, 200], path
