"""Faults between the server and its store: a response in time, and no objects left behind."""

import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pytest
from sqlalchemy import select
from tests.support.api import Answer, Api, Person
from tests.support.config import Table, main_storage, write_api_config
from tests.support.databases import SqliteDatabases
from tests.support.faults import Fault, FaultProxy
from tests.support.stores import oss_store, s3_store
from tests.support.waiting import SLACK_SECONDS

from strongroom.content.storage.blob_removal import ABANDONED_AFTER, BlobRemoval
from strongroom.content.storage.models import BlobState, blobs, new_key
from strongroom.content.storage.service import BlobService
from strongroom.content.storage.stores import FAILURES_TO_OPEN, OPEN_MILLISECONDS, Store
from strongroom.plugin_api.storage import ServerSideCopy, StorageUnavailable
from strongroom.testing.clock import ManualClock

TIMEOUT = 2
ATTEMPTS = 10
SMALL, IN_PARTS = 3000, {"s3": 6 * 1024 * 1024, "oss": 300 * 1024}
LIMITS: dict[str, Table] = {
    "s3": {
        "connect_timeout": TIMEOUT,
        "read_timeout": TIMEOUT,
        "max_attempts": 2,
        "part_bytes": 5_242_880,
    },
    "oss": {
        "connect_timeout": TIMEOUT,
        "timeout": TIMEOUT,
        "retries": 1,
        "addressing": "path",
        "part_size": 102_400,
    },
}
STORES = {"s3": s3_store, "oss": oss_store}


@dataclass
class Deployment:
    """A server, a store, and the proxy between them."""

    kind: str
    api: Api
    proxy: FaultProxy
    alice: Person
    tenant: str
    files: int = 0

    @property
    def store(self) -> Store:
        return self.api.container.get(BlobService).storages["main"]

    def send(self, size: int) -> Answer:
        self.files += 1
        return self.api.send(self.tenant, self.alice, f"file-{self.files}", b"x" * size)

    def stored(self) -> str:
        """Store a file while all is well, and return its path."""
        answer = self.send(SMALL)
        for _ in range(ATTEMPTS):
            if answer.status_code != 503:
                break
            # A busy machine has exceeded the time-out; the store may be called again after a pause.
            self.api.clock.advance(OPEN_MILLISECONDS)
            answer = self.send(SMALL)
        assert answer.status_code == 201
        return f"{self.tenant}/files/{answer.json['id']}"

    def get(self, path: str, **headers: str) -> Answer:
        return self.api.get(f"{path}/download", by=self.alice, headers=headers)

    def assert_consistent(self) -> None:
        """Check that after a collection, two days on, rows and objects are the same."""
        self.proxy.fault = Fault.NONE
        self.store.delete(new_key())
        container = self.api.container
        later = ManualClock(self.api.clock.now() + 2 * ABANDONED_AFTER)
        services = container.get(BlobService)
        # The process must not use rows that it has reserved and another one collects as abandoned.
        services.close()
        BlobRemoval(container.database, later, services.storages, services.leases).collect()
        with container.database.read() as connection:
            rows = connection.execute(select(blobs.c.object_key, blobs.c.state)).all()
        assert {row.state for row in rows} <= {BlobState.STORED}
        assert {row.object_key for row in rows} == {stat.key for stat in self.store.scan()}


@pytest.fixture(scope="module", params=["s3", "oss"])
def deployment(
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
    sqlite_databases: SqliteDatabases,
) -> Iterator[Deployment]:
    folder: Path = tmp_path_factory.mktemp(f"faults-{request.param}")
    with ExitStack() as stack:
        url = stack.enter_context(sqlite_databases.create())
        store = stack.enter_context(STORES[request.param]())
        proxy = stack.enter_context(FaultProxy(store.endpoint).running())
        storage = store.options(proxy.endpoint) | LIMITS[request.param]
        config = write_api_config(folder, url, *main_storage(storage))
        api = stack.enter_context(Api.running(config))
        alice = api.person()
        yield Deployment(request.param, api, proxy, alice, api.tenant(alice))


@pytest.fixture(params=[fault for fault in Fault if fault is not Fault.NONE])
def fault(request: pytest.FixtureRequest, deployment: Deployment) -> Iterator[Fault]:
    yield request.param
    deployment.proxy.fault = Fault.NONE


@contextmanager
def in_time() -> Iterator[None]:
    """Require that the block ends soon after the time-out; without it, it would last for minutes."""
    started = time.monotonic()
    yield
    assert time.monotonic() - started < TIMEOUT + SLACK_SECONDS


def assert_away(answer: Answer) -> None:
    assert answer.status_code == 503
    assert answer.json["error"]["code"] == "error.unavailable"
    assert int(answer.headers["Retry-After"]) >= 1


@pytest.mark.parametrize("in_parts", [False, True], ids=["one request", "parts"])
def test_an_upload(deployment: Deployment, fault: Fault, in_parts: bool) -> None:
    deployment.stored()
    deployment.proxy.fault = fault
    with in_time():
        answer = deployment.send(IN_PARTS[deployment.kind] if in_parts else SMALL)
    # A store may compute its own tags; the request had a digest.
    if fault is Fault.WRONG_ETAG and not in_parts:
        assert answer.status_code == 201
    elif fault is Fault.WRONG_ETAG:
        assert answer.status_code in (201, 500)
    else:
        assert_away(answer)
    deployment.assert_consistent()


@pytest.mark.parametrize("range_", ["", "bytes=1000-1999"], ids=["whole", "range"])
def test_a_download(deployment: Deployment, fault: Fault, range_: str) -> None:
    path = deployment.stored()
    deployment.proxy.fault = fault
    headers = {"Range": range_} if range_ else {}
    with in_time():
        answer = deployment.get(path, **headers)
    if fault is Fault.WRONG_ETAG:
        assert (answer.status_code, len(answer.data)) == ((206, 1000) if range_ else (200, SMALL))
    else:
        assert_away(answer)
    deployment.assert_consistent()
    assert deployment.get(path).data == b"x" * SMALL


def test_a_deletion(deployment: Deployment, fault: Fault) -> None:
    path = deployment.stored()
    deployment.proxy.fault = fault
    with in_time():
        answer = deployment.api.delete(path, by=deployment.alice)
    # The file is deleted even if the store fails; its bytes are collected later.
    assert answer.status_code == 200
    deployment.assert_consistent()


@pytest.mark.parametrize("operation", ["stat", "copy"])
def test_operations_without_a_direct_request(
    deployment: Deployment, fault: Fault, operation: str
) -> None:
    store, backend = deployment.store, deployment.store.backend
    assert isinstance(backend, ServerSideCopy)
    deployment.stored()
    key = next(iter(store.scan())).key
    target = new_key()
    deployment.proxy.fault = fault
    outcome = "away"
    with in_time(), suppress(StorageUnavailable):
        if operation == "stat":
            store.stat(key)
        else:
            backend.copy(key, target)
        outcome = "done"
    assert outcome == ("done" if fault is Fault.WRONG_ETAG else "away")
    deployment.proxy.fault = Fault.NONE
    store.delete(target)
    deployment.assert_consistent()


def test_an_unavailable_store_is_called_only_after_a_pause(deployment: Deployment) -> None:
    path = deployment.stored()
    deployment.proxy.fault = Fault.RESET_BEFORE
    for _ in range(FAILURES_TO_OPEN):
        assert_away(deployment.get(path))
    deployment.proxy.fault = Fault.NONE
    answer = deployment.get(path)
    assert_away(answer)
    assert answer.headers["Retry-After"] == str(OPEN_MILLISECONDS // 1000)
    deployment.api.clock.advance(OPEN_MILLISECONDS)
    assert deployment.get(path).status_code == 200
