"""Diagnoses the delivery of events to plugins."""

from collections import Counter
from collections.abc import Iterator

from strongroom.events.positions import Positions
from strongroom.observability.doctor import CheckResult, ok, warning


class EventsCheck:
    """Reports the event sinks that fail, and their dead letters."""

    def __init__(self, positions: Positions) -> None:
        self._positions = positions

    def __call__(self) -> Iterator[CheckResult]:
        """Yield a finding per failing sink, or one for all sinks together."""
        part, sinks = "events", self._positions.sinks()
        failing = Counter(position.sink for position in self._positions.failing())
        dead = Counter(letter.sink for letter in self._positions.dead_letters())
        for sink in sorted(failing.keys() | dead.keys()):
            yield warning(
                f"{part}.{sink}",
                f"{failing[sink]} streams are delayed by failures, {dead[sink]} events were given up",
                "see the server's log and `strongroom events status`; to deliver events again, run: "
                "strongroom events replay",
            )
        if not failing and not dead:
            yield ok(part, f"delivered to {', '.join(sinks) or 'no sink'}")
