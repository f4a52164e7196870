"""``host.files``, ``host.tenants`` and ``host.users`` obey the rules of the REST API."""

import io
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

import pytest
from tests.support.actors import LEVELS, Actor, Target, World
from tests.support.api import Answer, Api, Json, Person, error_code
from tests.support.databases import on_sqlite
from tests.support.scene import Scene

from strongroom.content.nodes.events import DownloadRecorder
from strongroom.content.storage.service import BlobService
from strongroom.plugin_api.host import HostAPI
from strongroom.plugin_api.storage import StorageUnavailable
from strongroom.plugin_api.web import ApiError


@pytest.fixture
def host(api: Api) -> HostAPI:
    return api.container.hosts.get("storage_local")


@contextmanager
def error(code: str) -> Iterator[None]:
    with pytest.raises(ApiError) as raised:
        yield
    assert raised.value.code == f"error.{code}"


def tenant_of(path: str) -> str:
    return path.rpartition("/")[2]


def content(
    host: HostAPI, tenant: str, file_id: str, start: int = 0, length: int | None = None
) -> bytes:
    with host.files.open(tenant, file_id, start, length) as chunks:
        return b"".join(chunks)


def test_a_file_goes_through_its_whole_life(api: Api, host: HostAPI) -> None:
    alice = api.person()
    path = api.tenant(alice)
    tenant = tenant_of(path)
    with host.acting_as(alice.id):
        folder = host.files.create_folder(tenant, None, "Reports")
        made = host.files.upload(tenant, folder.id, "may.txt", io.BytesIO(b"0123456789"), size=10)
        assert (made.parent_id, made.size, made.permission) == (folder.id, 10, "manage")
        assert content(host, tenant, made.id) == b"0123456789"
        assert content(host, tenant, made.id, 3, 4) == b"3456"
        assert content(host, tenant, made.id, 8, 9) == b"89"
        replaced = host.files.replace(tenant, made.id, io.BytesIO(b"new"), revision=made.revision)
        renamed = host.files.move(tenant, made.id, name="june.txt")
        moved = host.files.move(tenant, made.id, None, "july.txt", revision=renamed.revision)
        assert host.files.stat(tenant, made.id) == moved
        assert host.files.resolve(tenant, ["july.txt"]) == moved
        listed = host.files.list(tenant, None)
        assert sorted(item.name for item in listed.items) == ["Reports", "july.txt"]
        assert moved in listed.items
        shown = api.get(f"{path}/files/{made.id}", by=alice).json
        assert moved.checksum == shown["checksum"].removeprefix("sha256:")
        assert (moved.created_at, moved.owner_id) == (made.created_at, alice.id)
        host.files.delete(tenant, made.id)
        with error("not-found"):
            host.files.stat(tenant, made.id)
    api.container.get(DownloadRecorder).flush()
    events = api.get(f"{path}/file-events?nodeId={made.id}", by=alice).json["data"]
    assert [event["action"] for event in reversed(events)] == [
        "file.created",
        "file.downloaded",
        "file.replaced",
        "file.renamed",
        "file.moved",
        "file.deleted",
    ]
    assert replaced.size == 3


Host = Callable[[HostAPI, str, Target], object]
Rest = Callable[[Api, Target, Person], Answer]

OPERATIONS: dict[str, tuple[Host, Rest]] = {
    "details": (
        lambda host, tenant, target: host.files.stat(tenant, target.node),
        lambda api, target, by: api.get(target.file, by=by),
    ),
    "download": (
        lambda host, tenant, target: content(host, tenant, target.node),
        lambda api, target, by: api.get(f"{target.file}/download", by=by),
    ),
    "replace": (
        lambda host, tenant, target: host.files.replace(tenant, target.node, io.BytesIO(b"y")),
        lambda api, target, by: api.request(
            "PUT", f"{target.file}/content", by=by, data=b"y", headers={"Content-Type": "text/plain"}
        ),
    ),
    "bundle": (
        lambda host, tenant, target: host.files.make_bundle(tenant, [target.node]),
        lambda api, target, by: api.post(
            f"{target.path}/multi-files-download", {"fileIds": [target.node]}, by=by
        ),
    ),
    "rename": (
        lambda host, tenant, target: host.files.move(tenant, target.node, name="other"),
        lambda api, target, by: api.patch(target.file, {"name": "another"}, by=by),
    ),
    "move": (
        lambda host, tenant, target: host.files.move(tenant, target.node, target.inbox),
        lambda api, target, by: api.put(f"{target.file}/directory", {"parentId": target.inbox}, by=by),
    ),
    "copy": (
        lambda host, tenant, target: host.files.copy(tenant, target.node, target.inbox),
        lambda api, target, by: api.post(f"{target.file}/copies", {"parentId": target.inbox}, by=by),
    ),
    "delete": (
        lambda host, tenant, target: host.files.delete(tenant, target.node),
        lambda api, target, by: api.delete(target.file, by=by),
    ),
    "groups": (
        lambda host, tenant, target: host.tenants.groups(tenant),
        lambda api, target, by: api.get(f"{target.path}/groups", by=by),
    ),
    "groups of another": (
        lambda host, tenant, target: host.tenants.groups(tenant, user_id=target.bystander.id),
        lambda api, target, by: api.get(f"{target.path}/groups?userId={target.bystander.id}", by=by),
    ),
    "make a folder": (
        lambda host, tenant, target: host.files.create_folder(tenant, target.node, "below"),
        lambda api, target, by: api.post(f"{target.file}/folders", {"name": "below"}, by=by),
    ),
    "members": (
        lambda host, tenant, target: host.tenants.members(tenant),
        lambda api, target, by: api.get(f"{target.path}/members", by=by),
    ),
    "tenant": (
        lambda host, tenant, target: host.tenants.get(tenant),
        lambda api, target, by: api.get(target.path, by=by),
    ),
    "usage": (
        lambda host, tenant, target: host.tenants.usage(tenant),
        lambda api, target, by: api.get(f"{target.path}/usage", by=by),
    ),
    "user": (
        lambda host, tenant, target: host.users.get(target.bystander.id),
        lambda api, target, by: api.get(f"/users/{target.bystander.id}", by=by),
    ),
}


def outcome(call: Callable[[], object]) -> str:
    try:
        call()
    except ApiError as problem:
        return problem.code
    return "ok"


@on_sqlite
@pytest.mark.parametrize("operation", OPERATIONS)
def test_each_actor_gets_what_rest_gives(world: World, host: HostAPI, operation: str) -> None:
    by_host, by_rest = OPERATIONS[operation]
    kind = "folder" if operation == "make a folder" else "file"
    differences = []
    for actor in (*LEVELS, Actor.STRANGER, Actor.OTHER_ADMIN, Actor.ADMIN):
        person, one, other = world.people[actor], world.target(kind), world.target(kind)
        with host.acting_as(person.id):
            got = outcome(partial(by_host, host, tenant_of(one.path), one))
        answer = by_rest(world.api, other, person)
        wanted = "ok" if answer.status_code < 300 else error_code(answer)
        if got != wanted:
            differences.append((actor, got, wanted))
    assert differences == []


class TestTrashAndVersions:
    def test_versions_are_sent(self, api: Api, scene: Scene, host: HostAPI) -> None:
        tenant, alice = tenant_of(scene.path), scene.alice
        with host.acting_as(alice.id):
            made = host.files.upload(tenant, None, "a.txt", io.BytesIO(b"first"))
            host.files.replace(tenant, made.id, io.BytesIO(b"second"))
            with api.app.test_request_context(headers={"Range": "bytes=1-3"}):
                response = host.files.send_version(tenant, made.id, 1)
            assert (response.status_code, response.get_data()) == (206, b"irs")
            assert response.headers["Content-Disposition"] == 'inline; filename="a.txt"'
            for number in (-1, 0, 3, 1 << 31, 1 << 70):
                with api.app.test_request_context(), error("not-found"):
                    host.files.send_version(tenant, made.id, number)

    def test_plugins_see_that_there_is_a_trash(self, host: HostAPI) -> None:
        assert host.files.has_trash

    @pytest.mark.config({"files": {"trash": {"enabled": False}}})
    def test_plugins_see_that_deletions_are_final(self, host: HostAPI) -> None:
        assert not host.files.has_trash

    def test_copies_belong_to_the_caller(self, scene: Scene, host: HostAPI) -> None:
        tenant, node = tenant_of(scene.path), scene.file("a.txt")
        scene.grant(node, scene.bob, "read")
        with host.acting_as(scene.bob.id):
            copied = host.files.copy(tenant, node["id"], None, "b.txt")
            assert (copied.name, copied.owner_id, copied.permission) == (
                "b.txt",
                scene.bob.id,
                "manage",
            )
            with error("name-conflict"):
                host.files.copy(tenant, node["id"], None, "b.txt")
            again = host.files.copy(tenant, node["id"], None, "b.txt", on_conflict="rename")
            assert again.name == "b (1).txt"


class TestCaller:
    def test_there_is_none_outside_of_requests(self, scene: Scene, host: HostAPI) -> None:
        for call in (host.users.me, host.tenants.list, lambda: host.files.list("t", None)):
            with error("token-required"):
                call()

    def test_acting_as_nests_and_ends(self, scene: Scene, host: HostAPI) -> None:
        with host.acting_as(scene.alice.id):
            with host.acting_as(scene.bob.id):
                assert host.users.me().id == scene.bob.id
            assert host.users.me().id == scene.alice.id
            assert host.tenants.role(tenant_of(scene.path)) == "member"
        with error("token-required"):
            host.users.me()

    def test_acting_as_is_recorded(self, scene: Scene, host: HostAPI) -> None:
        admin = scene.api.person(admin=True)
        with host.acting_as(scene.alice.id):
            pass
        event = scene.api.get("/audit-events?action=plugin.act-as", by=admin).json["data"][0]
        assert event["target"]["id"] == scene.alice.id
        assert event["details"] == {"plugin": "storage_local"}

    def test_users_who_may_not_log_in_cannot_act(self, scene: Scene, host: HostAPI) -> None:
        admin = scene.api.person(admin=True)
        scene.api.post(f"/users/{scene.alice.id}/suspension", {}, by=admin)
        with error("user-suspended"), host.acting_as(scene.alice.id):
            pass
        with error("not-found"), host.acting_as("0" * 32):
            pass


class TestUpload:
    @pytest.fixture
    def tenant(self, scene: Scene, host: HostAPI) -> Iterator[str]:
        with host.acting_as(scene.alice.id):
            yield tenant_of(scene.path)

    def test_a_source_that_ends_early_is_refused(self, tenant: str, host: HostAPI) -> None:
        with error("upload-incomplete"):
            host.files.upload(tenant, None, "a", io.BytesIO(b"123"), size=4)
        assert host.files.list(tenant, None).total == 0

    def test_a_source_is_not_read_beyond_its_size(self, tenant: str, host: HostAPI) -> None:
        source = io.BytesIO(b"12345")
        assert host.files.upload(tenant, None, "a", source, size=3).size == 3
        assert source.read() == b"45"

    def test_a_wrong_checksum_is_refused(self, tenant: str, host: HostAPI) -> None:
        with error("digest-mismatch"):
            host.files.upload(tenant, None, "a", io.BytesIO(b"1"), checksum="0" * 64)

    def test_the_rule_for_taken_names_applies(self, tenant: str, host: HostAPI) -> None:
        host.files.upload(tenant, None, "a.txt", io.BytesIO(b"1"))
        with error("name-conflict"):
            host.files.upload(tenant, None, "a.txt", io.BytesIO(b"2"))
        numbered = host.files.upload(tenant, None, "a.txt", io.BytesIO(b"3"), on_conflict="rename")
        assert numbered.name == "a (1).txt"
        with error("validation-failed"):
            host.files.upload(tenant, None, "a.txt", io.BytesIO(b"3"), on_conflict="never")  # type: ignore[arg-type]

    def test_the_quota_applies(self, scene: Scene, tenant: str, host: HostAPI) -> None:
        admin = scene.api.person(admin=True)
        scene.api.patch(scene.path, {"quotaBytes": 5}, by=admin)
        with error("storage-full"):
            host.files.upload(tenant, None, "a", io.BytesIO(b"123456"))
        assert host.tenants.usage(tenant).quota_bytes == 5

    def test_an_outage_of_the_storage_is_an_error_of_the_api(
        self, scene: Scene, tenant: str, host: HostAPI, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def fail(*_: object, **__: object) -> int:
            raise StorageUnavailable("away")

        storage = scene.api.container.get(BlobService).storages["main"]
        monkeypatch.setattr(storage, "put", fail)
        with error("unavailable"):
            host.files.upload(tenant, None, "a", io.BytesIO(b"1"))


def test_pages_have_the_limits_of_rest(scene: Scene, host: HostAPI) -> None:
    for number in range(5):
        scene.file(f"file {number}", by=scene.alice)
    tenant = tenant_of(scene.path)
    with host.acting_as(scene.alice.id):
        first = host.files.list(tenant, None, size=3)
        assert ([item.name for item in first.items], first.total, first.next) == (
            ["file 0", "file 1", "file 2"],
            5,
            2,
        )
        last = host.files.list(tenant, None, page=2, size=3)
        assert ([item.name for item in last.items], last.next) == (["file 3", "file 4"], None)
        for page, size in ((0, 20), (1, 0), (1, 201)):
            with error("validation-failed"):
                host.files.list(tenant, None, page=page, size=size)


def test_groups_are_listed_and_their_grants_count(scene: Scene, host: HostAPI) -> None:
    node: Json = scene.file("file", by=scene.alice)
    tenant = tenant_of(scene.path)
    made = scene.api.post(f"{scene.path}/groups", {"name": "team"}, by=scene.admin).json
    member = f"{scene.path}/groups/{made['id']}/members/{scene.bob.id}"
    assert scene.api.request("PUT", member, by=scene.admin).status_code == 200
    with host.acting_as(scene.alice.id):
        assert [group.name for group in host.tenants.groups(tenant).items] == ["team"]
        assert host.tenants.groups(tenant, user_id=scene.alice.id).total == 0
    grant = {"groupId": made["id"], "permission": "write"}
    grants = f"{scene.path}/files/{node['id']}/group-grants"
    assert scene.api.post(grants, grant, by=scene.alice).status_code == 201
    with host.acting_as(scene.bob.id):
        assert host.files.stat(tenant, node["id"]).permission == "write"
        assert host.files.resolve(tenant, ["file"]).id == node["id"]


class TestReplacing:
    """``replaces``: what is deleted in the transaction of another change."""

    def test_the_change_and_the_deletion_are_one(self, api: Api, host: HostAPI) -> None:
        alice = api.person()
        path = api.tenant(alice)
        tenant = tenant_of(path)
        with host.acting_as(alice.id):
            outer = host.files.create_folder(tenant, None, "outer")
            inner = host.files.create_folder(tenant, outer.id, "inner")
            other = host.files.create_folder(tenant, None, "other")
            file = host.files.upload(tenant, None, "file", io.BytesIO(b"1"))
            for change in (
                partial(host.files.move, tenant, outer.id, inner.id, "x", replaces=other),
                partial(host.files.move, tenant, outer.id, name="file", replaces=other),
                partial(host.files.copy, tenant, outer.id, inner.id, "x", replaces=other),
                partial(host.files.create_folder, tenant, None, "file", replaces=other),
            ):
                with pytest.raises(ApiError):
                    change()
            assert {item.name for item in host.files.list(tenant, None).items} == {
                "outer",
                "other",
                "file",
            }
            host.files.move(tenant, outer.id, None, "other", replaces=other)
            host.files.copy(tenant, file.id, inner.id, "file")
            host.files.create_folder(tenant, None, "file", replaces=file)
            assert [item.is_folder for item in host.files.list(tenant, None).items] == [True, True]
        trash = api.get(f"{path}/trash", by=alice).json["data"]
        assert {entry["name"] for entry in trash} == {"other", "file"}

    def test_what_has_changed_since_is_not_deleted(self, api: Api, host: HostAPI) -> None:
        alice = api.person()
        tenant = tenant_of(api.tenant(alice))
        with host.acting_as(alice.id):
            one, two = (host.files.create_folder(tenant, None, name) for name in ("one", "two"))
            host.files.move(tenant, two.id, one.id)
            with error("revision-conflict"):
                host.files.move(tenant, one.id, None, "two", replaces=two)
            assert host.files.stat(tenant, two.id).parent_id == one.id

    def test_it_needs_what_a_deletion_needs(self, scene: Scene, host: HostAPI) -> None:
        tenant, folder = tenant_of(scene.path), scene.folder("folder")
        for name in ("one", "two"):
            scene.folder(name, folder)
        scene.grant(folder, scene.alice, "write")
        with host.acting_as(scene.alice.id):
            one, two = host.files.list(tenant, folder["id"]).items
            with error("forbidden"):
                host.files.move(tenant, one.id, name="two", replaces=two)


class TestAttributes:
    def test_they_follow_the_file_and_are_copied(self, api: Api, host: HostAPI) -> None:
        alice = api.person()
        tenant = tenant_of(api.tenant(alice))
        with host.acting_as(alice.id):
            folder = host.files.create_folder(tenant, None, "Reports").id
            file = host.files.upload(tenant, folder, "may.txt", io.BytesIO(b"a")).id
            host.files.change_attributes(tenant, folder, {"{DAV:}label": "yearly", "color": "red"})
            host.files.change_attributes(tenant, file, {"color": "blue", "note": "草稿"})
            before = host.files.stat(tenant, file)
            host.files.change_attributes(tenant, file, {"color": "green", "note": None, "none": None})
            assert host.files.stat(tenant, file) == before
            assert before.attributes == {}
            assert hash(before) == hash(host.files.stat(tenant, file, with_attributes=True))
            copy = host.files.copy(tenant, folder, None, "Copy").id
            host.files.change_attributes(tenant, file, {"color": "black"})
            host.files.move(tenant, file, None, "june.txt")
            top = host.files.list(tenant, None, with_attributes=True).items
            assert {item.name: item.attributes for item in top} == {
                "Copy": {"{DAV:}label": "yearly", "color": "red"},
                "Reports": {"{DAV:}label": "yearly", "color": "red"},
                "june.txt": {"color": "black"},
            }
            copied = host.files.resolve(tenant, ["may.txt"], start=copy, with_attributes=True)
            assert copied.attributes == {"color": "green"}

    def test_they_are_stored_together_with_the_content(self, api: Api, host: HostAPI) -> None:
        alice = api.person()
        tenant = tenant_of(api.tenant(alice))

        def of_content(checksum: str) -> dict[str, str]:
            return {"of": checksum[:8]}

        with host.acting_as(alice.id):
            made = host.files.upload(tenant, None, "a", io.BytesIO(b"a"), attributes=of_content)
            assert host.files.stat(tenant, made.id, with_attributes=True).attributes == {
                "of": "ca978112"
            }
            host.files.replace(tenant, made.id, io.BytesIO(b"b"), attributes=of_content)
            kept = host.files.stat(tenant, made.id, with_attributes=True)
            assert kept.attributes == {"of": "3e23e816"}
            with error("validation-failed"):
                host.files.upload(tenant, None, "b", io.BytesIO(b""), attributes=lambda _: {"": "a"})
            with error("validation-failed"):
                host.files.replace(tenant, made.id, io.BytesIO(b"c"), attributes=lambda _: {"": "a"})
            assert [item.name for item in host.files.list(tenant, None).items] == ["a"]
            assert host.files.stat(tenant, made.id, with_attributes=True) == kept

    def test_they_come_back_from_the_trash_and_are_exported(self, api: Api, host: HostAPI) -> None:
        alice = api.person()
        path = api.tenant(alice)
        tenant = tenant_of(path)
        file = api.upload(path, alice, "a.txt", b"a")["id"]
        with host.acting_as(alice.id):
            host.files.change_attributes(tenant, file, {"color": "blue"})
        assert api.delete(f"{path}/files/{file}", by=alice).status_code == 200
        assert api.post(f"{path}/trash/{file}/restore", {}, by=alice).status_code == 200
        with host.acting_as(alice.id):
            assert host.files.stat(tenant, file, with_attributes=True).attributes == {"color": "blue"}
        exports = {
            export.name: [*export.read(alice.id)]
            for export in api.container.registry.user_exports
            if export.name == "file-attributes"
        }
        ids = {"tenantId": tenant, "fileId": file}
        row = {**ids, "plugin": "storage_local", "name": "color", "value": "blue"}
        assert exports == {"file-attributes": [row]}

    @pytest.mark.config({"plugins": {"enabled": ["storage_local", "login_sms"]}})
    def test_plugins_do_not_see_the_attributes_of_others(self, api: Api, host: HostAPI) -> None:
        alice = api.person()
        path = api.tenant(alice)
        tenant, file = tenant_of(path), api.upload(path, alice, "a.txt", b"a")["id"]
        other = api.container.hosts.get("login_sms")
        with host.acting_as(alice.id):
            host.files.change_attributes(tenant, file, {"color": "blue"})
        with other.acting_as(alice.id):
            other.files.change_attributes(tenant, file, {"color": None})
            assert other.files.stat(tenant, file, with_attributes=True).attributes == {}
        with host.acting_as(alice.id):
            assert host.files.stat(tenant, file, with_attributes=True).attributes == {"color": "blue"}

    @pytest.mark.parametrize(
        "changes",
        [
            {"": "a"},
            {"n" * 256: "a"},
            {"a\0b": "a"},
            {"name": "\ud800"},
            {"name": "v" * (16 * 1024)},
            {str(number): "a" for number in range(51)},
        ],
        ids=["no name", "long name", "NUL", "surrogate", "size", "number"],
    )
    def test_too_much_is_refused(self, api: Api, host: HostAPI, changes: dict[str, str]) -> None:
        alice = api.person()
        path = api.tenant(alice)
        tenant, file = tenant_of(path), api.upload(path, alice, "a.txt", b"a")["id"]
        with host.acting_as(alice.id):
            host.files.change_attributes(tenant, file, {"kept": "a"})
            with error("validation-failed"):
                host.files.change_attributes(tenant, file, changes)
            assert host.files.stat(tenant, file, with_attributes=True).attributes == {"kept": "a"}

    def test_readers_cannot_change_them_and_locks_forbid_it(self, api: Api, host: HostAPI) -> None:
        scene = Scene(api)
        tenant, file = tenant_of(scene.path), scene.file("a.txt")
        changes = {"color": "blue"}
        with host.acting_as(scene.bob.id), error("forbidden"):
            host.files.change_attributes(tenant, file["id"], changes)
        assert scene.grant(file, scene.bob, "read").status_code == 201
        with host.acting_as(scene.bob.id), error("forbidden"):
            host.files.change_attributes(tenant, file["id"], changes)
        assert scene.grant(file, scene.bob, "write").status_code == 200
        with host.acting_as(scene.bob.id):
            host.files.change_attributes(tenant, file["id"], changes)
        locks = f"{scene.path}/files/{file['id']}/locks"
        assert api.post(locks, {}, by=scene.admin).status_code == 201
        for person in (scene.admin, scene.bob):
            with host.acting_as(person.id), error("file-locked"):
                host.files.change_attributes(tenant, file["id"], changes)


def test_all_of_a_long_folder_is_returned_once_by_name(api: Api, host: HostAPI) -> None:
    alice = api.person()
    tenant = tenant_of(api.tenant(alice))
    with host.acting_as(alice.id):
        folder = host.files.create_folder(tenant, None, "Many")
        for number in range(203):
            host.files.upload(tenant, folder.id, f"{number:03}", io.BytesIO(b""))
        listed = [file.name for file in host.files.list_all(tenant, folder.id)]
        assert listed == [f"{number:03}" for number in range(203)]
        assert [file.name for file in host.files.list_all(tenant, None)] == ["Many"]
    with host.acting_as(api.person().id), error("forbidden"):
        next(host.files.list_all(tenant, folder.id))


def test_spaces_are_those_of_the_caller(api: Api, host: HostAPI) -> None:
    alice = api.person()
    ids = sorted(tenant_of(api.tenant(alice, name)) for name in ("Twin", "Twin"))
    api.tenant(api.person(), "Twin")
    with host.acting_as(alice.id):
        assert [space.tenant_id for space in host.files.find_spaces("Twin")] == ids
        assert [space.tenant_id for space in host.files.find_spaces(ids[0])] == ids[:1]
        assert host.files.spaces(size=1).total == 2
        assert [*host.files.find_spaces("\0"), *host.files.find_spaces("Twi")] == []


@pytest.mark.parametrize("failure", [ConnectionResetError, TimeoutError])
def test_a_body_that_breaks_off_leaves_nothing(
    api: Api, host: HostAPI, failure: type[Exception]
) -> None:
    class Broken:
        def read(self, size: int, /) -> bytes:
            raise failure

    alice = api.person()
    tenant = tenant_of(api.tenant(alice))
    with host.acting_as(alice.id):
        file = host.files.upload(tenant, None, "a", io.BytesIO(b"1"))
        with error("upload-incomplete"):
            host.files.upload(tenant, None, "b", Broken())
        with error("upload-incomplete"):
            host.files.replace(tenant, file.id, Broken())
        assert [item.name for item in host.files.list_all(tenant, None)] == ["a"]
        assert content(host, tenant, file.id) == b"1"
