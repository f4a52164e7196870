"""The scan states of files, and the rule which of them permit reading."""

from enum import StrEnum
from typing import Final

from strongroom.foundation.errors import ContentInfected, ContentUnscannable, NotScannedYet, Quarantined

RETRY_SECONDS: Final = 5
"""``Retry-After`` of a file that is not scanned yet."""

SKIPPED: Final = "skipped"
"""The state that clients see for files without a scan; stored as NULL."""


class ScanState(StrEnum):
    """The scan state of a file. Files without a scan have none."""

    PENDING = "pending"
    CLEAN = "clean"
    UNSCANNABLE = "unscannable"
    INFECTED = "infected"
    REJECTED = "rejected"


QUARANTINED: Final = (ScanState.INFECTED, ScanState.REJECTED)
"""The states of files in quarantine."""

STATES: Final = (*(state.value for state in ScanState), SKIPPED)
"""The states that clients see."""

INSPECTION_ERRORS: Final = (ContentInfected, ContentUnscannable)
"""The errors of uploads whose content a scanner refuses."""

UNREADABLE_ERRORS: Final = (NotScannedYet, Quarantined)
"""The errors of :func:`require_readable`."""

_READABLE: Final = frozenset({None, ScanState.CLEAN.value, ScanState.UNSCANNABLE.value})


def require_readable(scan: str | None) -> None:
    """Check that content with a scan state may be read. All routes that send content call this.

    Raises:
        NotScannedYet: the content is not scanned yet.
        Quarantined: the content is infected, or was rejected.
    """
    if scan in _READABLE:
        return
    if scan == ScanState.PENDING:
        raise NotScannedYet(retry_after=RETRY_SECONDS)
    # Also any state that a newer release may have written.
    raise Quarantined
