"""The contract about malformed answers of the platform, for a mini program."""

from collections.abc import Iterator

import pytest
from tests.support.wechat import wechat

from strongroom_login_oauth.testing import (
    LiveAnswersContract,
    PlatformHarness,
    ProviderAnswersContract,
    SpoiledServer,
    spoiled_server,
)

from .harness import MiniProgramHarness


@pytest.fixture(scope="module")
def harness() -> Iterator[PlatformHarness]:
    with wechat() as platform:
        platform.join_account("site")
        yield MiniProgramHarness(platform)


@pytest.fixture(scope="module")
def spoiled(
    tmp_path_factory: pytest.TempPathFactory, harness: PlatformHarness, shared_database_url: str
) -> Iterator[SpoiledServer]:
    folder = tmp_path_factory.mktemp("spoiled")
    with spoiled_server(folder, harness, database_url=shared_database_url) as spoiled:
        yield spoiled


class TestAnswers(ProviderAnswersContract):
    pass


class TestLiveAnswers(LiveAnswersContract):
    pass
