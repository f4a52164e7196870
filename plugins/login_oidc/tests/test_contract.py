"""The contract of logins by redirect, on a live server."""

import time
from collections.abc import Iterator, Sequence

import pytest

from strongroom.testing.commands import CommandsContract
from strongroom.testing.server import LiveServer
from strongroom_login_oauth.testing import Harness, OAuthLoginContract, contract_server

from .harness import ProviderHarness
from .hostile import HostileProvider, serving


@pytest.fixture(scope="module")
def harness() -> Iterator[Harness]:
    with serving(HostileProvider()) as provider:
        yield ProviderHarness(provider, time.time)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, harness: Harness) -> Iterator[LiveServer]:
    with contract_server(tmp_path_factory.mktemp("server"), harness) as server:
        yield server


class TestLogin(OAuthLoginContract):
    pass


class TestCommands(CommandsContract):
    @pytest.fixture
    def commands(self) -> Sequence[str]:
        return ["oidc"]
