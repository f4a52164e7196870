"""Matches the HTTP statuses that mean a gateway accepted a message."""

import re
from collections.abc import Iterable


class StatusRule:
    """A set of statuses, each written as ``202``, or as ``2xx`` for a whole class.

    Raises:
        ValueError: a pattern is neither.
    """

    def __init__(self, accepted: Iterable[str]) -> None:
        self._patterns = [_pattern(status) for status in accepted]

    def accepts(self, status: int) -> bool:
        """Return whether the status is in the set."""
        return any(pattern.fullmatch(str(status)) for pattern in self._patterns)


def _pattern(status: str) -> re.Pattern[str]:
    if not re.fullmatch(r"[1-5](\d\d|xx)", status):
        raise ValueError(f"accepted: {status!r} is not a status such as 202 or 2xx")
    return re.compile(status.replace("x", r"\d"))
