"""The findings of a storage check."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class FindingKind(StrEnum):
    """The kind of a finding. Only objects and rows without any reference can be repaired safely."""

    MISSING = "missing"
    """The object of a stored row is missing."""
    WRONG_SIZE = "wrong-size"
    """The size of the object differs from its row."""
    WRONG_CONTENT = "wrong-content"
    """The checksum of the object differs from its row."""
    RELEASED = "released"
    """A row that is marked for deletion is still referred to."""
    NO_STORAGE = "no-storage"
    """Rows name a storage that is not configured."""
    UNREFERENCED = "unreferenced"
    """A stored row has no references. Repair: the blob is released and deleted."""
    STRAY = "stray"
    """An object with a blob's key has no row. Repair: deleted if older than a day."""
    FOREIGN = "foreign"
    """An object whose key is not a blob's. It is never deleted."""


HARMLESS: Final = frozenset({FindingKind.FOREIGN})
"""Kinds that are reported but are not faults."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding.

    Args:
        kind: the kind of finding.
        storage: the name of the storage.
        key: the key of the object in the storage.
        detail: a description for operators.
        referrers: the rows that refer to the blob, each as its table name and primary key.
        repaired: whether the check has repaired it.
    """

    kind: FindingKind
    storage: str
    key: str
    detail: str
    referrers: tuple[str, ...] = ()
    repaired: bool = False

    @property
    def is_fault(self) -> bool:
        """Whether the finding is a fault that is not repaired."""
        return not self.repaired and self.kind not in HARMLESS
