"""The contract of logins by redirect holds for a plugin of a few lines."""

from collections.abc import Iterator

import pytest
from tests.support.live_answers import LiveAnswersOnEachDatabase

from strongroom.testing.server import LiveServer
from strongroom_login_oauth.testing import (
    Harness,
    OAuthLoginContract,
    ProviderAnswersContract,
    contract_server,
)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, harness: Harness) -> Iterator[LiveServer]:
    with contract_server(tmp_path_factory.mktemp("server"), harness) as server:
        yield server


class TestLogin(OAuthLoginContract):
    pass


class TestAnswers(ProviderAnswersContract):
    pass


class TestLiveAnswers(LiveAnswersOnEachDatabase):
    pass
