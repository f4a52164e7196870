"""Whether the server is being drained, known to all of its processes."""

import mmap
from typing import Final


class DrainFlag:
    """Whether the server is being drained; shared with the processes that are forked from this one."""

    def __init__(self) -> None:
        self._memory = mmap.mmap(-1, 1)

    @property
    def is_set(self) -> bool:
        """Whether it is."""
        return self._memory[0] != 0

    def set(self) -> None:
        """Note that it is."""
        self._memory[0] = 1


DRAINING: Final = DrainFlag()
"""The flag of this server."""
