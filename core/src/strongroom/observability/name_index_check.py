"""The doctor's check of the index of names."""

from collections.abc import Iterator

from strongroom.files.reindexing import NameReindexing
from strongroom.observability.doctor import CheckResult, ok, warning


class NameIndexCheck:
    """Compares the number of indexed names with the number of files and folders."""

    def __init__(self, reindexing: NameReindexing) -> None:
        self._reindexing = reindexing

    def __call__(self) -> Iterator[CheckResult]:
        """Yield one finding."""
        _, missing = self._reindexing.count()
        if missing:
            # Servers of the version before create nodes without it while an upgrade is rolled out.
            yield warning(
                "search", f"does not find {missing} files and folders", "run: strongroom files reindex"
            )
        else:
            yield ok("search", "the index has the names of all files and folders")
