"""What the command prints: JSON, or lines with a progress bar on a terminal."""

import json
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import click

from ..errors import ApiError
from ..transfers import Progress, Report
from .durations import duration
from .visible import visible

Json = Mapping[str, Any]


class Output:
    """Prints results to standard output, and progress to standard error.

    Args:
        is_json: whether each result is a line of JSON.
    """

    def __init__(self, *, is_json: bool) -> None:
        self._is_json = is_json
        self._bar: Any = None

    def result(self, values: Json, line: str) -> None:
        """Print a result: its values, or a line for people."""
        # Such characters are in the strings of JSON only, where an escape is the same text.
        click.echo(visible(json.dumps(values, ensure_ascii=False) if self._is_json else line))

    def note(self, line: str) -> None:
        """Print a line that is no result, above a bar."""
        if self._bar is None:
            click.echo(visible(line), err=True)
        else:
            self._bar.write(visible(line), file=sys.stderr)

    def waiting(self, seconds: float, fault: Exception) -> None:
        """Print that the client waits before it tries again."""
        reason = fault.message if isinstance(fault, ApiError) else "The server does not answer."
        self.note(f"{reason} Trying again in {duration(max(seconds, 1))}.")

    @contextmanager
    def progress(self, title: str, total: int) -> Iterator[Callable[[int], object]]:
        """Show a bar while bytes are transferred, on a terminal; yield what adds bytes to it."""
        if not sys.stderr.isatty():
            yield _ignore
            return
        from .bar import Bar  # slow to import

        with Bar(total, visible(title)) as bar:
            self._bar = bar
            try:
                yield bar.update
            finally:
                self._bar = None


def _ignore(_added: int) -> None:
    """Show no progress."""


def additions(add: Callable[[int], object]) -> Report:
    """Return a report that passes on the bytes since the one before."""
    last = 0

    def report(progress: Progress) -> None:
        nonlocal last
        add(progress.done - last)
        last = progress.done

    return report
