"""The migration that lets an authorization be a client's grant."""

import pytest
from alembic import command
from sqlalchemy import text

from strongroom.foundation.database import Database
from strongroom.foundation.database.upgrade import alembic_config, upgrade
from strongroom.identity.sessions.store import AuthorizationStore
from strongroom.testing.clock import ManualClock

pytestmark = pytest.mark.both_databases


def test_logins_of_the_version_before_stay_and_are_no_grants(
    database: Database, clock: ManualClock
) -> None:
    ends_at = clock.now() + 1000
    with database.engine.execution_options(strongroom_writing=True).begin() as connection:
        command.upgrade(alembic_config(connection), "0053")
        columns = "id, type, status, name, created_at, updated_at, revision"
        connection.execute(
            text(f"INSERT INTO users ({columns}) VALUES ('u', 'USER', 'active', '', 1, 1, 1)")
        )
        columns = (
            "id, user_id, user_type, method, serial, address, user_agent, created_at, last_seen_at, "
            "expires_at, amr, acr, auth_time"
        )
        values = f"'a', 'u', 'USER', 'password', 7, '', '', 1, 1, {ends_at}, 'pwd', 'x', 1"
        connection.execute(text(f"INSERT INTO authorizations ({columns}) VALUES ({values})"))
    upgrade(database.engine)
    store = AuthorizationStore(clock, lifetime=1000)
    with database.write() as connection:
        login = store.find(connection, "a")
        assert login is not None
        assert (login.serial, login.expires_at) == (7, ends_at)
        assert (login.client_id, login.ends_with_id, login.terms) == (None, None, None)
        assert store.renew(connection, "a").serial == 8
        assert store.end(connection, "a")
