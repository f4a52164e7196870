"""What a check of the storages can find."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class FindingKind(StrEnum):
    """What is wrong. Only the repair of what nothing can refer to is safe, and done."""

    MISSING = "missing"
    """A row counts, and its bytes are not there."""
    WRONG_SIZE = "wrong-size"
    """The bytes are more or fewer than the row says."""
    WRONG_CONTENT = "wrong-content"
    """The bytes have another checksum than the row says."""
    RELEASED = "released"
    """Something refers to bytes that are being removed."""
    NO_STORAGE = "no-storage"
    """Rows name a storage that is not configured."""
    UNREFERENCED = "unreferenced"
    """A row counts, and nothing refers to it. Repair: released and removed."""
    STRAY = "stray"
    """Bytes under a key of ours that no row knows. Repair: removed when older than a day."""
    FOREIGN = "foreign"
    """An object under a key that was never ours; it is left alone."""


HARMLESS: Final = frozenset({FindingKind.FOREIGN})
"""What is worth telling, and no fault."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was found.

    Args:
        kind: what.
        storage: the named storage.
        key: the key of the object there.
        detail: what was seen, in words.
        referrers: the rows that refer to it, each as its table and its primary key.
        repaired: whether it is put right.
    """

    kind: FindingKind
    storage: str
    key: str
    detail: str
    referrers: tuple[str, ...] = ()
    repaired: bool = False

    @property
    def is_fault(self) -> bool:
        """Whether something is still wrong."""
        return not self.repaired and self.kind not in HARMLESS
