"""Contract tests for plugins that derive from ``strongroom_login_oauth``.

A plugin's tests provide a harness of its simulated platform::

    @pytest.fixture(scope="module")
    def harness() -> Iterator[Harness]:
        with running_acme() as platform:
            yield AcmeHarness(platform)

    @pytest.fixture(scope="module")
    def server(tmp_path_factory: pytest.TempPathFactory, harness: Harness) -> Iterator[LiveServer]:
        with contract_server(tmp_path_factory.mktemp("server"), harness) as server:
            yield server

    class TestAcme(OAuthLoginContract):
        pass

    class TestAnswers(ProviderAnswersContract):
        pass

The same answers on a live server, with the database of a fixture of the plugin::

    @pytest.fixture(scope="module")
    def spoiled(tmp_path_factory: pytest.TempPathFactory, harness: Harness) -> Iterator[SpoiledServer]:
        with spoiled_server(tmp_path_factory.mktemp("spoiled"), harness) as spoiled:
            yield spoiled

    class TestLiveAnswers(LiveAnswersContract):
        pass
"""

from strongroom_login_oauth.testing.answers import ProviderAnswersContract
from strongroom_login_oauth.testing.contract import OAuthLoginContract, contract_server
from strongroom_login_oauth.testing.harness import (
    MEMBER,
    OTHER,
    OUTSIDER,
    Harness,
    PlatformHarness,
    Through,
    attempt_of,
    make_login,
    new_proof,
)
from strongroom_login_oauth.testing.live_answers import (
    LiveAnswersContract,
    SpoiledServer,
    spoiled_server,
)

__all__ = [
    "MEMBER",
    "OTHER",
    "OUTSIDER",
    "Harness",
    "LiveAnswersContract",
    "OAuthLoginContract",
    "PlatformHarness",
    "ProviderAnswersContract",
    "SpoiledServer",
    "Through",
    "attempt_of",
    "contract_server",
    "make_login",
    "new_proof",
    "spoiled_server",
]
