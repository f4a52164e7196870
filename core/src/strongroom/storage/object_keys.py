"""The keys of objects in a store."""

import re
import secrets
from typing import Final

_KEY: Final = re.compile(r"([0-9a-f]{2})/\1[0-9a-f]{30}")


def new_key() -> str:
    """Return a key that cannot be guessed, spread over folders, and safe on every store.

    There are 256 folders, so a store that has to create them durably has soon created them all; file
    systems of today find a name among a hundred thousand as fast as among ten.
    """
    name = secrets.token_hex(16)
    return f"{name[:2]}/{name}"


def is_key(text: str) -> bool:
    """Return whether an object's key has the form of a blob's."""
    return _KEY.fullmatch(text) is not None
