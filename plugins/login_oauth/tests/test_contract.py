"""The contract of logins by redirect holds for a plugin of a few lines."""

from collections.abc import Iterator

import pytest

from strongroom.testing.server import LiveServer
from strongroom_login_oauth.testing import (
    Harness,
    LiveAnswersContract,
    OAuthLoginContract,
    ProviderAnswersContract,
    SpoiledServer,
    contract_server,
    spoiled_server,
)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, harness: Harness) -> Iterator[LiveServer]:
    with contract_server(tmp_path_factory.mktemp("server"), harness) as server:
        yield server


@pytest.fixture(scope="module")
def spoiled(
    tmp_path_factory: pytest.TempPathFactory, harness: Harness, shared_database_url: str
) -> Iterator[SpoiledServer]:
    folder = tmp_path_factory.mktemp("spoiled")
    with spoiled_server(folder, harness, database_url=shared_database_url) as spoiled:
        yield spoiled


class TestLogin(OAuthLoginContract):
    pass


class TestAnswers(ProviderAnswersContract):
    pass


class TestLiveAnswers(LiveAnswersContract):
    pass
