"""What the command prints: JSON, or lines with a progress bar on a terminal."""

import json
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import click

from ..transfers import Progress, Report

Json = Mapping[str, Any]


class Output:
    """Prints results to standard output, and progress to standard error.

    Args:
        is_json: whether each result is a line of JSON.
    """

    def __init__(self, *, is_json: bool) -> None:
        self._is_json = is_json

    def result(self, values: Json, line: str) -> None:
        """Print a result: its values, or a line for people."""
        click.echo(json.dumps(values, ensure_ascii=False) if self._is_json else line)

    def note(self, line: str) -> None:
        """Print a line that is no result."""
        click.echo(line, err=True)

    @contextmanager
    def progress(self, title: str, total: int) -> Iterator[Callable[[int], object]]:
        """Show a bar while bytes are transferred, on a terminal; yield what adds bytes to it."""
        if not sys.stderr.isatty():
            yield _ignore
            return
        from tqdm import tqdm  # slow to import

        with tqdm(
            total=total, desc=title, leave=False, unit="B", unit_scale=True, unit_divisor=1024
        ) as bar:
            yield bar.update


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
