"""Runs other commands."""

import os
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Final

_SIGNALLED: Final = 128
"""What shells add to the number of the signal that ended a command."""


def run_with(variables: Mapping[str, str], command: Sequence[str]) -> int:
    """Run a command with further environment variables, and return its exit status."""
    environment = {**os.environ, **variables}
    process = subprocess.Popen(command, env=environment)  # noqa: S603  the user's own command
    with process, _uninterrupted():
        status = process.wait()
    return status if status >= 0 else _SIGNALLED - status


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Leave Ctrl-C to the command, which also receives it from the terminal."""
    handler = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
