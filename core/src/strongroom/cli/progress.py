"""Progress bars, shown only if standard error is a terminal."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click


@contextmanager
def progress_bar(label: str, length: int) -> Iterator[Callable[[int], None]]:
    """Show a progress bar on standard error during the block; yields a function that advances it."""
    hidden = not sys.stderr.isatty()
    with click.progressbar(length=length, label=label, file=sys.stderr, hidden=hidden) as bar:
        yield bar.update
