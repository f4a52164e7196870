"""Imports of users of another system, as JSON lines."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any, Final, TypeAlias

import msgspec

from ..api import user_imports
from ..concurrency import in_thread, sleep
from ..models import CreateUserImportOnConflict, UserImport
from .sending import PAGE_SIZE, Sender

Lines: TypeAlias = Path | str | Iterable[Mapping[str, Any]]
"""The path of a file of JSON lines, or users as JSON objects."""

_LINES_OF_PIECE: Final = 200
_ENDED: Final = frozenset({"finished", "cancelled", "revoked"})


class LineError(msgspec.Struct, frozen=True):
    """Why a line was refused."""

    line: int
    """Counted from 1."""
    code: str
    field: str | None
    message: str


class UserImports:
    """Imports users, for a client that is an administrator's.

    Args:
        sender: sends the operations.
    """

    def __init__(self, sender: Sender) -> None:
        self._sender = sender

    def create(
        self,
        users: Lines,
        *,
        dry_run: bool = False,
        on_conflict: CreateUserImportOnConflict = "fail",
        events: bool = False,
    ) -> UserImport:
        """Send users, of any number, to the server, which imports them afterwards; see :meth:`wait`.

        Args:
            users: sent while they are read.
            dry_run: report what would happen, and change nothing.
            on_conflict: what happens to users who exist.
            events: whether each user makes events, also for webhooks.

        Raises:
            ConnectionFailed: the connection broke; nothing was imported.
        """
        operation = user_imports.create_user_import(
            content=_streamed(_pieces(users)), dry_run=dry_run, on_conflict=on_conflict, events=events
        )
        return self._sender.send(operation)

    def wait(
        self,
        import_id: str,
        *,
        progress: Callable[[UserImport], object] | None = None,
        seconds: float = 1.0,
    ) -> UserImport:
        """Wait for the end of an import, and return it with its counts.

        Args:
            progress: called after each question to the server.
            seconds: the time between them.
        """
        while True:
            current = self.get(import_id)
            if progress is not None:
                progress(current)
            if current.state in _ENDED:
                return current
            sleep(seconds)

    def get(self, import_id: str) -> UserImport:
        """Return an import: its state and its counts."""
        return self._sender.send(user_imports.get_user_import(import_id))

    def iterate(self) -> Iterator[UserImport]:
        """Iterate over the imports of the last month, newest first."""
        return self._sender.iterate(user_imports.list_user_imports(page_size=PAGE_SIZE))

    def errors(self, import_id: str) -> Iterator[LineError]:
        """Iterate over the refused lines."""
        for line in self._sender.lines(user_imports.list_user_import_errors(import_id)):
            yield msgspec.json.decode(line, type=LineError)

    def cancel(self, import_id: str) -> UserImport:
        """Cancel an import. Users who are imported already stay."""
        return self._sender.send(user_imports.cancel_user_import(import_id))


def _streamed(pieces: Iterator[bytes]) -> Iterator[bytes]:
    while piece := in_thread(next, pieces, b""):
        yield piece


def _pieces(users: Lines) -> Iterator[bytes]:
    """Yield the lines in pieces that are worth a request to a thread."""
    lines = _lines(users)
    while piece := b"".join(islice(lines, _LINES_OF_PIECE)):
        yield piece


def _lines(users: Lines) -> Iterator[bytes]:
    if not isinstance(users, str | Path):
        yield from (msgspec.json.encode(user) + b"\n" for user in users)
        return
    with Path(users).open("rb") as file:
        yield from file
