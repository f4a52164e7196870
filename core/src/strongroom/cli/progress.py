"""The progress of commands that may take long, on standard error.

A terminal shows a bar. Anything else, such as the journal of a service, gets a line from time to time,
so short commands print nothing.
"""

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final, TextIO

import click

INTERVAL: Final = 10.0
"""Seconds between two lines."""

_TERMINAL_INTERVAL: Final = 0.5

Advance = Callable[[int], None]
"""Advances the progress by a number of units."""


@contextmanager
def progress_bar(
    label: str, length: int | None = None, *, hidden: bool = False, interval: float = INTERVAL
) -> Iterator[Advance]:
    """Show the progress of the block; yields a function that advances it.

    Args:
        label: the work, such as ``Checking``.
        length: the number of units, if it is known.
        hidden: show nothing, for commands that print JSON.
        interval: the seconds between two lines, if the output is no terminal.
    """
    if hidden:
        yield lambda _count: None
    elif sys.stderr.isatty() and length is not None:
        with click.progressbar(length=length, label=label, file=sys.stderr) as bar:
            yield bar.update
    else:
        is_terminal = sys.stderr.isatty()
        with _Lines(
            label, length, _TERMINAL_INTERVAL if is_terminal else interval, sys.stderr, is_terminal
        ) as lines:
            yield lines.advance


class _Lines:
    """Prints the state from a thread of its own, because one step may take long."""

    def __init__(
        self, label: str, length: int | None, interval: float, stream: TextIO, is_terminal: bool
    ) -> None:
        self._label = label
        self._length = length
        self._interval = interval
        self._stream = stream
        self._is_terminal = is_terminal
        self._done = 0
        self._began = time.monotonic()
        self._has_printed = False
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="progress", daemon=True)

    def __enter__(self) -> "_Lines":
        self._thread.start()
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        self._ended.set()
        self._thread.join()
        if self._has_printed and kind is None:
            self._print(f"{self._label}: done after {self._seconds()} s", is_last=True)

    def advance(self, count: int) -> None:
        """Advance by a number of units."""
        self._done += count

    def _run(self) -> None:
        while not self._ended.wait(self._interval):
            self._print(self._state())

    def _state(self) -> str:
        if not self._length:
            done = f"{self._done}, " if self._done else ""
            return f"{self._label}: {done}{self._seconds()} s"
        part = min(self._done / self._length, 1)
        return f"{self._label}: {self._done} of {self._length} ({part:.0%}), {self._seconds()} s"

    def _seconds(self) -> int:
        return round(time.monotonic() - self._began)

    def _print(self, line: str, *, is_last: bool = False) -> None:
        self._has_printed = True
        # A terminal has one line, which is overwritten.
        text = f"\r{line}\033[K" + ("\n" if is_last else "") if self._is_terminal else f"{line}\n"
        self._stream.write(text)
        self._stream.flush()
