"""Readiness: a part that hangs delays no request for long, and is not checked again meanwhile."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from strongroom.observability.readiness import FRESH, Probe, Readiness
from strongroom.testing.clock import ManualClock


@contextmanager
def started(clock: ManualClock, *, patience: float = 60, **probes: Probe) -> Iterator[Readiness]:
    readiness = Readiness(probes, clock, patience=patience)
    try:
        yield readiness
    finally:
        readiness.close()


def test_a_part_that_hangs_is_away_until_it_answers(clock: ManualClock) -> None:
    answer, calls = threading.Event(), []

    def hang() -> None:
        calls.append(True)
        answer.wait(60)

    with started(clock, patience=0.5, good=lambda: None, hanging=hang) as readiness:
        for _ in range(3):
            assert readiness.report().parts == {"good": None, "hanging": "It does not answer."}
            clock.advance(FRESH)
        assert len(calls) == 1
        answer.set()
        while not readiness.report().is_ready:
            clock.advance(FRESH)


def test_an_unexpected_error_is_reported_by_its_type_only(clock: ManualClock) -> None:
    def fail() -> None:
        raise RuntimeError("password hush")

    with started(clock, bad=fail) as readiness:
        assert readiness.report().parts == {"bad": "It failed: RuntimeError."}


def test_a_clock_that_is_set_back_keeps_no_answer(clock: ManualClock) -> None:
    faults: list[str | None] = [None]
    with started(clock, part=lambda: faults[0]) as readiness:
        assert readiness.report().is_ready
        faults[0] = "It is away."
        clock.advance(-FRESH)
        assert not readiness.report().is_ready
