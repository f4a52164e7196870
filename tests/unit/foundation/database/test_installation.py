"""A database has an id of its own, and knows which secret key it was filled with."""

from pathlib import Path
from uuid import UUID

import pytest

from strongroom.foundation.database import Database
from strongroom.foundation.database.installation import (
    accept_secret,
    adopt_secret,
    database_id,
    installation,
)
from strongroom.foundation.database.upgrade import upgrade
from strongroom.foundation.secret_keys import SecretKeys


def new_database(path: Path) -> Database:
    database = Database(f"sqlite:///{path}")
    upgrade(database.engine)
    return database


def test_an_upgrade_gives_a_database_an_id_that_stays(tmp_path: Path) -> None:
    first, second = (new_database(tmp_path / f"{name}.sqlite3") for name in "ab")
    found = database_id(first)
    assert str(UUID(found)) == found
    upgrade(first.engine)
    assert database_id(first) == found
    assert database_id(second) != found
    first.close()
    second.close()


def test_a_database_without_an_id_gets_one_when_it_is_read(database_url: str) -> None:
    database = Database(database_url)
    with database.write() as connection:
        connection.execute(installation.delete())
    found = database_id(database)
    assert database_id(database) == found != ""
    database.close()


def test_a_database_accepts_its_first_secret_key_alone(database_url: str) -> None:
    database = Database(database_url)
    first, other = (SecretKeys(letter * 32).fingerprint for letter in "ab")
    assert accept_secret(database, first)
    assert accept_secret(database, first)
    assert not accept_secret(database, other)
    adopt_secret(database, other)
    assert accept_secret(database, other)
    assert not accept_secret(database, first)
    database.close()


@pytest.mark.parametrize("secret", ["x" * 32, "0123456789" * 4])
def test_a_fingerprint_does_not_contain_the_secret(secret: str) -> None:
    fingerprint = SecretKeys(secret).fingerprint
    assert len(fingerprint) == 64
    assert secret not in fingerprint
