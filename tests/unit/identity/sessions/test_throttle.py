"""Concurrent guesses have the same limit as sequential ones, and right passwords do not use it up."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial

import pytest
from tests.support.campaign import campaign_size
from tests.support.http import at_once

from strongroom.foundation.database import Database
from strongroom.foundation.database.changes import Change, execute_together
from strongroom.foundation.errors import CaptchaRequired, StrongroomError, Unavailable
from strongroom.foundation.limits.attempts import LEASE, Attempts, SubjectPair
from strongroom.foundation.limits.service import Counters, subject_key
from strongroom.foundation.limits.turns import Turns
from strongroom.foundation.secret_keys import SecretKeys
from strongroom.identity.sessions.throttle import WINDOW, LoginThrottle, Ticket
from strongroom.testing.clock import HOUR, ManualClock

ADDRESS = "192.0.2.1"
KEYS = SecretKeys("s" * 32)
ALICE = Ticket(
    SubjectPair(subject_key(KEYS, "login-network", ADDRESS), subject_key(KEYS, "login-name", "alice")),
    2**62,
)
GUESSERS = 64
FREE, FREE_PER_ADDRESS = 3, 30
LOGINS, COLLEAGUES = 16, 50
ROUNDS = campaign_size("THROTTLE_ROUNDS", 2)
LONG, SHORT = 60.0, 0.0


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def database(database_url: str) -> Iterator[Database]:
    database = Database(database_url)
    yield database
    database.close()


class Node:
    """A throttle of a process, and what its requests do with it."""

    def __init__(
        self,
        database: Database,
        clock: ManualClock,
        *,
        patience: float = LONG,
        places: int = GUESSERS,
        on_block: Callable[[], None] = lambda: None,
    ) -> None:
        attempts = Attempts(clock, KEYS, window=WINDOW, lifetime=HOUR)
        self._database = database
        self.throttle = LoginThrottle(
            database,
            attempts,
            Turns(places, patience, on_block),
            free_failures=FREE,
            free_failures_per_address=FREE_PER_ADDRESS,
        )

    def begin(self, name: str = "alice") -> Ticket:
        return self.throttle.begin(name, ADDRESS)

    def settle(self, change: Change) -> None:
        with self._database.write() as connection:
            execute_together(connection, [change])

    def log_in(self, name: str = "alice") -> None:
        self.settle(self.throttle.success(self.begin(name)))

    def guess(self, name: str = "alice") -> bool:
        """Try a wrong password; return whether it was evaluated."""
        with suppress(CaptchaRequired):
            self.settle(self.throttle.failure(self.begin(name)))
            return True
        return False


@pytest.fixture
def node(database: Database, clock: ManualClock) -> Node:
    return Node(database, clock)


def test_sixty_four_guessers_at_once_get_three_tries_on_two_nodes(
    database: Database, clock: ManualClock
) -> None:
    nodes = Node(database, clock), Node(database, clock)
    for number in range(ROUNDS):
        guesses = [partial(nodes[n % 2].guess, f"alice{number}") for n in range(GUESSERS)]
        assert sum(at_once(guesses)) == FREE
        clock.advance(WINDOW)


def test_right_passwords_of_one_user_at_once_all_pass(database: Database, clock: ManualClock) -> None:
    nodes = Node(database, clock), Node(database, clock)
    at_once([nodes[number % 2].log_in for number in range(LOGINS)])


def test_the_users_of_one_address_at_once_all_pass(database: Database, clock: ManualClock) -> None:
    nodes = Node(database, clock), Node(database, clock)
    at_once([partial(nodes[n % 2].log_in, f"user{n}") for n in range(COLLEAGUES)])


def test_right_passwords_among_guesses_get_no_guess_beyond_the_limit(node: Node) -> None:
    node.guess()
    node.guess()
    pending = node.begin()
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(node.guess)
        node.settle(node.throttle.failure(pending))
        assert not waiting.result()


@pytest.mark.parametrize("is_evaluated", [True, False])
def test_an_attempt_waits_for_the_outcome_of_those_that_may_use_up_the_limit(
    node: Node, is_evaluated: bool
) -> None:
    tickets = [node.begin() for _ in range(FREE)]
    outcome = node.throttle.success if is_evaluated else node.throttle.undo
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(node.begin)
        node.settle(outcome(tickets[0]))
        assert waiting.result() == ALICE


def test_an_attempt_does_not_wait_for_ever(database: Database, clock: ManualClock) -> None:
    node = Node(database, clock, patience=SHORT)
    for _ in range(FREE):
        node.begin()
    with pytest.raises(Unavailable) as raised:
        node.begin()
    assert raised.value.retry_after
    node.begin("bob")


def test_only_so_many_attempts_wait(database: Database, clock: ManualClock) -> None:
    node = Node(database, clock, places=1)
    tickets = [node.begin() for _ in range(FREE)]
    is_waiting = threading.Event()
    second = Node(database, clock, places=0)

    def begin() -> Ticket:
        is_waiting.set()
        return node.begin()

    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(begin)
        is_waiting.wait()
        with pytest.raises(Unavailable):
            second.begin()
        node.settle(node.throttle.success(tickets[0]))
        assert waiting.result() == ALICE


def test_an_attempt_that_waits_gives_its_place_to_another_request(
    database: Database, clock: ManualClock
) -> None:
    blocked: list[str] = []
    node = Node(database, clock, patience=SHORT, on_block=lambda: blocked.append("attempt"))
    for _ in range(FREE):
        node.begin()
    assert blocked == []
    with pytest.raises(Unavailable):
        node.begin()
    assert blocked == ["attempt"]


def test_attempts_whose_process_ended_are_forgotten(node: Node, clock: ManualClock) -> None:
    for _ in range(FREE):
        node.begin()
    clock.advance(LEASE)
    assert node.begin() == ALICE


def test_pruning_keeps_pending_attempts(node: Node, database: Database, clock: ManualClock) -> None:
    node.guess()
    clock.advance(HOUR - 1)
    tickets = [node.begin() for _ in range(FREE - 1)]
    clock.advance(1)
    Counters(clock, SecretKeys("s" * 32)).prune(database)
    assert [node.guess() for _ in range(FREE - len(tickets))] == [True]
    for ticket in tickets:
        node.settle(node.throttle.failure(ticket))
    assert not node.guess()


def test_refused_attempts_are_not_counted(node: Node, clock: ManualClock) -> None:
    for _ in range(FREE):
        assert node.guess()
    clock.advance(HOUR - 1)
    assert not node.guess()
    clock.advance(1)
    assert node.guess()


def test_no_name_and_no_address_stands_in_the_table(node: Node, database: Database) -> None:
    node.guess()
    with database.read() as connection:
        rows = str(connection.exec_driver_sql("SELECT * FROM counters").all())
    assert "alice" not in rows
    assert ADDRESS not in rows


def test_the_window_of_an_address_begins_with_its_first_failure_and_does_not_move(
    node: Node, clock: ManualClock
) -> None:
    node.log_in("first")
    clock.advance(HOUR // 2)
    for number in range(FREE_PER_ADDRESS):
        assert node.guess(f"name{number}")
    clock.advance(HOUR - 1)
    with pytest.raises(StrongroomError):
        node.begin("other")
    node.settle(node.throttle.failure(node.throttle.begin_solved("other", ADDRESS)))
    clock.advance(1)
    assert node.begin("other").pair.extended == subject_key(KEYS, "login-name", "other")


def test_a_right_password_clears_the_failures_of_its_name(node: Node) -> None:
    node.guess()
    node.guess()
    node.log_in()
    assert [node.guess() for _ in range(FREE + 1)] == [True] * FREE + [False]


def test_a_right_password_does_not_clear_guesses_whose_outcome_is_pending(node: Node) -> None:
    guesses = [node.begin() for _ in range(FREE - 1)]
    node.log_in()
    for ticket in guesses:
        node.settle(node.throttle.failure(ticket))
    assert [node.guess(), node.guess()] == [True, False]
