"""Verdicts of content scanners in the middle of requests, and the reverse, end as if in order."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select
from tests.support.api import Api, Json
from tests.support.config import lifted
from tests.support.databases import on_postgresql
from tests.support.features import needs
from tests.support.interleaved_requests import Pair, Stage, ended, search
from tests.support.interleaving import Action
from tests.support.scanners import SCANNING, VIRUS, install_word_scanner

from strongroom.content.nodes.models import node_versions, nodes
from strongroom.content.scanning.feature import ScanningFeature
from strongroom.content.scanning.worker import ScanWorker
from strongroom.foundation.database.upgrade import upgrade
from strongroom_share_links.plugin import register_tables

# Larger than files that are scanned during the upload.
CLEAN = b"x" * 1001
INFECTED = CLEAN + VIRUS
_POSTPONED = 6_000
"""Milliseconds after which a postponed scan is due."""


pytestmark = [
    on_postgresql,
    pytest.mark.extended,
    pytest.mark.config(
        lifted(), SCANNING, {"plugins": {"enabled": ["storage_local", "scan_words", "share_links"]}}
    ),
    needs(ScanningFeature),
]


@pytest.fixture
def stage(api: Api, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> "ScanStage":
    upgrade(api.container.database.engine, {"share_links": register_tables()})
    return ScanStage(api)


@pytest.fixture(autouse=True)
def words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install_word_scanner(tmp_path / "plugins", monkeypatch)


class ScanStage(Stage):
    """A scene with files that wait for their scan."""

    def __init__(self, api: Api) -> None:
        super().__init__(api)
        self.target = self.folder("target")

    def pending(self, content: bytes) -> Json:
        """Upload a file that is scanned later."""
        node = self.api.upload(self.path, self.admin, self.name(), content)
        assert node["scan"] == "pending"
        return node

    def replace(self, node: Json) -> Action:
        return self.request("PUT", f"{self.path}/files/{node['id']}/content", data=CLEAN + b"new")

    def scan(self) -> None:
        """Scan what is due, and what another worker has postponed."""
        self.api.container.get(ScanWorker).run_due()

    def contents(self) -> tuple[Any, ...]:
        """Finish all scans, and return the states of all contents; the next run has none of them."""
        self.scan()
        if "pending" in (state for _, state, _ in self._states()):
            # Only then, because logins grow old: some operations need a recent one.
            self.api.clock.advance(_POSTPONED)
            self.scan()
        found = self._states()
        assert "pending" not in (state for _, state, _ in found), found
        with self.api.container.database.write() as connection:
            connection.execute(nodes.delete().where(nodes.c.blob_key.is_not(None)))
        return tuple(sorted(found))

    def _states(self) -> list[tuple[str, str, int]]:
        found: list[tuple[str, str, int]] = []
        with self.api.container.database.read() as connection:
            for table in (nodes, node_versions):
                states = select(table.c.scan, table.c.size).where(table.c.blob_key.is_not(None))
                found += [(table.name, row.scan, row.size) for row in connection.execute(states)]
        return found


def move(stage: ScanStage, node: Json) -> Action:
    return stage.change(node, parentId=stage.target["id"], name=stage.name())


def trash(stage: ScanStage, node: Json) -> Action:
    return stage.delete(node)


def remove_from_the_trash(stage: ScanStage, node: Json) -> Action:
    assert stage.delete(node)() == 200
    return stage.request("DELETE", f"{stage.path}/trash/{node['id']}")


def restore(stage: ScanStage, node: Json) -> Action:
    assert stage.delete(node)() == 200
    return stage.restore(node)


def replace(stage: ScanStage, node: Json) -> Action:
    return stage.replace(node)


def restore_a_version(stage: ScanStage, node: Json) -> Action:
    assert stage.replace(node)() == 200
    return stage.request("POST", f"{stage.path}/files/{node['id']}/versions/1/restore")


def copy(stage: ScanStage, node: Json) -> Action:
    body = {"parentId": stage.target["id"], "name": stage.name()}
    return stage.request("POST", f"{stage.path}/files/{node['id']}/copies", json=body)


def trash_in_a_batch(stage: ScanStage, node: Json) -> Action:
    items = [{"operation": "trash", "fileId": node["id"]}]
    return stage.request("POST", f"{stage.path}/files-batches", json={"atomic": True, "items": items})


def download(stage: ScanStage, node: Json) -> Action:
    return stage.request("GET", f"{stage.path}/files/{node['id']}/download")


def download_by_a_share(stage: ScanStage, node: Json) -> Action:
    share = stage.api.post(f"{stage.path}/files/{node['id']}/shares", {"kind": "read"}, by=stage.admin)
    assert share.status_code == 201, share.text
    secret = share.json["url"].rpartition("/")[2]
    return lambda: ended(stage.api.get(f"/api/v1/shares/{secret}/files/{node['id']}/download"))


OPERATIONS: list[Callable[[ScanStage, Json], Action]] = [
    move,
    trash,
    remove_from_the_trash,
    restore,
    replace,
    restore_a_version,
    copy,
    trash_in_a_batch,
    download,
    download_by_a_share,
]


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.__name__)
def test_a_verdict_and_an_operation(
    stage: ScanStage, operation: Callable[[ScanStage, Json], Action]
) -> None:
    def within(_: Stage) -> Pair:
        node = stage.pending(INFECTED)
        return stage.scan, operation(stage, node)

    search(stage, within, stage.contents)
    search(stage, lambda stage: within(stage)[::-1], stage.contents)


@pytest.mark.parametrize("operation", ["replace", "release"])
def test_an_infected_file_is_deleted_only_while_it_is_in_quarantine(
    stage: ScanStage, operation: str
) -> None:
    def prepare(_: Stage) -> Pair:
        node = stage.pending(INFECTED)
        stage.scan()
        (found,) = stage.api.get("/api/v1/quarantine", by=stage.root).json["data"]
        path = f"/api/v1/quarantine/{found['id']}"
        release = stage.request("POST", f"{path}/release", stage.root, json={"reason": "harmless"})
        other = stage.replace(node) if operation == "replace" else release
        return stage.request("DELETE", path, stage.root), other

    search(stage, prepare, stage.contents)
