"""The keys of objects in a store."""

import re
import secrets
from typing import Final

_KEY: Final = re.compile(r"([0-9a-f]{2})/\1[0-9a-f]{30}")


def new_key() -> str:
    """Return an unguessable key with a folder prefix, valid on every store.

    There are only 256 folders, so a store that creates them durably soon has all of them. Few folders
    are fast enough, because modern file systems look up a name among 100,000 as fast as among ten.
    """
    name = secrets.token_hex(16)
    return f"{name[:2]}/{name}"


def is_key(text: str) -> bool:
    """Return whether an object's key has the format of :func:`new_key`."""
    return _KEY.fullmatch(text) is not None
