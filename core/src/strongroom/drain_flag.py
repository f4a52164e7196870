"""The drain flag, which all processes of a server share."""

import mmap
from typing import Final


class DrainFlag:
    """Whether the server is draining; shared memory with the processes forked from this one."""

    def __init__(self) -> None:
        # An anonymous shared mapping: forked children see the writes of the master.
        self._memory = mmap.mmap(-1, 1)

    @property
    def is_set(self) -> bool:
        """Whether the server is draining."""
        return self._memory[0] != 0

    def set(self) -> None:
        """Mark the server as draining."""
        self._memory[0] = 1


DRAINING: Final = DrainFlag()
"""The flag of this server."""
