"""The command that prints a link for the first administrator, as operators can paste it."""

import os
import shlex
import shutil
import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Final

_PROGRAM: Final = "strongroom"
_COMMAND: Final = ("users", "invite-admin")


def setup_command(*, is_production: bool) -> str:
    """Return the command; in development with the path and the configuration of the running server.

    A page of a production server shows no paths to strangers.
    """
    if is_production:
        return shlex.join([_PROGRAM, *_COMMAND])
    return shlex.join([_program(), *_configuration(), *_COMMAND])


def setup_commands(*, is_production: bool) -> dict[str, str]:
    """Return the command that a page copies, and the short one that it shows, for its template."""
    return {
        "copied": setup_command(is_production=is_production),
        "shown": setup_command(is_production=True),
    }


def _program() -> str:
    """Return the program as it was started, or its name if the shell finds it by that."""
    started = sys.argv[0]
    is_found = shutil.which(_PROGRAM) == started
    return _PROGRAM if is_found or Path(started).name != _PROGRAM else started


def _configuration() -> list[str]:
    parser = ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--config", default=os.environ.get("STRONGROOM_CONFIG"))
    path = parser.parse_known_args(sys.argv[1:])[0].config
    return ["--config", path] if path else []
