"""Races between threads are repeated, and a failed round is reported with its seed."""

import threading
import time
from collections.abc import Sequence
from typing import Any

import pytest

from strongroom.testing.races import RaceFailed, race


def test_a_race_that_is_lost_now_and_then_is_found() -> None:
    counter = [0]

    def increment() -> None:
        # Another thread may run between the two steps.
        value = counter[0]
        time.sleep(0)
        counter[0] = value + 1

    def prepare() -> Sequence[Any]:
        counter[0] = 0
        return [increment] * 8

    def check(_: Sequence[Any]) -> None:
        assert counter[0] == 8

    with pytest.raises(RaceFailed, match=r"^round \d+ with seed=\d+: "):
        race(prepare, check, rounds=2000)


def test_rounds_and_results_are_complete() -> None:
    lock, seen = threading.Lock(), []

    def fail() -> None:
        raise ValueError("expected")

    def check(results: Sequence[Any]) -> None:
        with lock:
            seen.append([type(result) for result in results])

    assert race(lambda: [lambda: 1, fail], check, rounds=5) == 5
    assert seen == [[int, ValueError]] * 5


def test_it_ends_in_time() -> None:
    assert 1 <= race(lambda: [lambda: time.sleep(0.02)], lambda _: None, rounds=10**6, seconds=0.1) < 100


def test_a_function_that_hangs_fails_its_round() -> None:
    never = threading.Event()
    with pytest.raises(RaceFailed, match=r"^round 1 with seed=7: the functions \[1\] did not return"):
        race(lambda: [lambda: None, never.wait], lambda _: None, seconds=0.1, patience=0.1, seed=7)
    never.set()
