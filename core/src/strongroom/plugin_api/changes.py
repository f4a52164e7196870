"""The value of a member that a change leaves as it is, where ``None`` has a meaning of its own."""

from enum import Enum
from typing import Final


class Unchanged(Enum):
    """The type of :data:`UNCHANGED`."""

    UNCHANGED = "unchanged"


UNCHANGED: Final = Unchanged.UNCHANGED
"""A member that is not changed."""
