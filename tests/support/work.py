"""Counted work of the database, which the load of the machine does not change."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from strongroom.assembly.container import Container
from strongroom.foundation.database import sqlite_engines


@contextmanager
def counted_steps(container: Container, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """Count the instructions of SQLite, in tens; those that open a connection included."""
    prepare, steps = sqlite_engines._prepare, [0]

    def count() -> None:
        steps[0] += 1

    def prepare_counted(connection: Any) -> None:
        prepare(connection)
        connection.set_progress_handler(count, 10)

    with monkeypatch.context() as patch:
        patch.setattr(sqlite_engines, "_prepare", prepare_counted)
        # Open connections are replaced.
        container.database.close()
        yield steps
    container.database.close()
