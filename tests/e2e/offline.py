"""The services of a configuration in this process, while its server is stopped or killed."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import select

from strongroom.assembly.container import Container, build
from strongroom.content.storage.blob_removal import ABANDONED_AFTER
from strongroom.content.storage.models import BlobState, blobs
from strongroom.content.storage.service import BlobService
from strongroom.foundation.config import load
from strongroom.testing.clock import MINUTE, ManualClock
from tests.support.stores import stored_files


@contextmanager
def services(config: Path, later: int = 0) -> Iterator[Container]:
    """The services of a process, some milliseconds later than now."""
    clock = ManualClock(int(time.time() * 1000) + later)
    container = build(load(config, {}), clock)
    try:
        yield container
    finally:
        container.close()


def collect_abandoned(config: Path) -> int:
    """Collect abandoned blobs, as if a day later, and return how many there were."""
    with services(config, ABANDONED_AFTER + MINUTE) as container:
        return container.get(BlobService).collect()


def number_of_incomplete(config: Path) -> int:
    """Return how many objects are being written, or were when a server died."""
    return len(list((config.parent / "files").rglob(".[0-9a-f]*")))


def files_below(root: Path) -> set[str]:
    return {path.relative_to(root).as_posix() for path in stored_files(root)}


def stored_keys(config: Path) -> set[str]:
    """Return the keys of all blobs, which must all be stored."""
    with services(config) as container, container.database.read() as connection:
        rows = connection.execute(select(blobs.c.key, blobs.c.state)).all()
    assert {row.state for row in rows} == {BlobState.STORED.value}
    return {row.key for row in rows}
