"""The contract of logins by redirect, with presets against their simulated platforms."""

from collections.abc import Iterator

import pytest

from strongroom.testing.server import LiveServer
from strongroom_login_oauth.testing import (
    Harness,
    OAuthLoginContract,
    ProviderAnswersContract,
    contract_server,
)

from .preset_harness import preset_harness


@pytest.fixture(scope="module", params=["github", "qq"])
def harness(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Harness]:
    with preset_harness(request.param, tmp_path_factory.mktemp("keys")) as harness:
        yield harness


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, harness: Harness) -> Iterator[LiveServer]:
    with contract_server(tmp_path_factory.mktemp("server"), harness) as server:
        yield server


@pytest.mark.extended
class TestLogin(OAuthLoginContract):
    pass


class TestAnswers(ProviderAnswersContract):
    @pytest.fixture(autouse=True)
    def leave_out_numbers(self, request: pytest.FixtureRequest) -> None:
        if "github-members that are numbers" in request.node.name:
            pytest.skip("ids of GitHub are numbers, so another number is another person")
