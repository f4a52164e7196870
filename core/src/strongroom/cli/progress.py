"""Progress of long work, shown to people only: never where the output is not a terminal."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click


@contextmanager
def progress_bar(label: str, length: int) -> Iterator[Callable[[int], None]]:
    """Show a bar on standard error until the block ends; what is yielded moves it on."""
    hidden = not sys.stderr.isatty()
    with click.progressbar(length=length, label=label, file=sys.stderr, hidden=hidden) as bar:
        yield bar.update
