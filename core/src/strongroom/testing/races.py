"""Repeats races between threads, because a race that is lost once in a hundred times passes one test."""

import secrets
import threading
import time
from collections.abc import Callable, Sequence
from random import Random
from typing import Any, Final

Contender = Callable[[], Any]
Prepare = Callable[[], Sequence[Contender]]
"""Prepares a round, and returns the functions that run at the same time."""
Check = Callable[[Sequence[Any]], None]
"""Checks the results of a round in the order of the functions; an exception is the result of a function
that raised it."""

_LONGEST_HEAD_START: Final = 0.001


class RaceFailed(AssertionError):
    """A round failed or did not end. The message names the round and the seed."""


def race(
    prepare: Prepare,
    check: Check,
    *,
    rounds: int = 100,
    seconds: float = 10.0,
    patience: float = 60.0,
    seed: int | None = None,
) -> int:
    """Repeat a race, and return the number of rounds.

    Args:
        prepare: called before each round.
        check: called after each round; it raises ``AssertionError`` if the round went wrong.
        rounds: the maximum number of rounds.
        seconds: the time after which no further round begins; a round that lasts longer fails.
        patience: the time in seconds that each round has at least, because slow is not stuck.
        seed: determines the order and the head starts of the functions; random by default.

    Raises:
        RaceFailed: a check failed, or a function did not return in time.
    """
    seed = secrets.randbits(32) if seed is None else seed
    random, deadline = Random(seed), time.monotonic() + seconds  # noqa: S311  not a secret
    for number in range(1, rounds + 1):
        contenders = prepare()
        try:
            check(_round(contenders, random, max(deadline - time.monotonic(), patience)))
        except AssertionError as error:
            raise RaceFailed(f"round {number} with seed={seed}: {error}") from error
        if time.monotonic() >= deadline:
            return number
    return rounds


def _round(contenders: Sequence[Contender], random: Random, seconds: float) -> list[Any]:
    results: list[Any] = [None] * len(contenders)
    barrier = threading.Barrier(len(contenders))
    starts = [random.choice((0.0, random.uniform(0, _LONGEST_HEAD_START))) for _ in contenders]

    def run(index: int) -> None:
        barrier.wait()
        time.sleep(starts[index])
        try:
            results[index] = contenders[index]()
        except Exception as error:
            results[index] = error

    # Daemons, so that a function that hangs fails its test and not the end of the process.
    threads = [threading.Thread(target=run, args=(index,), daemon=True) for index in range(len(starts))]
    for thread in random.sample(threads, len(threads)):
        thread.start()
    deadline = time.monotonic() + seconds
    for thread in threads:
        thread.join(max(0.0, deadline - time.monotonic()))
    stuck = [index for index, thread in enumerate(threads) if thread.is_alive()]
    assert not stuck, f"the functions {stuck} did not return within {seconds:.1f} s"
    return results
