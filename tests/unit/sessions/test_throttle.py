"""Concurrent guesses have the same limit as sequential ones."""

import threading
from concurrent.futures import ThreadPoolExecutor

from strongroom.database import Database
from strongroom.database.changes import execute_together
from strongroom.limits.service import Counters
from strongroom.secret_keys import SecretKeys
from strongroom.sessions.throttle import LoginThrottle, Ticket
from strongroom.testing.clock import HOUR, ManualClock

GUESSERS = 64
FREE = 3
THREADS, ROUNDS = 8, 25


def test_sixty_four_guessers_at_once_get_three_tries(database_url: str) -> None:
    database = Database(database_url)
    counters = Counters(ManualClock(), SecretKeys("s" * 32))
    throttle = LoginThrottle(
        database, counters, free_failures=FREE, free_failures_per_address=30, lifetime=HOUR
    )
    start = threading.Barrier(GUESSERS)

    def guess(_number: int) -> Ticket | None:
        start.wait(timeout=30)
        return throttle.admit("alice", "192.0.2.1")

    with ThreadPoolExecutor(GUESSERS) as pool:
        tickets = [ticket for ticket in pool.map(guess, range(GUESSERS)) if ticket]
    assert len(tickets) == FREE
    database.close()


def test_logins_of_one_user_at_once_do_not_wait_for_each_other_in_a_circle(database_url: str) -> None:
    database = Database(database_url)
    counters = Counters(ManualClock(), SecretKeys("s" * 32))
    throttle = LoginThrottle(
        database, counters, free_failures=GUESSERS, free_failures_per_address=GUESSERS, lifetime=HOUR
    )

    def log_in(_number: int) -> None:
        for _ in range(ROUNDS):
            ticket = throttle.admit("alice", "192.0.2.1")
            assert ticket is not None
            with database.write() as connection:
                execute_together(connection, [throttle.success_change(ticket)])

    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(log_in, range(THREADS)))
    database.close()


def test_refused_attempts_are_not_counted(database_url: str) -> None:
    clock = ManualClock()
    database = Database(database_url)
    counters = Counters(clock, SecretKeys("s" * 32))
    throttle = LoginThrottle(
        database, counters, free_failures=FREE, free_failures_per_address=30, lifetime=HOUR
    )
    for _ in range(FREE):
        assert throttle.admit("alice", "192.0.2.1")
    clock.advance(HOUR - 1)
    assert throttle.admit("alice", "192.0.2.1") is None
    clock.advance(1)
    assert throttle.admit("alice", "192.0.2.1")
    database.close()


def test_no_name_and_no_address_stands_in_the_table(database_url: str) -> None:
    database = Database(database_url)
    throttle = LoginThrottle(
        database,
        Counters(ManualClock(), SecretKeys("s" * 32)),
        free_failures=FREE,
        free_failures_per_address=30,
        lifetime=HOUR,
    )
    throttle.admit("alice", "192.0.2.1")
    with database.read() as connection:
        rows = str(connection.exec_driver_sql("SELECT * FROM counters").all())
    assert "alice" not in rows
    assert "192.0.2.1" not in rows
    database.close()


def test_the_window_of_an_address_does_not_move(database_url: str) -> None:
    clock = ManualClock()
    database = Database(database_url)
    counters = Counters(clock, SecretKeys("s" * 32))
    throttle = LoginThrottle(
        database, counters, free_failures=FREE, free_failures_per_address=FREE, lifetime=HOUR
    )
    for number in range(FREE):
        assert throttle.admit(f"name{number}", "192.0.2.1")
        clock.advance(HOUR // 4)
    assert throttle.admit("other", "192.0.2.1") is None
    throttle.admit_solved("other", "192.0.2.1")
    clock.advance(HOUR // 4)
    assert throttle.admit("other", "192.0.2.1")
    database.close()
