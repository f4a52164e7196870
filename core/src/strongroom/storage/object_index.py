"""Index of the objects in a storage, stored on disk so that memory use does not grow with it."""

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Final

from strongroom.plugin_api.storage import ObjectStat

_BATCH: Final = 1000


class ObjectIndex:
    """The objects of one storage, in a temporary SQLite file that is deleted when it is closed."""

    def __init__(self) -> None:
        # An empty name makes SQLite create a private temporary database on disk.
        self._rows = sqlite3.connect("")
        self._rows.execute(
            "CREATE TABLE objects (key TEXT PRIMARY KEY, size INTEGER, modified_at INTEGER) "
            "WITHOUT ROWID"
        )

    def add(self, objects: Iterable[ObjectStat], progress: Callable[[int], None]) -> None:
        """Add objects; ``progress`` is called with the size of each inserted batch."""
        remaining = iter(objects)
        while batch := [(item.key, item.size, item.modified_at) for item in islice(remaining, _BATCH)]:
            # A store that changes during the listing may list an object twice.
            self._rows.executemany("INSERT OR REPLACE INTO objects VALUES (?, ?, ?)", batch)
            progress(len(batch))

    def take(self, keys: Sequence[str]) -> dict[str, ObjectStat]:
        """Remove the given keys from the index and return their objects, those that it has."""
        marks = ", ".join("?" * len(keys))
        taken = self._rows.execute(
            f"DELETE FROM objects WHERE key IN ({marks}) RETURNING key, size, modified_at",  # noqa: S608  marks
            keys,
        )
        return {row[0]: ObjectStat(*row) for row in taken}

    def rest(self) -> Iterator[ObjectStat]:
        """Iterate over the objects that were not taken, sorted by key."""
        for row in self._rows.execute("SELECT key, size, modified_at FROM objects ORDER BY key"):
            yield ObjectStat(*row)

    def __len__(self) -> int:
        count: int = self._rows.execute("SELECT count(*) FROM objects").fetchone()[0]
        return count

    def close(self) -> None:
        """Close the index and delete its file."""
        self._rows.close()
