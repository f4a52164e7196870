"""A storage that is unavailable is left alone, and found again."""

import pytest

from strongroom.content.storage.stores import FAILURES_TO_OPEN, OPEN_MILLISECONDS, Circuit
from strongroom.plugin_api.storage import ObjectNotFound, StorageUnavailable
from strongroom.testing.clock import SECOND, ManualClock

SECONDS = OPEN_MILLISECONDS // SECOND


class Calls:
    """Calls through a circuit, and how many of them have reached the storage."""

    def __init__(self) -> None:
        self.clock = ManualClock()
        self.circuit = Circuit("main", self.clock)
        self.reached = 0

    def make(self, error: Exception | None = None) -> None:
        with self.circuit.guard():
            self.reached += 1
            if error is not None:
                raise error

    def fail(self, times: int) -> None:
        for _ in range(times):
            with pytest.raises(StorageUnavailable, match="away"):
                self.make(StorageUnavailable("away"))

    def assert_refused(self, retry_after: int) -> None:
        reached = self.reached
        with pytest.raises(StorageUnavailable, match="main") as caught:
            self.make()
        assert (self.reached, caught.value.retry_after) == (reached, retry_after)


@pytest.fixture
def calls() -> Calls:
    return Calls()


def test_it_opens_after_failures_in_a_row_and_says_for_how_long(calls: Calls) -> None:
    calls.fail(FAILURES_TO_OPEN)
    calls.assert_refused(SECONDS)
    calls.clock.advance(SECOND)
    calls.assert_refused(SECONDS - 1)


def test_an_answer_between_failures_keeps_it_closed(calls: Calls) -> None:
    for answer in (None, ObjectNotFound("key")):
        calls.fail(FAILURES_TO_OPEN - 1)
        if answer is None:
            calls.make()
        else:
            with pytest.raises(ObjectNotFound):
                calls.make(answer)
    calls.fail(FAILURES_TO_OPEN - 1)
    calls.make()


def test_other_errors_do_not_count_against_the_storage(calls: Calls) -> None:
    calls.fail(FAILURES_TO_OPEN - 1)
    with pytest.raises(ConnectionError):
        calls.make(ConnectionError("the client went away"))
    calls.fail(1)
    calls.assert_refused(SECONDS)


def test_one_call_tries_whether_the_storage_is_back(calls: Calls) -> None:
    calls.fail(FAILURES_TO_OPEN)
    calls.clock.advance(OPEN_MILLISECONDS)
    with calls.circuit.guard():
        calls.assert_refused(SECONDS)
    calls.make()


def test_a_try_that_fails_opens_it_again(calls: Calls) -> None:
    calls.fail(FAILURES_TO_OPEN)
    calls.clock.advance(OPEN_MILLISECONDS)
    calls.fail(1)
    calls.assert_refused(SECONDS)


def test_a_clock_that_is_set_back_does_not_keep_it_open(calls: Calls) -> None:
    calls.fail(FAILURES_TO_OPEN)
    calls.clock.advance(-3600 * SECOND)
    calls.make()
