"""Plans scans of content that is stored already: never scanned, or scanned with an older database."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from strongroom.content.scanning.owners import ContentOwner, ContentOwners
from strongroom.content.scanning.repository import ScanRepository
from strongroom.foundation.database import Database

_BATCH: Final = 500
_PART: Final = re.compile(r"(\d+)")


@dataclass(slots=True, eq=False, repr=False)
class Rescans:
    """Plans scans; the workers of running servers, or of the command line, run them."""

    _database: Database
    _repository: ScanRepository
    _owners: ContentOwners

    def plan_unscanned(self, progress: Callable[[int], object] = lambda _: None) -> int:
        """Plan scans of all files that were never scanned; return their number.

        The files can be read as before until a scan refuses them. ``progress`` is called with the size
        of each batch.
        """
        return sum(self._plan(owner, progress) for owner in self._owners)

    def plan_older(self, database_version: str) -> int:
        """Plan scans of the files whose last scan used an older database; return their number.

        Versions are compared by their numbers, so that 9 is older than 10.
        """
        with self._database.write() as connection:
            known = self._repository.versions(connection)
            older = [version for version in known if _order(version) < _order(database_version)]
            return self._repository.repeat(connection, older) if older else 0

    def due(self) -> tuple[int, int | None]:
        """Return how many scans are planned, and when the oldest of their contents was received."""
        with self._database.read() as connection:
            return self._repository.due(connection)

    def _plan(self, owner: ContentOwner, progress: Callable[[int], object]) -> int:
        count, after = 0, ""
        while True:
            with self._database.write() as connection:
                unscanned = owner.unscanned(connection, after, _BATCH)
                for _, blob_key in unscanned:
                    self._repository.add(connection, blob_key)
            if not unscanned:
                return count
            after = unscanned[-1][0]
            count += len(unscanned)
            progress(len(unscanned))


def _order(version: str) -> list[tuple[int, int | str]]:
    """Return a sort key by which numbers in a version are compared as numbers, and precede words."""
    parts = (part for part in _PART.split(version) if part)
    return [(0, int(part)) if part.isdigit() else (1, part) for part in parts]
