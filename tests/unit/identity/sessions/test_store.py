"""Logins that meet the end of all logins, and what never fails a request."""

import logging
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import Connection, text

from strongroom.foundation.database import Database
from strongroom.foundation.database.changes import execute_together
from strongroom.foundation.database.paging import Paging
from strongroom.foundation.errors import TokenInvalid
from strongroom.identity.sessions.models import Authorization
from strongroom.identity.sessions.store import SEEN_INTERVAL, AuthorizationStore
from strongroom.identity.users.models import User
from strongroom.identity.users.service import UserService, lock_logins
from strongroom.plugin_api.login import Assurance, Client
from strongroom.testing.clock import HOUR, ManualClock

ALL = Paging(1, 100)
CLIENT = Client("192.0.2.1")


@pytest.fixture
def sessions(clock: ManualClock) -> AuthorizationStore:
    return AuthorizationStore(clock, lifetime=HOUR)


@pytest.fixture
def user(database: Database, clock: ManualClock) -> User:
    with database.write() as connection:
        return UserService(clock).create(connection, "Alice")


def begin(connection: Connection, sessions: AuthorizationStore, user: User) -> Authorization:
    lock_logins(connection, user.id, shared=True)
    begun, change = sessions.begin(connection, user, "password", Assurance(("pwd",)), CLIENT)
    execute_together(connection, [change])
    return begun


def test_a_login_under_way_is_ended_with_the_others(
    database: Database, sessions: AuthorizationStore, user: User
) -> None:
    begun = threading.Event()

    def end_all() -> int:
        begun.wait(timeout=30)
        with database.write() as connection:
            return sessions.end_all(connection, user.id)

    with ThreadPoolExecutor(1) as pool:
        with database.write() as connection:
            begin(connection, sessions, user)
            ended = pool.submit(end_all)
            begun.set()
            # It must not return before this transaction has ended, however long that takes.
            with pytest.raises(TimeoutError):
                ended.result(timeout=0.5)
        assert ended.result(timeout=30) == 1


def test_a_login_waits_for_the_revocation_of_all_and_sees_its_changes(
    database: Database, sessions: AuthorizationStore, user: User, clock: ManualClock
) -> None:
    def status_at_login() -> str:
        with database.write() as connection:
            lock_logins(connection, user.id, shared=True)
            return UserService(clock).get(connection, user.id).status

    with ThreadPoolExecutor(1) as pool:
        with database.write() as connection:
            sessions.end_all(connection, user.id)
            seen = pool.submit(status_at_login)
            with pytest.raises(TimeoutError):
                seen.result(timeout=0.5)
            statement = text("UPDATE users SET status = 'suspended' WHERE id = :id")
            connection.execute(statement, {"id": user.id})
        assert seen.result(timeout=30) == "suspended"


def test_many_logins_of_one_user_do_not_wait_for_each_other_for_ever(
    database: Database, sessions: AuthorizationStore, user: User, clock: ManualClock
) -> None:
    with database.write() as connection:
        for _ in range(20):
            begin(connection, sessions, user)
    clock.advance(HOUR)

    def log_in(_number: int) -> Authorization:
        with database.write() as connection:
            return begin(connection, sessions, user)

    with ThreadPoolExecutor(16) as pool:
        begun = list(pool.map(log_in, range(32)))
    with database.read() as connection:
        assert sessions.page(connection, user.id, ALL).total == len(begun)
        kept = connection.execute(text("SELECT count(*) FROM authorizations")).scalar_one()
    assert kept == len(begun), "those that had expired are forgotten"


def test_one_may_be_spared_when_all_are_ended(
    database: Database, sessions: AuthorizationStore, user: User
) -> None:
    with database.write() as connection:
        spared, *_ = [begin(connection, sessions, user) for _ in range(3)]
        assert sessions.end_all(connection, user.id, but=spared.id) == 2
        assert [found.id for found in sessions.page(connection, user.id, ALL).items] == [spared.id]


def test_ended_and_expired_authorizations_are_not_renewed(
    database: Database, sessions: AuthorizationStore, user: User, clock: ManualClock
) -> None:
    with database.write() as connection:
        ended, expiring = begin(connection, sessions, user), begin(connection, sessions, user)
        assert sessions.end(connection, ended.id)
        assert not sessions.end(connection, ended.id)
        with pytest.raises(TokenInvalid):
            sessions.renew(connection, ended.id)
        clock.advance(HOUR - 1)
        assert sessions.renew(connection, expiring.id).expires_at == clock.now() + HOUR
        clock.advance(HOUR)
        with pytest.raises(TokenInvalid):
            sessions.renew(connection, expiring.id)


def test_a_last_seen_that_cannot_be_written_fails_no_request(
    database: Database,
    sessions: AuthorizationStore,
    user: User,
    clock: ManualClock,
    caplog: pytest.LogCaptureFixture,
) -> None:
    with database.write() as connection:
        begun = begin(connection, sessions, user)
        connection.execute(text("ALTER TABLE authorizations RENAME TO authorizations_away"))
    clock.advance(SEEN_INTERVAL - 1)
    with caplog.at_level(logging.WARNING):
        sessions.note_seen(database, begun.id, begun.last_seen_at)
        assert [
            record for record in caplog.records if record.name == AuthorizationStore.__module__
        ] == []
        clock.advance(1)
        sessions.note_seen(database, begun.id, begun.last_seen_at)
        assert "last seen" in caplog.text
