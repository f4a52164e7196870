"""Removes what has had its time, all over the house."""

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from strongroom.identity import Origin

HOUSEKEEPER: Final = Origin(user_agent="command line")
"""The origin of audit events that housekeeping records."""

Step = Callable[[], int]


class Housekeeping:
    """One step for each thing that expires. Safe beside running servers, and beside itself.

    Args:
        steps: what each removes, and what removes it and returns how many went.
    """

    def __init__(self, steps: Mapping[str, Step]) -> None:
        self._steps = dict(steps)

    def add(self, steps: Mapping[str, Step]) -> None:
        """Add steps, which are taken last."""
        self._steps.update(steps)

    def run(self) -> Iterator[tuple[str, int]]:
        """Take every step, and yield what it removes and how many went."""
        for name, step in self._steps.items():
            yield name, step()
