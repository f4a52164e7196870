"""Readiness: a part that hangs delays no request for long, and is not checked again meanwhile."""

import threading
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager

from tests.support.waiting import STALL_SECONDS, wait_until

from strongroom.extensions.observability.readiness import FRESH, Note, OwnFault, Probe, Probes, Readiness
from strongroom.testing.clock import ManualClock


@contextmanager
def started(clock: ManualClock, *, patience: float = 60, **probes: Probe) -> Iterator[Readiness]:
    readiness = Readiness(Probes(own=probes), clock, patience=patience)
    try:
        yield readiness
    finally:
        readiness.close()


def test_a_part_that_hangs_is_away_until_it_answers(clock: ManualClock) -> None:
    answer, calls = threading.Event(), []

    def hang() -> None:
        calls.append(True)
        answer.wait(STALL_SECONDS)

    with started(clock, patience=0.2, good=lambda: None, hanging=hang) as readiness:

        def report() -> Mapping[str, str | None]:
            clock.advance(FRESH)
            return readiness.report().parts

        for _ in range(3):
            # On a busy machine, the good one may be late, too.
            wait_until(lambda: report()["good"] is None)
            assert report()["hanging"] == "It does not answer."
        assert len(calls) == 1
        answer.set()
        wait_until(lambda: report() == {"good": None, "hanging": None})


def test_an_unexpected_error_is_reported_by_its_type_only(clock: ManualClock) -> None:
    def fail() -> None:
        raise RuntimeError("password hush")

    with started(clock, bad=fail) as readiness:
        assert readiness.report().parts == {"bad": "It failed: RuntimeError."}


def test_a_clock_that_is_set_back_keeps_no_answer(clock: ManualClock) -> None:
    faults: list[str | None] = [None]
    with started(clock, part=lambda: faults[0]) as readiness:
        assert readiness.report().is_ready
        faults[0] = "It is unavailable."
        clock.advance(-FRESH)
        assert not readiness.report().is_ready


def test_a_fault_of_a_shared_part_is_a_note(clock: ManualClock) -> None:
    probes = Probes(own={"disk": lambda: None}, shared={"store": lambda: "It is unavailable."})
    with closing(Readiness(probes, clock)) as readiness:
        report = readiness.report()
    assert (report.is_ready, report.notes) == (True, {"store": "It is unavailable."})
    assert report.parts == {"disk": None, "store": "It is unavailable."}


def test_a_shared_part_may_have_a_fault_of_the_instance(clock: ManualClock) -> None:
    probes = Probes(shared={"schema": lambda: OwnFault("It is newer."), "other": lambda: Note("Good.")})
    with closing(Readiness(probes, clock)) as readiness:
        report = readiness.report()
    assert (report.is_ready, report.faults) == (False, {"schema": "It is newer."})
    assert (report.notes, report.parts["other"]) == ({"other": "Good."}, None)


def test_a_shared_part_that_hangs_delays_one_report(clock: ManualClock) -> None:
    answer = threading.Event()
    probes = Probes(shared={"store": lambda: None if answer.wait(STALL_SECONDS) else "It failed."})
    with closing(Readiness(probes, clock, shared_patience=0.01)) as readiness:
        assert readiness.report().notes == {"store": "It does not answer."}
        readiness._shared._patience = STALL_SECONDS
        clock.advance(FRESH)
        # Returns immediately, because the call is not a new one.
        assert readiness.report().notes == {"store": "It does not answer."}
        answer.set()
