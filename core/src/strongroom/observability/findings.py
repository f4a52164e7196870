"""The findings of the doctor."""

from dataclasses import dataclass
from enum import StrEnum


class State(StrEnum):
    """The state of a part."""

    OK = "ok"
    WARNING = "warning"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of checking one part.

    Args:
        part: the configuration key, or another name of the part.
        state: the state of the part.
        message: a description of the state.
        remedy: how to correct it; empty if nothing needs to be done.
    """

    part: str
    state: State
    message: str
    remedy: str = ""


def ok(part: str, message: str) -> Finding:
    """Return the finding of a part without faults."""
    return Finding(part, State.OK, message)


def failed(part: str, message: str, remedy: str) -> Finding:
    """Return the finding of a fault that prevents the server from working."""
    return Finding(part, State.FAILED, message, remedy)


def warning(part: str, message: str, remedy: str) -> Finding:
    """Return the finding of a problem that the server can work with."""
    return Finding(part, State.WARNING, message, remedy)
