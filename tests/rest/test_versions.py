"""Versions: earlier contents of files."""

from datetime import datetime
from typing import Any

import pytest
from tests.support.api import PASSWORD, Answer, Api, Json, Person, error_code
from tests.support.scanners import SCANNING, VIRUS, install_word_scanner
from tests.support.scene import Scene

from strongroom.content.scanning.worker import ScanWorker
from strongroom.content.storage.service import BlobService
from strongroom.extensions.versions.service import VersionService
from strongroom.testing.clock import HOUR

DAY = 24 * HOUR
BIG_VIRUS = bytes(1024 * 1024) + VIRUS


def run_due(api: Api) -> None:
    assert api.container.get(ScanWorker).run_due() == 1


def time_of(text: str) -> int:
    return round(datetime.fromisoformat(text).timestamp() * 1000)


class History:
    """A file of a scene's tenant, and its versions."""

    def __init__(self, scene: Scene, *contents: bytes) -> None:
        self.scene, self.api = scene, scene.api
        node = self.api.upload(scene.path, scene.admin, "file.txt", contents[0])
        self.id, self.path = node["id"], f"{scene.path}/files/{node['id']}"
        for content in contents[1:]:
            self.write(content)

    def write(self, content: bytes, by: Person | None = None) -> Answer:
        """Replace the content."""
        return self.api.request("PUT", f"{self.path}/content", by=by or self.scene.admin, data=content)

    def listed(self, by: Person | None = None) -> list[Json]:
        """Return the versions."""
        answer = self.api.get(f"{self.path}/versions?pageSize=200", by=by or self.scene.admin)
        found: list[Json] = answer.json["data"]
        return found

    def numbers(self) -> list[int]:
        """Return their numbers."""
        return [version["number"] for version in self.listed()]

    def content(self, number: int | None = None, **options: Any) -> Answer:
        """Download a version, or the current content."""
        path = self.path if number is None else f"{self.path}/versions/{number}"
        return self.api.get(f"{path}/download", by=options.pop("by", self.scene.admin), **options)

    def restore(self, number: int, by: Person | None = None, **options: Any) -> Answer:
        """Try to restore a version."""
        path = f"{self.path}/versions/{number}/restore"
        return self.api.request("POST", path, by=by or self.scene.admin, **options)

    def mark(self, number: int, by: Person | None = None, **changes: Any) -> Answer:
        """Try to change a version."""
        return self.api.patch(f"{self.path}/versions/{number}", changes, by=by or self.scene.admin)

    def remove(self, number: int, by: Person | None = None) -> Answer:
        """Try to remove a version."""
        headers = {"X-Current-Password": PASSWORD}
        path = f"{self.path}/versions/{number}"
        return self.api.delete(path, by=by or self.scene.admin, headers=headers)

    def usage(self) -> Json:
        """Return the bytes by their parts."""
        found: Json = self.api.get(f"{self.scene.path}/usage", by=self.scene.admin).json
        return {name: found[f"{name}Bytes"] for name in ("used", "live", "trash", "version")}


class TestReplacing:
    """What replaced content leaves."""

    def test_each_earlier_content_is_a_version(self, scene: Scene) -> None:
        history = History(scene, b"one", b"two!", b"three")
        listed = history.listed()
        assert [(item["number"], item["size"]) for item in listed] == [(2, 4), (1, 3)]
        assert listed[0] == {
            "number": 2,
            "size": 4,
            "contentType": "text/plain; charset=utf-8",
            "checksum": listed[0]["checksum"],
            "scan": "skipped",
            "label": None,
            "keep": False,
            "modifiedAt": listed[0]["modifiedAt"],
            "archivedAt": listed[0]["archivedAt"],
            "archivedBy": {"$ref": scene.admin.id},
        }
        assert [history.content(number).data for number in (1, 2, None)] == [b"one", b"two!", b"three"]
        assert history.usage() == {"used": 12, "live": 5, "trash": 0, "version": 7}

    def test_an_upload_over_a_file_leaves_one(self, scene: Scene) -> None:
        history = History(scene, b"one")
        query = "?onConflict=replace"
        scene.api.send(scene.path, scene.admin, "file.txt", b"two", query=query)
        assert (history.numbers(), history.content(1).data) == ([1], b"one")

    def test_numbers_are_never_used_again(self, scene: Scene) -> None:
        history = History(scene, b"1", b"2", b"3")
        for number in (1, 2):
            assert history.remove(number).status_code == 200
        history.write(b"4")
        assert history.numbers() == [3]
        assert history.content(1).status_code == 404

    def test_the_quota_counts_them(self, scene: Scene) -> None:
        history = History(scene, b"12345")
        limit = {"quotaBytes": 12}
        scene.api.patch(scene.path, limit, by=scene.api.person(admin=True))
        assert history.write(b"123456").status_code == 200
        refused = history.write(b"12")
        assert (refused.status_code, error_code(refused)) == (507, "error.storage-full")
        assert history.usage() == {"used": 11, "live": 6, "trash": 0, "version": 5}
        history.remove(1)
        assert history.write(b"12").status_code == 200


class TestReading:
    """Lists and downloads."""

    def test_a_download_serves_ranges_and_conditions(self, scene: Scene) -> None:
        history = History(scene, b"0123456789", b"x")
        part = history.content(1, headers={"Range": "bytes=2-4"})
        assert (part.status_code, part.data) == (206, b"234")
        tag = history.content(1).headers["ETag"]
        assert history.content(1, headers={"If-None-Match": tag}).status_code == 304
        assert history.content(headers={"If-None-Match": tag}).status_code == 200
        assert history.content(7).status_code == 404

    def test_a_folder_has_none(self, scene: Scene) -> None:
        path = f"{scene.path}/files/{scene.folder('folder')['id']}/versions"
        assert error_code(scene.api.get(path, by=scene.admin)) == "error.not-a-file"


class TestRestoring:
    """POST restore."""

    def test_the_content_is_current_again(self, scene: Scene) -> None:
        history = History(scene, b"one", b"two!")
        before = scene.api.get(history.path, by=scene.admin).json
        restored = history.restore(1)
        assert (restored.status_code, restored.json["size"]) == (200, 3)
        assert restored.json["revision"] > before["revision"]
        assert (history.content().data, history.numbers()) == (b"one", [2, 1])
        assert history.usage() == {"used": 10, "live": 3, "trash": 0, "version": 7}
        # Both rows have the same bytes, which stay as long as one of them needs them.
        assert scene.api.stored_objects() == 2
        assert history.remove(1).status_code == 200
        assert (history.content().data, scene.api.stored_objects()) == (b"one", 2)
        history.restore(2)
        assert history.remove(3).status_code == 200
        assert (history.content().data, scene.api.stored_objects()) == (b"two!", 1)

    def test_a_stale_tag_is_refused(self, scene: Scene) -> None:
        history = History(scene, b"one", b"two")
        assert history.restore(1, headers={"If-Match": '"1"'}).status_code == 412


@pytest.mark.config({"files": {"versions": {"keep": 1000}}})
class TestThinning:
    """Which versions stay among many."""

    def test_thinning_keeps_all_of_a_day_then_one_a_day_then_one_a_week(self, scene: Scene) -> None:
        service = scene.api.container.get(VersionService)
        history = History(scene, b"0")
        # Two a day, from the beginning of a week on.
        scene.api.clock.advance(7 * DAY - scene.api.clock.now() % (7 * DAY))
        for _ in range(50):
            for _ in range(2):
                scene.token_of(scene.admin)
                history.write(b"x")
                scene.api.clock.advance(DAY // 2)
        removed = service.purge()
        scene.token_of(scene.admin)
        now = scene.api.clock.now()
        ages = [(now - time_of(item["archivedAt"])) // DAY for item in history.listed()]
        assert removed == 100 - len(ages)
        assert ages[:2] == [0, 0] or ages[:2] == [0, 1]
        assert [age for age in ages if 1 < age < 30] == list(range(2, 30))
        assert len([age for age in ages if age >= 30]) in (3, 4)
        assert service.purge() == 0


@pytest.mark.config({"files": {"versions": {"keep": 3}}})
class TestKeeping:
    """Which versions stay."""

    def test_the_oldest_go_above_the_limit_unless_marked(self, scene: Scene) -> None:
        history = History(scene, b"1", b"2")
        assert history.mark(1, keep=True, label="Draft").json["label"] == "Draft"
        for content in (b"3", b"4", b"5", b"6"):
            history.write(content)
        assert history.numbers() == [5, 4, 3, 1]
        assert history.usage()["version"] == 4
        scene.api.container.get(BlobService).collect()
        assert scene.api.stored_objects() == 5

    def test_old_ones_go_unless_marked(self, scene: Scene) -> None:
        history = History(scene, b"1", b"2", b"3")
        history.mark(1, keep=True)
        scene.api.clock.advance(180 * DAY)
        assert scene.api.container.get(VersionService).purge() == 1
        scene.token_of(scene.admin)
        assert history.numbers() == [1]
        assert history.mark(1, keep=False).json["keep"] is False
        assert scene.api.container.get(VersionService).purge() == 1
        assert history.usage()["version"] == 0

    def test_a_change_needs_a_member(self, scene: Scene) -> None:
        history = History(scene, b"1", b"2")
        assert history.mark(1).status_code == 400
        assert history.mark(9, keep=True).status_code == 404


class TestPermissions:
    """Each action needs the permission on the file."""

    @pytest.mark.parametrize("level", ["none", "read", "write", "manage"])
    def test_by_level(self, scene: Scene, level: str) -> None:
        history = History(scene, b"1", b"2", b"3")
        if level != "none":
            scene.grant({"id": history.id}, scene.alice, level)
        by = scene.alice
        answers = {
            "list": (scene.api.get(f"{history.path}/versions", by=by), 1),
            "download": (history.content(1, by=by), 1),
            "mark": (history.mark(1, by=by, keep=True), 2),
            "restore": (history.restore(1, by=by), 2),
            "remove": (history.remove(1, by=by), 3),
        }
        held = ["none", "read", "write", "manage"].index(level)
        seen = {name: answer.status_code for name, (answer, _) in answers.items()}
        assert seen == {name: 200 if held >= needed else 403 for name, (_, needed) in answers.items()}

    def test_a_removal_needs_a_fresh_proof(self, scene: Scene) -> None:
        history = History(scene, b"1", b"2")
        scene.api.clock.advance(HOUR // 5)
        refused = scene.api.delete(f"{history.path}/versions/1", by=scene.admin)
        assert (refused.status_code, error_code(refused)) == (403, "error.fresh-proof-required")

    def test_those_of_a_file_in_the_trash_come_back_with_it(self, scene: Scene) -> None:
        history = History(scene, b"one", b"two!")
        scene.api.delete(history.path, by=scene.admin)
        assert scene.api.get(f"{history.path}/versions", by=scene.admin).status_code == 404
        assert history.content(1).status_code == 404
        assert history.usage() == {"used": 7, "live": 0, "trash": 4, "version": 3}
        scene.api.post(f"{scene.path}/trash/{history.id}/restore", {}, by=scene.admin)
        assert history.content(1).data == b"one"

    @pytest.mark.parametrize("query", ["", "?permanently=true"])
    def test_they_go_with_the_file(self, scene: Scene, query: str) -> None:
        history = History(scene, b"one", b"two!")
        scene.api.delete(f"{history.path}{query}", by=scene.admin)
        if not query:
            assert scene.api.delete(f"{scene.path}/trash", by=scene.admin).status_code == 200
        assert (history.usage()["used"], scene.api.stored_objects()) == (0, 0)


@pytest.mark.config(SCANNING)
class TestScanning:
    """Content that may not be read."""

    @pytest.fixture(autouse=True)
    def words(self, tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        install_word_scanner(tmp_path / "plugins", monkeypatch)

    def test_a_version_that_waits_for_its_scan_gets_its_state(self, scene: Scene) -> None:
        history = History(scene, BIG_VIRUS, b"harmless")
        assert history.listed()[0]["scan"] == "pending"
        for answer in (history.content(1), history.restore(1)):
            assert error_code(answer) == "error.not-scanned-yet"
        run_due(scene.api)
        assert history.listed()[0]["scan"] == "infected"
        for answer in (history.content(1), history.restore(1)):
            assert error_code(answer) == "error.quarantined"
        assert history.content().data == b"harmless"

    def test_content_in_quarantine_becomes_no_version(self, scene: Scene) -> None:
        history = History(scene, BIG_VIRUS)
        run_due(scene.api)
        history.write(b"harmless")
        assert (history.listed(), history.usage()["used"]) == ([], 8)


@pytest.mark.config({"files": {"versions": {"keep": 0}}})
class TestWithoutVersions:
    """A server that keeps no earlier contents."""

    def test_replaced_content_is_gone(self, scene: Scene) -> None:
        history = History(scene, b"one", b"two!")
        assert (history.listed(), history.usage()["used"]) == ([], 4)
        scene.api.container.get(BlobService).collect()
        assert scene.api.stored_objects() == 1
