"""Migration of files from a folder to S3 and then to OSS, without a failed request."""

import logging
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import pytest
from sqlalchemy import func, select

from strongroom.content.storage.blob_removal import ABANDONED_AFTER
from strongroom.content.storage.models import BlobState, blobs
from strongroom.content.storage.service import BlobService
from strongroom.content.storage.stores import Inventory
from strongroom.foundation.database import Database
from tests.e2e.offline import services
from tests.support.campaign import campaign_size
from tests.support.client import Client
from tests.support.commands import run_command
from tests.support.config import change_config
from tests.support.server import STRONGROOM, Server, serving, write_config
from tests.support.stores import oss_store, s3_store

pytestmark = pytest.mark.extended

logger = logging.getLogger(__name__)

FILES = campaign_size("MIGRATED_FILES", 100)
UPLOADERS, DOWNLOADERS = 2, 4
PAUSE = 0.02
PATIENCE = 1200
LONG_TOKENS = {"tokens": {"lifetime_seconds": 36000}}


def content_of(name: str) -> bytes:
    """Return bytes that are known by the name of their file."""
    source = Random(name)
    return source.randbytes(source.randrange(16, 8192))


@dataclass
class Load:
    """Clients that upload and download until stopped."""

    client: Client
    tenant: str
    known: dict[str, str] = field(default_factory=dict)
    requests: int = 0
    failures: list[str] = field(default_factory=list)
    _ended: threading.Event = field(default_factory=threading.Event)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def fill(self, files: int) -> None:
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(self.upload, (f"file-{number}.bin" for number in range(files))))

    @contextmanager
    def running(self) -> Iterator[None]:
        with ThreadPoolExecutor(UPLOADERS + DOWNLOADERS) as pool:
            people = [pool.submit(self._upload_on, number) for number in range(UPLOADERS)]
            people += [pool.submit(self._download_on, number) for number in range(DOWNLOADERS)]
            try:
                yield
            finally:
                self._ended.set()
        for person in people:
            person.result()
        self._ended.clear()

    def check_all(self) -> None:
        with ThreadPoolExecutor(DOWNLOADERS) as pool:
            list(pool.map(self.download, self.known))

    def upload(self, name: str) -> None:
        content = content_of(name)
        response = self.client.send(self.tenant, name, content, len(content))
        self._note(response.status == 201, f"upload {name}: {response}")
        with self._lock:
            self.known[response.json()["id"]] = name

    def download(self, file_id: str) -> None:
        response = self.client.request("GET", f"{self.tenant}/files/{file_id}/download")
        is_right = response.content == content_of(self.known[file_id])
        self._note(response.status == 200 and is_right, f"download {file_id}: {response.status}")

    def _upload_on(self, person: int) -> None:
        number = 0
        while not self._ended.wait(PAUSE):
            self.upload(f"new-{person}-{number}-{id(self)}-{time.monotonic_ns()}.bin")
            number += 1

    def _download_on(self, person: int) -> None:
        choice = Random(person)
        while not self._ended.wait(PAUSE):
            with self._lock:
                file_ids = list(self.known)
            self.download(choice.choice(file_ids))

    def _note(self, is_good: bool, what: str) -> None:
        with self._lock:
            self.requests += 1
            if not is_good:
                self.failures.append(what)


@dataclass
class Deployment:
    """A configuration, and how its files are moved."""

    config: Path
    database: Database

    def migrate(self, source: str, target: str) -> str:
        result = run_command(*self._command(source, target), timeout=PATIENCE)
        assert result.returncode == 0, result.stderr
        return result.stdout

    def migrate_until_killed(self, source: str, target: str, moved: int) -> None:
        """Run a migration and kill it once the target holds so many files more."""
        goal = self.files(target) + moved
        with subprocess.Popen(
            [STRONGROOM, *self._command(source, target)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        ) as process:
            while self.files(target) < goal:
                assert process.poll() is None, "the migration ended before it could be killed"
                threading.Event().wait(PAUSE)
            process.send_signal(signal.SIGKILL)

    def files(self, storage: str) -> int:
        stored = (blobs.c.storage == storage, blobs.c.state == BlobState.STORED.value)
        with self.database.read() as connection:
            count: int = connection.execute(select(func.count()).where(*stored)).scalar_one()
        return count

    def _command(self, source: str, target: str) -> tuple[str, ...]:
        return ("--config", str(self.config), "storage", "migrate", source, target, "--grace", "5")


@pytest.fixture
def deployment(tmp_path: Path, database_url: str) -> Iterator[Deployment]:
    with ExitStack() as stack:
        s3, oss = stack.enter_context(s3_store()), stack.enter_context(oss_store())
        storages = {
            "plugins": {"enabled": ["storage_local", "storage_s3", "storage_oss"]},
            "storages": {"cloud": s3.options(), "far": oss.options()},
        }
        config = write_config(tmp_path, database_url, LONG_TOKENS, storages)
        database = Database(database_url)
        stack.callback(database.close)
        yield Deployment(config, database)


def log_in(server: Server) -> Client:
    server.create_user("alice@example.com")
    return Client.logged_in(server.url, "alice@example.com")


def test_no_request_fails_while_files_move_twice_and_each_move_is_killed(
    deployment: Deployment,
) -> None:
    with serving(deployment.config) as server:
        client = log_in(server)
        load = Load(client, client.make_tenant("Acme"))
        load.fill(FILES)
    # From now on new files go where all are to end.
    change_config(deployment.config, {"files": {"storage": "far"}})
    started = time.monotonic()
    with serving(deployment.config), load.running():
        for source, target in (("main", "cloud"), ("cloud", "far")):
            deployment.migrate_until_killed(source, target, FILES // 3)
            assert "files moved" in deployment.migrate(source, target)
    seconds = time.monotonic() - started
    logger.info("%d files, %d requests, %.0f s", FILES, load.requests, seconds)
    assert load.failures == []
    with services(deployment.config, 2 * ABANDONED_AFTER) as container:
        container.get(BlobService).collect()
        holdings = container.get(Inventory).holdings()
        objects = {
            name: len(list(store.scan())) for name, store in container.get(BlobService).storages.items()
        }
    assert {holding.storage: (holding.files, holding.leftovers) for holding in holdings} == {
        "main": (0, 0),
        "cloud": (0, 0),
        "far": (len(load.known), 0),
    }
    assert objects == {"main": 0, "cloud": 0, "far": len(load.known)}
    with serving(deployment.config):
        load.check_all()
    assert load.failures == []
