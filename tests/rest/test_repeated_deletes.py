"""A DELETE that is sent twice: a resource is gone (404), a relation has ended already (200)."""

import pytest
from tests.rest.test_grants import Scene
from tests.support.api import Api, error_code


@pytest.fixture
def scene(api: Api) -> Scene:
    return Scene(api)


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
