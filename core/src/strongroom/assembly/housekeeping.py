"""Deletes the expired rows of every feature."""

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from strongroom.identity import Origin

HOUSEKEEPER: Final = Origin(user_agent="command line")
"""The origin of audit events that housekeeping records."""

Step = Callable[[], int]


class Housekeeping:
    """Runs one step per kind of expiring row. Safe while servers and other housekeeping run.

    Args:
        steps: by the name of what it deletes, a function that returns how many rows it deleted.
    """

    def __init__(self, steps: Mapping[str, Step]) -> None:
        self._steps = dict(steps)

    def add(self, steps: Mapping[str, Step]) -> None:
        """Add steps that run after the existing ones."""
        self._steps.update(steps)

    def run(self) -> Iterator[tuple[str, int]]:
        """Run every step, and yield its name and how many rows it deleted."""
        for name, step in self._steps.items():
            yield name, step()
