"""Work that is done ahead of its use."""

import threading
from contextlib import closing

import pytest

from strongroom.extensions.bundles.archive import AHEAD, IN_FLIGHT, work_ahead
from strongroom.extensions.observability.tracing import OpenTelemetryTracer
from strongroom.foundation.config.server_settings import TracingSettings
from strongroom.plugin_api.tracing import attached, current_span

PATIENCE = 30
URL = "http://127.0.0.1:9/v1/traces"


def test_prefetched_results_come_in_order() -> None:
    passing = work_ahead(range(20), lambda number: number % 3 == 0, lambda number: number * 10)
    passed = [(item, early and early.result()) for item, early in passing]
    assert passed == [(item, None if item % 3 else item * 10) for item in range(20)]


def test_as_many_as_may_are_worked_on_at_once() -> None:
    # It is passed by all of them together alone.
    together = threading.Barrier(IN_FLIGHT)
    with closing(
        work_ahead(range(IN_FLIGHT * 3), lambda _: True, lambda _: together.wait(PATIENCE))
    ) as passing:
        assert len([early.result() for _, early in passing if early]) == IN_FLIGHT * 3


def test_few_items_are_prefetched() -> None:
    numbers = iter(range(100))
    with closing(work_ahead(numbers, lambda _: True, str)) as passing:
        next(passing)
        assert next(numbers) == AHEAD + 1


def test_a_stopped_consumer_ends_the_prefetching() -> None:
    begun: list[int] = []
    held = threading.Event()

    def work(number: int) -> None:
        begun.append(number)
        held.wait(PATIENCE)

    passing = work_ahead(range(100), lambda _: True, work)
    next(passing)
    passing.close()
    held.set()
    assert len(begun) <= IN_FLIGHT


def test_an_error_is_raised_in_order() -> None:
    def work(number: int) -> float:
        return 1 / (number - 2)

    with closing(work_ahead(range(5), lambda _: True, work)) as passing:
        assert [next(passing)[0] for _ in range(2)] == [0, 1]
        _, early = next(passing)
        assert early is not None
        with pytest.raises(ZeroDivisionError):
            early.result()


def test_without_work_there_are_no_threads() -> None:
    before = threading.active_count()
    for _ in work_ahead(range(50), lambda _: False, str):
        assert threading.active_count() == before


def test_the_threads_work_within_the_span_of_the_consumer() -> None:
    # Nothing is exported, because the span does not end.
    with closing(OpenTelemetryTracer(TracingSettings(URL, sample_ratio=1))) as tracer:
        begun = tracer.start("GET bundle")
        assert begun is not None
        with attached(begun):
            passing = list(work_ahead(range(3), lambda _: True, lambda _: current_span()))
        assert [early and early.result() for _, early in passing] == [begun] * 3
