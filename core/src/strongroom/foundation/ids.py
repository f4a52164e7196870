"""Identifiers of rows and API resources."""

import re

import uuid_utils

_FORM = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def new_id() -> str:
    """Return a new UUID version 7 (RFC 9562); ids sort by creation time."""
    return str(uuid_utils.uuid7())


def canonical_id(text: str) -> str:
    """Return an identifier in lower case, its canonical form (RFC 9562, section 4).

    Any other text stays as it is.
    """
    lower = text.lower()
    return lower if is_id(lower) else text


def is_id(text: str) -> bool:
    """Return whether ``text`` has the form of an identifier."""
    return _FORM.fullmatch(text) is not None
