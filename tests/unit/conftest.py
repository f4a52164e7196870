"""Fixtures of unit tests."""

from collections.abc import Iterator

import pytest

from strongroom.foundation.database import Database


@pytest.fixture
def database(database_url: str) -> Iterator[Database]:
    """An empty database; a test runs on each kind."""
    database = Database(database_url)
    yield database
    database.close()
