"""Values that plugins store for users."""

import json
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import pytest
from sqlalchemy import text, update

from strongroom.assembly.plugin_host.state import HostStore
from strongroom.clock import SystemClock
from strongroom.foundation.database import Database
from strongroom.foundation.secret_keys import SecretKeys
from strongroom.identity.users.plugin_value_models import plugin_values
from strongroom.identity.users.plugin_values import PluginValues
from strongroom.identity.users.service import UserService
from strongroom.plugin_api.deactivation import Deactivation, DeactivationCause
from strongroom.plugin_api.state import MAX_VALUE_BYTES, UnknownUser, UserStore

SECRET = "x" * 32


@pytest.fixture
def values(database: Database) -> PluginValues:
    return PluginValues(database, SecretKeys(SECRET), UserService(SystemClock()))


@pytest.fixture
def store(values: PluginValues) -> UserStore:
    return HostStore("acme", lambda: values)


@pytest.fixture
def user_id(database: Database) -> str:
    with database.write() as connection:
        return UserService(SystemClock()).create(connection, "Alice").id


@pytest.mark.parametrize("value", [{"a": [1, 2.5, None, True]}, "text €\0", 0, False, [], "", 10**30])
def test_json_is_stored_and_read(store: UserStore, user_id: str, value: Any) -> None:
    assert store.get(user_id, "seed") is None
    store.put(user_id, "seed", "former")
    store.put(user_id, "seed", value)
    assert store.get(user_id, "seed") == value
    assert store.keys(user_id) == ["seed"]
    assert store.delete(user_id, "seed")
    assert not store.delete(user_id, "seed")
    assert store.keys(user_id) == []


def test_values_are_of_one_plugin_and_one_user(
    values: PluginValues, store: UserStore, user_id: str, database: Database
) -> None:
    with database.write() as connection:
        other = UserService(SystemClock()).create(connection, "Bob").id
    store.put(user_id, "seed", 1)
    assert store.get(other, "seed") is None
    assert HostStore("bolt", lambda: values).get(user_id, "seed") is None


def test_the_database_has_no_plain_value_and_a_copied_row_is_refused(
    store: UserStore, user_id: str, database: Database, values: PluginValues
) -> None:
    store.put(user_id, "seed", "a plain secret")
    with database.engine.begin() as connection:
        rows = [tuple(row) for row in connection.execute(text("SELECT * FROM plugin_values"))]
        assert "plain" not in json.dumps(rows)
        connection.execute(update(plugin_values).values(key="other"))
    with pytest.raises(ValueError, match="sealed for another purpose"):
        store.get(user_id, "other")
    with pytest.raises(ValueError, match="sealed with another secret"):
        PluginValues(database, SecretKeys("y" * 32), UserService(SystemClock())).get(
            "acme", user_id, "other"
        )


@pytest.mark.parametrize(
    ("expected", "value", "stored", "after"),
    [
        (None, 2, False, 1),
        (1, 2, True, 2),
        (1.0, 2, False, 1),
        (True, 2, False, 1),
        (1, None, True, None),
        (3, None, False, 1),
    ],
)
def test_a_value_is_compared_before_it_is_replaced(
    store: UserStore, user_id: str, expected: Any, value: Any, stored: bool, after: Any
) -> None:
    assert store.compare_and_set(user_id, "count", None, 1)
    assert store.compare_and_set(user_id, "count", expected, value) is stored
    assert store.get(user_id, "count") == after


def test_of_concurrent_writers_with_one_expectation_one_succeeds(store: UserStore, user_id: str) -> None:
    def add_one(_: int) -> None:
        while True:
            found = store.get(user_id, "count")
            if store.compare_and_set(user_id, "count", found, (found or 0) + 1):
                return

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(add_one, range(40)))
    assert store.get(user_id, "count") == 40


def test_values_go_with_their_user(
    store: UserStore, user_id: str, database: Database, values: PluginValues
) -> None:
    store.put(user_id, "seed", 1)
    with database.write() as connection:
        values.deactivate(connection, Deactivation(user_id, DeactivationCause.DELETION))
    assert store.keys(user_id) == []


def test_what_cannot_be_stored_is_refused(store: UserStore, user_id: str) -> None:
    whole = "x" * (MAX_VALUE_BYTES - 2)
    store.put(user_id, "k" * 255, whole)
    assert store.get(user_id, "k" * 255) == whole
    for put in (
        partial(store.put, user_id, "k", whole + "x"),
        partial(store.put, user_id, "k", None),
        partial(store.put, user_id, "", 1),
        partial(store.put, user_id, "k" * 256, 1),
        partial(store.put, user_id, "\0", 1),
        partial(store.compare_and_set, user_id, "", None, 1),
    ):
        with pytest.raises(ValueError, match=r"value|key"):
            put()
    with pytest.raises(UnknownUser):
        store.put("01977ab2-0000-7000-8000-000000000000", "k", 1)
