"""What a doctor finds."""

from dataclasses import dataclass
from enum import StrEnum


class State(StrEnum):
    """How a part is."""

    OK = "ok"
    WARNING = "warning"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Finding:
    """What was found about one part.

    Args:
        part: its name, that of a key of the configuration where there is one.
        state: how it is.
        message: what was found.
        remedy: what to do, unless nothing needs to be done.
    """

    part: str
    state: State
    message: str
    remedy: str = ""


def ok(part: str, message: str) -> Finding:
    """Return a finding that all is well."""
    return Finding(part, State.OK, message)


def failed(part: str, message: str, remedy: str) -> Finding:
    """Return a finding of what keeps the server from its work."""
    return Finding(part, State.FAILED, message, remedy)


def warning(part: str, message: str, remedy: str) -> Finding:
    """Return a finding of what the server works with, but not well."""
    return Finding(part, State.WARNING, message, remedy)
