"""``host.files.resolve`` and ``host.files.search``: files by their paths, or parts of their names."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from tests.support.api import Api
from tests.support.databases import on_sqlite
from tests.support.scene import Scene
from tests.support.statements import plan_of, statements

from strongroom.plugin_api.host import HostAPI
from strongroom.plugin_api.web import ApiError
from strongroom.testing.clock import HOUR


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


class TestResolve:
    def test_a_path_of_any_length_takes_two_statements(self, api: Api, host: HostAPI) -> None:
        alice = api.person()
        path = api.tenant(alice)
        names = [f"level {number}" for number in range(30)]
        parent = None
        for name in names:
            parent = api.folder(path, alice, name, parent)["id"]
        counts = set()
        with host.acting_as(alice.id):
            for length in (1, 2, 30):
                with statements() as seen:
                    found = host.files.resolve(tenant_of(path), names[:length])
                assert found.name == names[length - 1]
                counts.add(len(seen))
        assert counts == {2}
        assert found.id == parent

    @on_sqlite
    def test_each_name_is_found_by_an_index(self, api: Api, host: HostAPI) -> None:
        alice = api.person()
        path = api.tenant(alice)
        parent = api.folder(path, alice, "folder")["id"]
        api.folder(path, alice, "below", parent)
        with host.acting_as(alice.id), statements() as seen:
            for start, names in ((None, ["folder", "below"]), (parent, ["below"])):
                host.files.resolve(tenant_of(path), names, start=start)
        lookups = [text for text in seen if "json_each" in text]
        with api.container.database.read() as connection:
            for text in lookups:
                plan = "\n".join(plan_of(connection, text))
                step = plan.partition("RECURSIVE STEP\nSCAN found\n")[2]
                assert step.startswith("SEARCH nodes USING INDEX"), step
                assert step.partition("\n")[0].endswith("(parent_id=? AND name=?)"), step
        assert len(lookups) == 2

    def test_names_are_compared_exactly_and_normalized(self, api: Api, host: HostAPI) -> None:
        alice = api.person()
        path = api.tenant(alice)
        names = ['"', "[]", "%", "\\", "null", "é", "文件", "a b", "'"]
        made = {name: api.folder(path, alice, name)["id"] for name in names}
        below = api.folder(path, alice, '{"a": "b"}', made["é"])["id"]
        with host.acting_as(alice.id):
            for name, node_id in made.items():
                assert host.files.resolve(tenant_of(path), [name]).id == node_id
            assert host.files.resolve(tenant_of(path), ["e\u0301", '{"a": "b"}']).id == below
            for wrong in (["NULL"], ["É"], ["é", "é"], ["é", "x", '{"a": "b"}'], ["a%"], []):
                with error("not-found"):
                    host.files.resolve(tenant_of(path), wrong)
            with error("validation-failed"):
                host.files.resolve(tenant_of(path), ["é", "a/b"])

    def test_the_place_of_a_new_file_takes_two_statements(self, api: Api, host: HostAPI) -> None:
        alice, other = api.person(), api.person()
        path = api.tenant(alice)
        tenant, parent = tenant_of(path), None
        names = [f"level {number}" for number in range(30)]
        for name in names:
            parent = api.folder(path, alice, name, parent)["id"]
        file = api.upload(path, alice, "file", b"1", parent)["id"]
        places = {}
        with host.acting_as(alice.id):
            for below in ([*names, "file"], [*names, "new"], ["new"], [*names, "file", "new"]):
                with statements() as seen:
                    place = host.files.find_place(tenant, below)
                assert len(seen) == 2
                places[len(below), below[-1]] = (
                    place.file and place.file.id,
                    place.parent and place.parent.id,
                )
            for wrong in (["new", "new"], [*names, "file", "new", "new"]):
                with error("not-found"):
                    host.files.find_place(tenant, wrong)
        assert places == {
            (31, "file"): (file, None),
            (31, "new"): (None, parent),
            (1, "new"): (None, None),
            (32, "new"): (None, file),
        }
        with host.acting_as(other.id), error("forbidden"):
            host.files.find_place(tenant, ["new"])

    def test_places_are_hidden_like_paths(self, scene: Scene, host: HostAPI) -> None:
        inner = scene.folder("inner", scene.folder("outer"))
        scene.grant(inner, scene.alice, "read")
        with host.acting_as(scene.alice.id):
            place = host.files.find_place(tenant_of(scene.path), ["inner", "new"])
            assert place.parent is not None
            assert place.parent.id == inner["id"]
            with error("not-found"):
                host.files.find_place(tenant_of(scene.path), ["outer", "new"])

    def test_a_path_begins_where_the_user_sees_something(self, scene: Scene, host: HostAPI) -> None:
        outer = scene.folder("outer")
        inner = scene.folder("inner", outer)
        file = scene.file("file", inner)
        tenant = tenant_of(scene.path)
        scene.grant(inner, scene.alice, "read", hours=1)
        with host.acting_as(scene.alice.id):
            assert host.files.resolve(tenant, ["inner", "file"]).id == file["id"]
            with error("not-found"):
                host.files.resolve(tenant, ["outer", "inner", "file"])
        with host.acting_as(scene.admin.id):
            assert host.files.resolve(tenant, ["outer", "inner", "file"]).id == file["id"]
            with error("not-found"):
                host.files.resolve(tenant, ["inner", "file"])
        with host.acting_as(scene.bob.id), error("not-found"):
            host.files.resolve(tenant, ["inner"])
        scene.api.clock.advance(2 * HOUR)
        with host.acting_as(scene.alice.id), error("not-found"):
            host.files.resolve(tenant, ["inner", "file"])

    def test_a_stranger_learns_nothing(self, scene: Scene, host: HostAPI) -> None:
        scene.folder("outer")
        stranger = scene.api.person()
        with host.acting_as(stranger.id):
            for tenant, name in ((tenant_of(scene.path), "outer"), ("0" * 32, "outer")):
                with error("forbidden"):
                    host.files.resolve(tenant, [name])


@pytest.mark.both_databases
class TestResolveFromAFolder:
    def test_a_path_begins_in_the_folder_that_is_named(self, scene: Scene, host: HostAPI) -> None:
        outer = scene.folder("outer")
        inner = scene.folder("inner", outer)
        file = scene.file("file", inner)
        scene.file("file")
        tenant = tenant_of(scene.path)
        with host.acting_as(scene.admin.id):
            for start, path in ((outer, ["inner", "file"]), (inner, ["file"]), (file, [])):
                assert host.files.resolve(tenant, path, start=start["id"]).id == file["id"]
            for start, path in ((inner, ["inner"]), (outer, ["file"]), (file, ["file"])):
                with error("not-found"):
                    host.files.resolve(tenant, path, start=start["id"])

    def test_a_long_path_takes_one_statement_more(self, scene: Scene, host: HostAPI) -> None:
        top = parent = scene.folder("top")
        for number in range(12):
            parent = scene.folder(f"{number}", parent)
        with host.acting_as(scene.admin.id), statements() as seen:
            path = [f"{number}" for number in range(12)]
            last = host.files.resolve(tenant_of(scene.path), path, start=top["id"])
        assert last.id == parent["id"]
        assert len(seen) == 3

    def test_a_folder_that_the_caller_does_not_see_reveals_no_names(
        self, scene: Scene, host: HostAPI
    ) -> None:
        outer = scene.folder("outer")
        inner = scene.folder("inner", outer)
        scene.grant(inner, scene.alice, "read")
        tenant = tenant_of(scene.path)
        with host.acting_as(scene.alice.id):
            for path in (["inner"], ["nothing"]):
                with error("not-found"):
                    host.files.resolve(tenant, path, start=outer["id"])
            assert host.files.resolve(tenant, [], start=inner["id"]).id == inner["id"]

    def test_a_folder_of_another_tenant_is_unknown(self, scene: Scene, host: HostAPI) -> None:
        folder = scene.folder("folder", by=scene.alice)
        scene.file("file", folder, by=scene.alice)
        other = tenant_of(scene.api.tenant(scene.alice, "Other"))
        with host.acting_as(scene.alice.id), error("not-found"):
            host.files.resolve(other, ["file"], start=folder["id"])


class TestSearch:
    def test_names_are_searched_below_a_folder(self, scene: Scene, host: HostAPI) -> None:
        folder = scene.folder("reports")
        below = scene.folder("old reports", folder)
        for parent in (None, folder, below):
            scene.file("report.txt", parent)
        tenant = tenant_of(scene.path)
        with host.acting_as(scene.admin.id):
            assert host.files.search(tenant, "REPORT").total == 5
            inside = host.files.search(tenant, "report", parent_id=folder["id"], sort="-name")
            assert [file.name for file in inside.items] == ["report.txt", "report.txt", "old reports"]
            files = host.files.search(tenant, "report", parent_id=folder["id"], kind="file", size=1)
            assert (files.total, files.next, files.items[0].name) == (2, 2, "report.txt")
            assert files.items[0] == host.files.stat(tenant, files.items[0].id)

    def test_only_visible_nodes_and_folders_are_searched(self, scene: Scene, host: HostAPI) -> None:
        folder = scene.folder("folder")
        shared = scene.file("shared file", folder)
        scene.file("secret file", folder)
        scene.grant(shared, scene.alice, "read")
        tenant = tenant_of(scene.path)
        with host.acting_as(scene.alice.id):
            (hit,) = host.files.search(tenant, "file").items
            assert (hit.id, hit.permission) == (shared["id"], "read")
            with error("forbidden"):
                host.files.search(tenant, "file", parent_id=folder["id"])

    def test_criteria_are_those_of_rest(self, scene: Scene, host: HostAPI) -> None:
        tenant = tenant_of(scene.path)
        with host.acting_as(scene.alice.id):
            for wrong in (
                {"text": ""},
                {"text": "x" * 256},
                {"text": "a\0"},
                {"kind": "link"},
                {"sort": "age"},
                {"page": 0},
            ):
                with error("validation-failed"):
                    host.files.search(tenant, **{"text": "a", **wrong})  # type: ignore[arg-type]
