"""The contract about malformed answers of platforms on a live server, with each kind of database."""

import pytest

from strongroom_login_oauth.testing import LiveAnswersContract


class LiveAnswersOnEachDatabase(LiveAnswersContract):
    """Runs the contract on SQLite and on PostgreSQL."""

    @pytest.fixture(scope="class")
    @classmethod
    def answers_database_url(cls, shared_database_url: str) -> str:
        return shared_database_url
