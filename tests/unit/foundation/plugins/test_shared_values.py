"""Values that plugins share among all workers and nodes."""

import json
from collections import Counter
from functools import partial

import pytest
from sqlalchemy import text, update
from tests.support.http import at_once

from strongroom.assembly.plugin_host.state import HostValues
from strongroom.foundation.database import Database
from strongroom.foundation.plugins.shared_values import SharedValues, plugin_shared_values
from strongroom.foundation.secret_keys import SecretKeys
from strongroom.plugin_api.state import ValueStore
from strongroom.testing.clock import ManualClock

pytestmark = pytest.mark.both_databases

SECRET = "x" * 32
KEY = "k" * 255


@pytest.fixture
def shared(database: Database, clock: ManualClock) -> SharedValues:
    return SharedValues(database, clock, SecretKeys(SECRET))


@pytest.fixture
def values(shared: SharedValues) -> ValueStore:
    return HostValues("a" * 64, lambda: shared)


def test_values_are_of_one_plugin(shared: SharedValues, values: ValueStore) -> None:
    values.put(KEY, 1)
    assert values.get(KEY) == 1
    assert HostValues("acme", lambda: shared).get(KEY) is None


def test_the_database_has_no_plain_value_and_a_copied_row_is_refused(
    values: ValueStore, database: Database, clock: ManualClock
) -> None:
    values.put("token", "a plain secret")
    with database.engine.begin() as connection:
        rows = [tuple(row) for row in connection.execute(text("SELECT * FROM plugin_shared_values"))]
        assert "plain" not in json.dumps(rows)
        connection.execute(update(plugin_shared_values).values(name=f"{'a' * 64}:other"))
    with pytest.raises(ValueError, match="sealed for another purpose"):
        values.get("other")
    with pytest.raises(ValueError, match="sealed with another secret"):
        SharedValues(database, clock, SecretKeys("y" * 32)).get("a" * 64, "other")


def test_of_nodes_that_replace_an_ended_value_one_succeeds(
    values: ValueStore, clock: ManualClock
) -> None:
    values.put("token", "old", expires_at=clock.now())
    renew = [partial(values.compare_and_set, "token", None, number) for number in range(8)]
    assert Counter(at_once(renew)) == {True: 1, False: 7}
    assert values.get("token") in range(8)


def test_of_nodes_that_delete_a_value_one_has_deleted_it(values: ValueStore) -> None:
    values.put("token", "old")
    assert at_once([partial(values.delete, "token")] * 8).count(True) == 1
    values.put("token", "old")
    assert at_once([partial(values.compare_and_set, "token", "old", None)] * 8).count(True) == 1


def test_ended_values_are_pruned(
    shared: SharedValues, values: ValueStore, clock: ManualClock, database: Database
) -> None:
    values.put("ended", 1, expires_at=clock.now())
    values.put("later", 1, expires_at=clock.now() + 1)
    values.put("always", 1)
    assert shared.prune() == 1
    with database.read() as connection:
        names = connection.execute(text("SELECT name FROM plugin_shared_values")).scalars()
        assert {name.partition(":")[2] for name in names} == {"later", "always"}
