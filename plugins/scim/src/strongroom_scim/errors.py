"""Kinds of error responses of the routes for administrators."""

from typing import Final

from strongroom.plugin_api.web import ErrorKind

FORBIDDEN: Final = ErrorKind(
    403, "error.directory-forbidden", "Only administrators may manage directories."
)
UNKNOWN: Final = ErrorKind(404, "error.directory-not-found", "No such directory.")
SUCCESSOR_UNKNOWN: Final = ErrorKind(
    409, "error.directory-successor", "The successor must be a member of the tenant."
)

KINDS: Final = (FORBIDDEN, UNKNOWN, SUCCESSOR_UNKNOWN)
