"""The contract about malformed answers on a live server."""

import time
from collections.abc import Iterator

import pytest

from strongroom_login_oauth.testing import (
    Harness,
    LiveAnswersContract,
    SpoiledServer,
    spoiled_server,
)

from .harness import ProviderHarness
from .hostile import HostileProvider, serving


@pytest.fixture(scope="module")
def harness() -> Iterator[Harness]:
    with serving(HostileProvider()) as provider:
        yield ProviderHarness(provider, time.time)


@pytest.fixture(scope="module")
def spoiled(
    tmp_path_factory: pytest.TempPathFactory, harness: Harness, shared_database_url: str
) -> Iterator[SpoiledServer]:
    folder = tmp_path_factory.mktemp("spoiled")
    with spoiled_server(folder, harness, database_url=shared_database_url) as spoiled:
        yield spoiled


class TestLiveAnswers(LiveAnswersContract):
    pass
