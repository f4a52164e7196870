"""A server dies while files are moved, renamed and deleted: a change is made whole, or not at all."""

import random
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from http.client import HTTPException
from pathlib import Path

import pytest

from tests.e2e.offline import collect_abandoned, files_below, stored_keys
from tests.support.campaign import campaign_size
from tests.support.client import Client, Json
from tests.support.server import Server, serving

CHANGES = campaign_size("CRASH_CHANGES", 40)
WORKERS = 6
PATIENCE = 120

State = tuple[str | None, str] | None
"""The folder and the name of a file; ``None``: it is gone."""


pytestmark = [pytest.mark.config({"tokens": {"lifetime_seconds": 3600}}), pytest.mark.extended]


@dataclass
class File:
    """The state of a file as one worker knows it.

    Args:
        state: the last acknowledged state.
        wanted: the last requested state, which may have been reached or not.
    """

    id: str
    content: bytes
    state: State
    wanted: State

    def may_be(self, state: State) -> bool:
        return state in (self.state, self.wanted)


@dataclass
class Storm:
    """Concurrent changes by several workers, each to its own files, until the server dies."""

    client: Client
    tenant: str
    folders: list[str | None]
    files: list[File] = field(default_factory=list)
    acknowledged: int = 0
    _changed: threading.Condition = field(default_factory=threading.Condition)

    def rage(self, server: Server, *, kill_after: int) -> None:
        """Change files, and kill the server once so many changes are acknowledged."""
        with ThreadPoolExecutor(WORKERS) as pool:
            work = [pool.submit(self._work, number) for number in range(WORKERS)]
            with self._changed:
                reached = self._changed.wait_for(lambda: self.acknowledged >= kill_after, PATIENCE)
            server.kill()
        for one in work:
            one.result()
        assert reached

    def _work(self, worker: int) -> None:
        choose = random.Random(worker)
        number = 0
        while True:
            number += 1
            name, content = f"{worker}-{number}", f"{worker} {number}".encode()
            try:
                made = self.client.send(self.tenant, name, content, len(content))
                assert made.status == 201, made.content
                file = File(made.json()["id"], content, (None, name), (None, name))
                self.files.append(file)
                for change in range(choose.randrange(4)):
                    state = (choose.choice(self.folders), f"{name} {change}")
                    self._move(file, *state)
                if choose.random() < 0.5:
                    self._change(file, None, "DELETE")
            except (OSError, HTTPException):
                return

    def _move(self, file: File, folder: str | None, name: str) -> None:
        self._change(file, (folder, name), "PUT", "/directory", {"parentId": folder, "name": name})

    def _change(
        self, file: File, wanted: State, method: str, path: str = "", body: Json | None = None
    ) -> None:
        file.wanted = wanted
        self.client.expect(200, method, f"{self.tenant}/files/{file.id}{path}", body)
        file.state = wanted
        with self._changed:
            self.acknowledged += 1
            self._changed.notify()


def seen_in(storm: Storm, folder: str | None) -> dict[str, State]:
    """Return the content of a folder from its list, whose length must equal the stored count."""
    top = f"{storm.tenant}/owners/me/files"
    path = top if folder is None else f"{top}/{folder}/files"
    seen: dict[str, State] = {}
    page, total = 1, 1
    while len(seen) < total:
        listing = storm.client.expect(200, "GET", f"{path}?pageSize=200&pageNumber={page}").json()
        assert listing["data"], (len(seen), total)
        seen |= {node["id"]: (node["parentId"], node["name"]) for node in listing["data"]}
        page, total = page + 1, listing["meta"]["totalCount"]
    assert len(seen) == total
    return seen


def assert_each_whole(storm: Storm) -> None:
    """Check each file, the lists and the used space."""
    seen: dict[str, State] = {}
    for folder in storm.folders:
        seen |= seen_in(storm, folder)
    used = 0
    for file in storm.files:
        state = seen.get(file.id)
        assert file.may_be(state), (file, state)
        if state is not None:
            used += len(file.content)
            assert storm.client.download(storm.tenant, file.id) == file.content
    known = {file.id for file in storm.files}
    # Whose upload was not acknowledged is there whole, or not at all.
    for file_id in seen.keys() - known - set(storm.folders):
        used += len(storm.client.download(storm.tenant, file_id))
    assert storm.client.expect(200, "GET", f"{storm.tenant}/usage").json()["liveBytes"] == used


def test_a_crash_amid_moves_and_deletions_leaves_each_file_as_it_was_or_as_wanted(
    server_config: Path,
) -> None:
    with serving(server_config) as server:
        server.create_user("alice@example.com")
        client = Client.logged_in(server.url, "alice@example.com")
        tenant = client.make_tenant("Acme")
        made = [client.expect(201, "POST", f"{tenant}/folders", {"name": name}) for name in "ab"]
        storm = Storm(client, tenant, [None, *(answer.json()["id"] for answer in made)])
        storm.rage(server, kill_after=CHANGES)
    with serving(server_config) as server:
        assert_each_whole(storm)
        server.command("storage", "gc")
        collect_abandoned(server_config)
        assert_each_whole(storm)
        server.command("storage", "fsck")
    assert files_below(server_config.parent / "files") == stored_keys(server_config)
