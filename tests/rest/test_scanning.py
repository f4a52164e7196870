"""Scanned uploads: refused content is not stored, and content that was not scanned cannot be read."""

import io
from base64 import b64encode
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import func, select
from tests.support.api import Answer, Api, Json, Person, error_code
from tests.support.config import write_api_config
from tests.support.features import needs
from tests.support.images import picture
from tests.support.scanners import LOCKED, SCANNING, VIRUS, WordScanner, install_word_scanner

from strongroom.content.nodes.file_writer import FileWriter
from strongroom.content.scanning.feature import ScanningFeature
from strongroom.content.scanning.models import scans
from strongroom.content.scanning.repository import LEASE
from strongroom.content.scanning.rescans import Rescans
from strongroom.content.scanning.worker import ScanWorker
from strongroom.plugin_api.scanning import ScannerUnavailable
from strongroom.testing.clock import MINUTE, ManualClock

BIG = b"x" * 5000
BIG_VIRUS = BIG + VIRUS


@pytest.fixture(autouse=True)
def words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install_word_scanner(tmp_path / "plugins", monkeypatch)


pytestmark = [pytest.mark.config(SCANNING), needs(ScanningFeature)]


@pytest.fixture
def alice(api: Api) -> Person:
    return api.person()


@pytest.fixture
def tenant(api: Api, alice: Person) -> str:
    return api.tenant(alice)


def stall_once(
    api: Api, other: Api, monkeypatch: pytest.MonkeyPatch, result: Callable[..., Any]
) -> None:
    """Make the next scan outlast its claim, so that the other node repeats it before the result."""
    scan = WordScanner.scan

    def stall(scanner: WordScanner, *arguments: Any, **options: Any) -> Any:
        monkeypatch.setattr(WordScanner, "scan", scan)
        api.clock.advance(LEASE)
        assert run_due(other) == 1
        return result(scanner, *arguments, **options)

    monkeypatch.setattr(WordScanner, "scan", stall)


def run_due(api: Api) -> int:
    return api.container.get(ScanWorker).run_due()


def state(api: Api, tenant: str, by: Person, node: Json) -> str:
    scan: str = api.get(f"{tenant}/files/{node['id']}", by=by).json["scan"]
    return scan


def download(api: Api, tenant: str, by: Person, node: Json, **options: Any) -> Answer:
    return api.get(f"{tenant}/files/{node['id']}/download", by=by, **options)


def audited(api: Api, action: str) -> list[Json]:
    admin = api.person(admin=True)
    events: list[Json] = api.get(f"/audit-events?action={action}", by=admin).json["data"]
    return events


def rows(api: Api) -> int:
    with api.container.database.read() as connection:
        found: int = connection.execute(select(func.count()).select_from(scans)).scalar_one()
    return found


def metadata(name: str) -> dict[str, str]:
    return {"Upload-Metadata": f"filename {b64encode(name.encode()).decode()}"}


def by_form(api: Api, tenant: str, by: Person, content: bytes) -> Answer:
    form = {"file": (io.BytesIO(content), "a.bin")}
    return api.request("POST", f"{tenant}/files", by=by, data=form)


def by_raw_body(api: Api, tenant: str, by: Person, content: bytes) -> Answer:
    return api.send(tenant, by, "a.bin", content)


def into_folder(api: Api, tenant: str, by: Person, content: bytes) -> Answer:
    return api.send(tenant, by, "a.bin", content, api.folder(tenant, by, "folder")["id"])


def over_another(api: Api, tenant: str, by: Person, content: bytes) -> Answer:
    api.upload(tenant, by, "a.bin", b"before")
    return api.send(tenant, by, "a.bin", content, query="?onConflict=replace")


def as_new_content(api: Api, tenant: str, by: Person, content: bytes) -> Answer:
    node = api.upload(tenant, by, "a.bin", b"before")
    return api.request("PUT", f"{tenant}/files/{node['id']}/content", by=by, data=content)


TUS = {"Tus-Resumable": "1.0.0", "Content-Type": "application/offset+octet-stream"}


def by_tus_at_once(api: Api, tenant: str, by: Person, content: bytes) -> Answer:
    headers = {**TUS, "Upload-Length": str(len(content)), **metadata("a.bin")}
    return api.request("POST", f"{tenant}/uploads", by=by, headers=headers, data=content)


def by_tus_in_parts(api: Api, tenant: str, by: Person, content: bytes) -> Answer:
    headers = {**TUS, "Upload-Length": str(len(content)), **metadata("a.bin")}
    begun = api.request("POST", f"{tenant}/uploads", by=by, headers=headers, data=content[:4])
    path = begun.headers["Location"].removeprefix("https://files.example.com")
    headers = {**TUS, "Upload-Offset": "4"}
    return api.request("PATCH", path, by=by, headers=headers, data=content[4:])


WAYS = [
    by_form,
    by_raw_body,
    into_folder,
    over_another,
    as_new_content,
    by_tus_at_once,
    by_tus_in_parts,
]
each_way = pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
Way = Callable[[Api, str, Person, bytes], Answer]


def files(api: Api, tenant: str, by: Person) -> dict[str, Json]:
    listed = api.get(f"{tenant}/owners/me/files", by=by).json["data"]
    found = {node["name"]: node for node in listed}
    if folder := found.pop("folder", None):
        path = f"{tenant}/owners/me/files/{folder['id']}/files"
        found |= {node["name"]: node for node in api.get(path, by=by).json["data"]}
    return found


@each_way
def test_a_small_virus_is_refused_and_not_stored(api: Api, alice: Person, tenant: str, way: Way) -> None:
    answer = way(api, tenant, alice, VIRUS)
    assert (answer.status_code, error_code(answer)) == (422, "error.content-infected")
    assert b"Test-Virus" not in answer.data
    before = {"a.bin"} if way in (over_another, as_new_content) else set()
    found = files(api, tenant, alice)
    assert set(found) == before
    for node in found.values():
        assert download(api, tenant, alice, node).data == b"before"
    (event,) = audited(api, "scan.infected")
    assert event["details"] == {
        "outcome": "refused",
        "name": "a.bin",
        "state": "infected",
        "scanner": "words",
        "reason": "Test-Virus",
        "version": "Words 1.0 1",
    }


@each_way
def test_a_small_good_file_is_clean_at_once(api: Api, alice: Person, tenant: str, way: Way) -> None:
    assert way(api, tenant, alice, b"content").status_code in (200, 201, 204)
    (node,) = files(api, tenant, alice).values()
    assert node["scan"] == "clean"
    assert download(api, tenant, alice, node).data == b"content"
    assert run_due(api) == 0


@each_way
def test_a_big_file_is_held_back_until_it_is_scanned(
    api: Api, alice: Person, tenant: str, way: Way
) -> None:
    assert way(api, tenant, alice, BIG).status_code in (200, 201, 204)
    (node,) = files(api, tenant, alice).values()
    assert node["scan"] == "pending"
    answer = download(api, tenant, alice, node)
    assert (answer.status_code, error_code(answer)) == (409, "error.not-scanned-yet")
    assert answer.headers["Retry-After"] == "5"
    etag = api.get(f"{tenant}/files/{node['id']}", by=alice).headers["ETag"]
    assert run_due(api) == 1
    answer = api.get(f"{tenant}/files/{node['id']}", by=alice, headers={"If-None-Match": etag})
    assert (answer.status_code, answer.json["scan"]) == (200, "clean")
    assert answer.json["updatedAt"] == node["updatedAt"]
    # Lists are assembled from remembered nodes.
    assert files(api, tenant, alice)["a.bin"]["scan"] == "clean"
    assert download(api, tenant, alice, node).data == BIG


@each_way
def test_a_big_virus_goes_into_quarantine(api: Api, alice: Person, tenant: str, way: Way) -> None:
    assert way(api, tenant, alice, BIG_VIRUS).status_code in (200, 201, 204)
    (node,) = files(api, tenant, alice).values()
    assert run_due(api) == 1
    assert state(api, tenant, alice, node) == "infected"
    answer = download(api, tenant, alice, node)
    assert (answer.status_code, error_code(answer)) == (403, "error.quarantined")
    (event,) = audited(api, "scan.infected")
    assert (event["target"], event["actor"]) == ({"type": "file", "id": node["id"]}, None)
    assert event["details"]["outcome"] == "quarantined"
    # The owner still sees the name, and may delete the file.
    assert api.delete(f"{tenant}/files/{node['id']}", by=alice).status_code == 200
    admin = api.person(admin=True)
    assert api.get("/api/v1/quarantine", by=admin).json["meta"]["totalCount"] == 0


def test_content_that_an_upload_forgot_to_inspect_is_held_back(
    api: Api, alice: Person, tenant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(FileWriter, "inspect", lambda _writer, _caller, received, _name: received)
    node = api.upload(tenant, alice, "a", VIRUS)
    assert error_code(download(api, tenant, alice, node)) == "error.not-scanned-yet"
    run_due(api)
    assert error_code(download(api, tenant, alice, node)) == "error.quarantined"


def test_an_error_of_the_plugin_is_answered(api: Api, alice: Person, tenant: str) -> None:
    answer = api.send(tenant, alice, "setup.exe", b"content")
    assert (answer.status_code, error_code(answer)) == (422, "error.refused-by-test")
    node = api.upload(tenant, alice, "setup.exe", BIG)
    run_due(api)
    assert state(api, tenant, alice, node) == "rejected"
    assert error_code(download(api, tenant, alice, node)) == "error.quarantined"


class TestUnscannable:
    """Content that the scanner cannot examine."""

    def test_is_marked_and_can_be_read(self, api: Api, alice: Person, tenant: str) -> None:
        small, big = (
            api.upload(tenant, alice, name, LOCKED + b"x" * size)
            for name, size in (("a", 0), ("b", 5000))
        )
        run_due(api)
        for node in (small, big):
            assert state(api, tenant, alice, node) == "unscannable"
            assert download(api, tenant, alice, node).status_code == 200

    @pytest.mark.config(SCANNING, {"scanning": {"on_unscannable": "refuse"}})
    def test_is_refused_if_so_configured(self, api: Api, alice: Person, tenant: str) -> None:
        answer = api.send(tenant, alice, "a", LOCKED)
        assert (answer.status_code, error_code(answer)) == (422, "error.content-unscannable")
        node = api.upload(tenant, alice, "b", LOCKED + BIG)
        run_due(api)
        assert state(api, tenant, alice, node) == "rejected"
        assert error_code(download(api, tenant, alice, node)) == "error.quarantined"


class TestUnavailable:
    """A scanner that does not respond."""

    def test_new_files_are_held_back(self, api: Api, alice: Person, tenant: str) -> None:
        WordScanner.is_available = False
        node = api.upload(tenant, alice, "a", VIRUS)
        assert node["scan"] == "pending"
        assert run_due(api) == 1
        assert run_due(api) == 0
        assert error_code(download(api, tenant, alice, node)) == "error.not-scanned-yet"
        WordScanner.is_available = True
        # The scan is repeated after the time that the scanner asked for.
        assert run_due(api) == 0
        api.clock.advance(7000)
        assert run_due(api) == 1
        assert state(api, tenant, alice, node) == "infected"

    @pytest.mark.config(SCANNING, {"scanning": {"on_unavailable": "allow-marked"}})
    def test_they_can_be_read_if_so_configured(self, api: Api, alice: Person, tenant: str) -> None:
        WordScanner.is_available = False
        small = api.upload(tenant, alice, "a", VIRUS)
        big = api.upload(tenant, alice, "b", BIG)
        assert (small["scan"], big["scan"]) == ("skipped", "pending")
        assert download(api, tenant, alice, small).data == VIRUS
        assert error_code(download(api, tenant, alice, big)) == "error.not-scanned-yet"
        # Big files are held back until the first attempt.
        assert run_due(api) == 2
        assert download(api, tenant, alice, big).data == BIG
        WordScanner.is_available = True
        api.clock.advance(7000)
        assert run_due(api) == 2
        assert (state(api, tenant, alice, small), state(api, tenant, alice, big)) == (
            "infected",
            "clean",
        )

    def test_a_scanner_that_fails_passes_nothing(
        self, api: Api, alice: Person, tenant: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def fail(*_: object, **__: object) -> None:
            raise ValueError("a fault of the scanner")

        monkeypatch.setattr(WordScanner, "scan", fail)
        node = api.upload(tenant, alice, "a", b"content")
        run_due(api)
        assert state(api, tenant, alice, node) == "pending"


class TestBusinessFiles:
    """Files that are addressed by their name."""

    def send(self, api: Api, path: str, content: bytes, by: Person) -> Answer:
        headers = {"Content-Disposition": 'attachment; filename="a"'}
        return api.request("POST", f"/api/v1/files{path}", by=by, headers=headers, data=content)

    @pytest.mark.parametrize("path", ["", "/photos", "/figures", "/covers", "/avatars"])
    @pytest.mark.parametrize("size", [0, 5000])
    def test_a_virus_is_refused_or_held(self, api: Api, alice: Person, path: str, size: int) -> None:
        content = (picture() if path else b"%PDF-1.7\n") + b"x" * size + VIRUS
        answer = self.send(api, path, content, alice)
        if path or not size:
            assert (answer.status_code, error_code(answer)) == (422, "error.content-infected")
            return
        place = f"/api/v1/files/{answer.json['fileName']}"
        assert error_code(api.get(place, by=alice)) == "error.not-scanned-yet"
        run_due(api)
        assert error_code(api.get(place, by=alice)) == "error.quarantined"
        admin = api.person(admin=True)
        (item,) = api.get("/api/v1/quarantine", by=admin).json["data"]
        assert (item["kind"], item["fileId"]) == ("business-file", answer.json["fileName"])
        assert api.delete(f"/api/v1/quarantine/{item['id']}", by=admin).status_code == 200
        assert api.get(place, by=alice).status_code == 404

    def test_pictures_and_their_variants_are_held_while_the_scanner_is_away(
        self, api: Api, alice: Person
    ) -> None:
        WordScanner.is_available = False
        answer = self.send(api, "/avatars", picture((200, 200)), alice)
        place = f"/api/v1/files/{answer.json['fileName']}"
        for query in ("", "?width=48"):
            assert error_code(api.get(place + query, by=alice)) == "error.not-scanned-yet"
        WordScanner.is_available = True
        api.clock.advance(7000)
        assert run_due(api) == 1
        for query in ("", "?width=48"):
            assert api.get(place + query, by=alice).status_code == 200


class TestBundles:
    """Archives of several files."""

    def bundle(self, api: Api, tenant: str, by: Person, *nodes: Json) -> Answer:
        body = {"fileIds": [node["id"] for node in nodes]}
        return api.post(f"{tenant}/multi-files-download", body, by=by)

    def test_a_pending_file_refuses_the_bundle(self, api: Api, alice: Person, tenant: str) -> None:
        folder = api.folder(tenant, alice, "folder")
        good = api.upload(tenant, alice, "good", b"content", folder["id"])
        made = self.bundle(api, tenant, alice, folder)
        again = made.headers["Content-Location"]
        pending = api.upload(tenant, alice, "pending", BIG, folder["id"])
        for nodes in ([pending], [folder], [good, pending]):
            answer = self.bundle(api, tenant, alice, *nodes)
            assert error_code(answer) == "error.not-scanned-yet"
            assert answer.headers["Retry-After"] == "5"
        assert error_code(api.get(again, by=alice)) == "error.not-scanned-yet"
        run_due(api)
        assert BIG in api.get(again, by=alice).data

    def test_folders_leave_out_files_in_quarantine(self, api: Api, alice: Person, tenant: str) -> None:
        folder = api.folder(tenant, alice, "folder")
        api.upload(tenant, alice, "good", b"content", folder["id"])
        bad = api.upload(tenant, alice, "bad", BIG_VIRUS, folder["id"])
        run_due(api)
        answer = self.bundle(api, tenant, alice, folder)
        assert answer.status_code == 200
        assert b"content" in answer.data
        assert b"bad" not in answer.data
        assert error_code(self.bundle(api, tenant, alice, bad)) == "error.quarantined"


class TestQuarantine:
    """Files that no user can read."""

    @pytest.fixture
    def bad(self, api: Api, alice: Person, tenant: str) -> Json:
        node = api.upload(tenant, alice, "bad", BIG_VIRUS)
        run_due(api)
        return node

    @pytest.fixture
    def admin(self, api: Api) -> Person:
        return api.person(admin=True)

    def item(self, api: Api, admin: Person) -> Json:
        (item,) = api.get("/api/v1/quarantine", by=admin).json["data"]
        found: Json = item
        return found

    def test_it_lists_the_finding(
        self, api: Api, alice: Person, tenant: str, bad: Json, admin: Person
    ) -> None:
        item = self.item(api, admin)
        assert item | {"id": "", "scannedAt": ""} == {
            "id": "",
            "kind": "file",
            "fileId": bad["id"],
            "tenantId": tenant.rpartition("/")[2],
            "name": "bad",
            "owner": {"$ref": alice.id},
            "size": len(BIG_VIRUS),
            "contentType": bad["contentType"],
            "scan": "infected",
            "reason": "Test-Virus",
            "scanner": "words",
            "engine": "Words 1.0",
            "databaseVersion": "1",
            "scannedAt": "",
        }

    def test_only_administrators_of_the_server_see_it(
        self, api: Api, alice: Person, bad: Json, admin: Person
    ) -> None:
        path = f"/api/v1/quarantine/{self.item(api, admin)['id']}"
        assert api.get("/api/v1/quarantine", by=alice).status_code == 403
        assert api.delete(path, by=alice).status_code == 403
        assert api.post(f"{path}/release", {"reason": "mine"}, by=alice).status_code == 403
        assert api.get("/api/v1/quarantine").status_code == 401

    def test_a_release_needs_a_reason_and_a_fresh_proof(
        self, api: Api, alice: Person, tenant: str, bad: Json, admin: Person
    ) -> None:
        path = f"/api/v1/quarantine/{self.item(api, admin)['id']}/release"
        assert api.post(path, {}, by=admin).status_code == 400
        assert api.post(path, {"reason": ""}, by=admin).status_code == 400
        api.clock.advance(11 * MINUTE)
        answer = api.post(path, {"reason": "checked"}, by=admin)
        assert (answer.status_code, error_code(answer)) == (403, "error.fresh-proof-required")
        assert error_code(download(api, tenant, alice, bad)) == "error.quarantined"
        headers = {"X-Current-Password": "Correct1Horse"}
        answer = api.post(path, {"reason": "false positive, ticket 7"}, by=admin, headers=headers)
        assert answer.status_code == 200, answer.text
        assert download(api, tenant, alice, bad).data == BIG_VIRUS
        assert state(api, tenant, alice, bad) == "clean"
        (event,) = audited(api, "quarantine.release")
        assert event["details"]["reason"] == "false positive, ticket 7"
        assert api.post(path, {"reason": "again"}, by=admin, headers=headers).status_code == 404
        # A repeated scan would put it back.
        assert api.container.get(Rescans).plan_older("2") == 0

    def test_a_deletion_frees_the_quota(
        self, api: Api, alice: Person, tenant: str, bad: Json, admin: Person
    ) -> None:
        path = f"/api/v1/quarantine/{self.item(api, admin)['id']}"
        assert api.delete(path, by=admin).status_code == 200
        assert files(api, tenant, alice) == {}
        assert api.get(f"{tenant}/usage", by=alice).json["usedBytes"] == 0
        assert api.stored_objects() <= 1
        assert rows(api) == 0
        (event,) = audited(api, "quarantine.delete")
        assert event["target"]["id"] == bad["id"]
        assert api.delete(path, by=admin).status_code == 404

    def test_replaced_content_leaves_it(
        self, api: Api, alice: Person, tenant: str, bad: Json, admin: Person
    ) -> None:
        api.send(tenant, alice, "bad", b"content", query="?onConflict=replace")
        assert download(api, tenant, alice, bad).data == b"content"
        assert api.get("/api/v1/quarantine", by=admin).json["data"] == []


class TestRescans:
    """Files that were scanned before, or never."""

    def test_a_newer_database_finds_what_an_older_one_passed(
        self, api: Api, alice: Person, tenant: str
    ) -> None:
        small, big = (
            api.upload(tenant, alice, name, content)
            for name, content in (("a", b"new threat"), ("b", BIG))
        )
        run_due(api)
        WordScanner.words, WordScanner.database = {b"new threat"}, "10"
        rescans = api.container.get(Rescans)
        assert rescans.plan_older("1") == 0
        assert rescans.plan_older("10") == 2
        # Readable as before until the new result.
        assert download(api, tenant, alice, small).status_code == 200
        assert run_due(api) == 2
        assert (state(api, tenant, alice, small), state(api, tenant, alice, big)) == (
            "infected",
            "clean",
        )
        # 9 is older than 10.
        assert rescans.plan_older("9") == 0

    def test_files_from_before_the_scanner_can_be_read_and_scanned(
        self, tmp_path: Path, database_url: str, clock: ManualClock
    ) -> None:
        with Api.running(write_api_config(tmp_path, database_url), clock) as api:
            alice = api.person()
            tenant = api.tenant(alice)
            api.folder(tenant, alice, "folder")
            nodes = [
                api.upload(tenant, alice, name, content)
                for name, content in (("a", VIRUS), ("b", b"ok"))
            ]
            assert [node["scan"] for node in nodes] == ["skipped", "skipped"]
            headers = {"Content-Disposition": 'attachment; filename="a"'}
            api.request("POST", "/api/v1/files", by=alice, headers=headers, data=b"%PDF-" + VIRUS)
        with Api.running(write_api_config(tmp_path, database_url, SCANNING), clock) as api:
            assert download(api, tenant, alice, nodes[0]).data == VIRUS
            rescans = api.container.get(Rescans)
            assert (rescans.plan_unscanned(), rescans.due()[0]) == (3, 3)
            # A second command plans nothing twice.
            rescans.plan_unscanned()
            assert rescans.due()[0] == 3
            assert download(api, tenant, alice, nodes[0]).data == VIRUS
            assert run_due(api) == 3
            assert [state(api, tenant, alice, node) for node in nodes] == ["infected", "clean"]
            assert rescans.plan_unscanned() == 0


class TestSeveralNodes:
    """Workers of several processes."""

    @pytest.fixture
    def other(self, api: Api, config: Path, clock: ManualClock) -> Iterator[Api]:
        with Api.running(config, clock) as other:
            yield other

    def test_each_file_is_scanned_once(self, api: Api, other: Api, alice: Person, tenant: str) -> None:
        for number in range(10):
            api.upload(tenant, alice, f"{number}", BIG)
        workers = [node.container.get(ScanWorker) for node in (api, other)]
        while workers[0].run_one() + workers[1].run_one():
            pass
        assert sorted(WordScanner.scanned) == [str(number) for number in range(10)]

    def test_the_scan_of_a_killed_worker_is_repeated(
        self, api: Api, other: Api, alice: Person, tenant: str
    ) -> None:
        node = api.upload(tenant, alice, "a", BIG)
        repository = api.container.get(ScanWorker)._repository
        with api.container.database.write() as connection:
            claimed = repository.claim(connection)
        assert claimed is not None
        assert run_due(other) == 0
        api.clock.advance(LEASE - 1)
        assert run_due(other) == 0
        api.clock.advance(1)
        assert run_due(other) == 1
        assert state(api, tenant, alice, node) == "clean"

    def test_a_worker_that_stalled_does_not_overwrite_a_later_result(
        self, api: Api, other: Api, alice: Person, tenant: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        node, scan = api.upload(tenant, alice, "a", BIG_VIRUS), WordScanner.scan

        def find_nothing(scanner: WordScanner, *arguments: Any, **options: Any) -> Any:
            WordScanner.words = set()
            return scan(scanner, *arguments, **options)

        stall_once(api, other, monkeypatch, find_nothing)
        assert run_due(api) == 1
        assert state(api, tenant, alice, node) == "infected"

    @pytest.mark.config(SCANNING, {"scanning": {"on_unavailable": "allow-marked"}})
    def test_a_worker_that_stalled_without_a_scanner_does_not_hide_a_later_result(
        self, api: Api, other: Api, alice: Person, tenant: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        node = api.upload(tenant, alice, "a", BIG_VIRUS)

        def be_away(*_: Any, **__: Any) -> Any:
            raise ScannerUnavailable("away", retry_after=7)

        stall_once(api, other, monkeypatch, be_away)
        assert run_due(api) == 1
        assert state(api, tenant, alice, node) == "infected"

    def test_a_long_scan_renews_its_claim(
        self, api: Api, other: Api, alice: Person, tenant: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        node = api.upload(tenant, alice, "a", BIG)
        scan = WordScanner.scan

        def take_long(scanner: WordScanner, stream: Any, **options: Any) -> Any:
            monkeypatch.setattr(WordScanner, "scan", scan)
            content = b""
            while piece := stream.read(1000):
                content += piece
                api.clock.advance(LEASE // 2)
                assert run_due(other) == 0
            return scan(scanner, io.BytesIO(content), **options)

        monkeypatch.setattr(WordScanner, "scan", take_long)
        assert run_due(api) == 1
        assert state(api, tenant, alice, node) == "clean"

    def test_content_that_was_replaced_meanwhile_keeps_its_own_state(
        self, api: Api, alice: Person, tenant: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        node = api.upload(tenant, alice, "a", BIG_VIRUS)
        scan = WordScanner.scan

        def replace(scanner: WordScanner, *arguments: Any, **options: Any) -> Any:
            monkeypatch.setattr(WordScanner, "scan", scan)
            path = f"{tenant}/files/{node['id']}/content"
            assert api.request("PUT", path, by=alice, data=b"content").status_code == 200
            return scan(scanner, *arguments, **options)

        monkeypatch.setattr(WordScanner, "scan", replace)
        run_due(api)
        assert state(api, tenant, alice, node) == "clean"
        (version,) = api.get(f"{tenant}/files/{node['id']}/versions", by=alice).json["data"]
        assert version["scan"] == "infected"

    def test_a_file_that_was_deleted_is_not_scanned(self, api: Api, alice: Person, tenant: str) -> None:
        node = api.upload(tenant, alice, "a", BIG)
        api.delete(f"{tenant}/files/{node['id']}?permanently=true", by=alice)
        run_due(api)
        assert (WordScanner.scanned, rows(api)) == ([], 0)

    def test_a_file_in_the_trash_is_scanned(self, api: Api, alice: Person, tenant: str) -> None:
        node = api.upload(tenant, alice, "a", BIG_VIRUS)
        api.delete(f"{tenant}/files/{node['id']}", by=alice)
        assert run_due(api) == 1
        restored = api.post(f"{tenant}/trash/{node['id']}/restore", {}, by=alice)
        assert restored.json["scan"] == "infected"
        assert error_code(download(api, tenant, alice, node)) == "error.quarantined"

    def test_quarantine_removes_a_file_from_the_trash(
        self, api: Api, alice: Person, tenant: str
    ) -> None:
        folder = api.folder(tenant, alice, "folder")["id"]
        api.upload(tenant, alice, "a", BIG_VIRUS, folder)
        assert run_due(api) == 1
        api.delete(f"{tenant}/files/{folder}", by=alice)
        admin = api.person(admin=True)
        (found,) = api.get("/api/v1/quarantine", by=admin).json["data"]
        assert api.delete(f"/api/v1/quarantine/{found['id']}", by=admin).status_code == 200
        usage = api.get(f"{tenant}/usage", by=alice).json
        assert (usage["usedBytes"], usage["trashBytes"]) == (0, 0)
        (entry,) = api.get(f"{tenant}/trash", by=alice).json["data"]
        assert (entry["id"], entry["size"]) == (folder, 0)
