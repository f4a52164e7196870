"""A real streaming standby answers reads only while it has the changes before them."""

import os
import signal
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest
from sqlalchemy import bindparam, func, insert, select
from tests.support.counters import counters
from tests.support.poolers import Mode, Pooler, needs_pgbouncer
from tests.support.replicas import Pair
from tests.support.waiting import SLACK_SECONDS, wait_until

from strongroom.foundation.database import Database
from strongroom.foundation.database.replica import PAUSE_SECONDS
from strongroom.foundation.database.replica_reads import replica_read
from strongroom.foundation.database.statements import Statement
from strongroom.foundation.errors import Forbidden

ADD = Statement(insert(counters))
COUNT = Statement(
    select(func.count()).select_from(counters).where(counters.c.subject == bindparam("wanted"))
)
IS_STANDBY = Statement(select(func.pg_is_in_recovery()))


@pytest.fixture(scope="module")
def pair() -> Iterator[Pair]:
    with Pair.serving() as pair:
        yield pair


@pytest.fixture(scope="module")
def url(pair: Pair) -> str:
    return pair.create("replicated")


class Node:
    """A process of the server, which counts who answered."""

    def __init__(self, pair: Pair, url: str, *, replica: str | None = None) -> None:
        self._database = database = Database(url, timeout_seconds=10)
        database.add_replica(replica or pair.standby_url(url), timeout_seconds=10)
        self.answers: list[bool] = []
        database.observe_replica(self.answers.append)

    @replica_read
    def count(self, subject: str) -> int:
        with self._database.read() as connection:
            number: int = COUNT.scalar(connection, {"wanted": subject})
            return number

    @replica_read
    def is_of_standby(self) -> bool:
        with self._database.read_one() as connection:
            return bool(IS_STANDBY.scalar(connection))

    def add(self, subject: str) -> None:
        with self._database.write() as connection:
            ADD.execute(connection, {"subject": subject, "count": 1, "expires_at": 1})

    @property
    def database(self) -> Database:
        return self._database


@pytest.fixture
def node(pair: Pair, url: str) -> Iterator[Node]:
    node = Node(pair, url)
    yield node
    node.database.close()


@pytest.fixture
def other(pair: Pair, url: str) -> Iterator[Node]:
    node = Node(pair, url)
    yield node
    node.database.close()


@pytest.fixture
def paused(pair: Pair, node: Node) -> Iterator[None]:
    """The standby receives changes and does not replay them."""
    wait_until(node.is_of_standby)
    pair.execute_on_standby("SELECT pg_wal_replay_pause()")
    wait_until(lambda: pair.execute_on_standby("SELECT pg_get_wal_replay_pause_state()") == "paused")
    yield
    pair.execute_on_standby("SELECT pg_wal_replay_resume()")


def test_the_standby_answers_a_declared_read_and_no_other(node: Node) -> None:
    wait_until(node.is_of_standby)
    with node.database.read() as connection:
        assert not IS_STANDBY.scalar(connection)
    assert node.answers[-1] is True


def test_writes_of_any_node_are_in_each_later_read(node: Node, other: Node) -> None:
    def write_and_read(number: int) -> tuple[int, int]:
        subject = f"own-{number}"
        node.add(subject)
        return node.count(subject), other.count(subject)

    wait_until(node.is_of_standby)
    wait_until(other.is_of_standby)
    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(write_and_read, range(400))) == {(1, 1)}
    assert sum(other.answers) > len(other.answers) / 2


@pytest.mark.usefixtures("paused")
def test_the_primary_answers_while_the_standby_lacks_a_change(node: Node, other: Node) -> None:
    assert node.is_of_standby()
    other.add("late")
    assert (node.count("late"), node.answers[-1]) == (1, False)


def test_the_standby_answers_again_when_it_has_caught_up(pair: Pair, node: Node) -> None:
    wait_until(node.is_of_standby)
    pair.execute_on_standby("SELECT pg_wal_replay_pause()")
    node.add("caught")
    assert not node.is_of_standby()
    pair.execute_on_standby("SELECT pg_wal_replay_resume()")
    wait_until(node.is_of_standby)
    assert node.count("caught") == 1


def test_a_read_after_a_write_of_the_same_call_goes_to_the_primary(node: Node) -> None:
    def write_and_read() -> int:
        node.add("same-call")
        with node.database.read() as connection:
            assert not IS_STANDBY.scalar(connection)
            return int(COUNT.scalar(connection, {"wanted": "same-call"}))

    assert node.database.on_replica(write_and_read) == 1


def test_the_primary_repeats_a_read_that_the_standby_interrupts(pair: Pair, node: Node) -> None:
    calls = []

    def read() -> bool:
        with node.database.read() as connection:
            calls.append(bool(IS_STANDBY.scalar(connection)))
            if calls == [True]:
                pair.execute_on_standby(
                    "SELECT count(pg_terminate_backend(pid, 9000)) FROM pg_stat_activity "
                    "WHERE datname = 'replicated' AND pid <> pg_backend_pid()"
                )
            return bool(IS_STANDBY.scalar(connection))

    wait_until(node.is_of_standby)
    assert node.database.on_replica(read) is False
    assert calls == [True, False]
    wait_until(node.is_of_standby)


def test_an_error_of_the_application_is_not_repeated(node: Node) -> None:
    calls = []

    def read() -> None:
        with node.database.read() as connection:
            calls.append(IS_STANDBY.scalar(connection))
            raise Forbidden

    wait_until(node.is_of_standby)
    with pytest.raises(Forbidden):
        node.database.on_replica(read)
    assert calls == [True]


def test_a_frozen_standby_delays_few_reads(pair: Pair, node: Node) -> None:
    wait_until(node.is_of_standby)
    pids = pair.standby_processes()
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    try:
        began = time.monotonic()
        assert not node.is_of_standby()
        assert time.monotonic() - began < 5 + SLACK_SECONDS
        began = time.monotonic()
        assert not any(node.is_of_standby() for _ in range(20))
        assert time.monotonic() - began < 1 + SLACK_SECONDS
    finally:
        for pid in pids:
            os.kill(pid, signal.SIGCONT)
    wait_until(node.is_of_standby)


@pytest.mark.parametrize("wrong", ["primary", "other"])
def test_a_server_that_is_no_standby_of_the_database_is_not_used(
    pair: Pair, url: str, wrong: str
) -> None:
    other = pair.standby_url(pair.create("other")) if wrong == "other" else url
    node = Node(pair, url, replica=other)
    for _ in range(3):
        assert not node.is_of_standby()
        node.database.replica._unused_until = 0  # type: ignore[union-attr]
    assert node.answers == [False] * 3
    node.database.close()


def test_a_standby_that_is_killed_is_not_missed(url: str) -> None:
    with Pair.serving() as pair:
        url = pair.create("killed")
        node = Node(pair, url)
        wait_until(node.is_of_standby)
        pair.stop_standby()
        for number in range(10):
            node.add(str(number))
            assert (node.count(str(number)), node.answers[-1]) == (1, False)
        time.sleep(PAUSE_SECONDS)
        assert not node.is_of_standby()
        node.database.close()


def test_a_standby_that_no_longer_follows_is_not_used(node: Node, pair: Pair) -> None:
    wait_until(node.is_of_standby)
    connection = pair.execute_on_standby("SELECT quote_literal(current_setting('primary_conninfo'))")
    pair.execute_on_standby("ALTER SYSTEM SET primary_conninfo = 'host=/nowhere'")
    pair.execute_on_standby("SELECT pg_reload_conf()")
    try:
        # All changes are there, but it cannot know about later ones.
        wait_until(lambda: not node.is_of_standby())
    finally:
        pair.execute_on_standby(f"ALTER SYSTEM SET primary_conninfo = {connection}")
        pair.execute_on_standby("SELECT pg_reload_conf()")


def test_a_user_without_rights_can_read_the_state(pair: Pair, url: str) -> None:
    with psycopg.connect(url.replace("+psycopg", ""), autocommit=True) as connection:
        connection.execute("CREATE ROLE modest LOGIN")
    modest = url.replace("postgres:@", "modest:@")
    node = Node(pair, modest, replica=pair.standby_url(modest))
    wait_until(node.is_of_standby)
    node.database.close()


@needs_pgbouncer
@pytest.mark.parametrize("mode", ["transaction", "session"])
def test_the_standby_answers_through_a_pooler(pair: Pair, url: str, mode: Mode) -> None:
    server = pair.standby_url(pair.primary.server_url)
    with Pooler.serving(server, mode, size=4) as pooler:
        node = Node(pair, url, replica=pooler.url(url))
        wait_until(node.is_of_standby)
        for number in range(20):
            node.add(f"{mode}-{number}")
            assert node.count(f"{mode}-{number}") == 1
        assert sum(node.answers) > 10
        node.database.close()
