"""What a storage was found to hold, kept on disk while it is compared: memory does not grow with it."""

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Final

from strongroom.plugin_api.storage import ObjectStat

_BATCH: Final = 1000


class ObjectIndex:
    """The objects of one storage, in a temporary file that vanishes when it is closed."""

    def __init__(self) -> None:
        self._rows = sqlite3.connect("")
        self._rows.execute(
            "CREATE TABLE objects (key TEXT PRIMARY KEY, size INTEGER, modified_at INTEGER) "
            "WITHOUT ROWID"
        )

    def add(self, objects: Iterable[ObjectStat], progress: Callable[[int], None]) -> None:
        """Take down objects; ``progress`` is told how many, time and again."""
        remaining = iter(objects)
        while batch := [(item.key, item.size, item.modified_at) for item in islice(remaining, _BATCH)]:
            # A listing of a store that changes meanwhile may give an object twice.
            self._rows.executemany("INSERT OR REPLACE INTO objects VALUES (?, ?, ?)", batch)
            progress(len(batch))

    def take(self, keys: Sequence[str]) -> dict[str, ObjectStat]:
        """Remove those of the keys that were found, and return what was found."""
        marks = ", ".join("?" * len(keys))
        taken = self._rows.execute(
            f"DELETE FROM objects WHERE key IN ({marks}) RETURNING key, size, modified_at",  # noqa: S608  marks
            keys,
        )
        return {row[0]: ObjectStat(*row) for row in taken}

    def rest(self) -> Iterator[ObjectStat]:
        """Iterate over what was not taken."""
        for row in self._rows.execute("SELECT key, size, modified_at FROM objects ORDER BY key"):
            yield ObjectStat(*row)

    def __len__(self) -> int:
        count: int = self._rows.execute("SELECT count(*) FROM objects").fetchone()[0]
        return count

    def close(self) -> None:
        """Remove the file."""
        self._rows.close()
