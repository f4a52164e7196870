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
"""

from strongroom_login_oauth.testing.answers import ProviderAnswersContract
from strongroom_login_oauth.testing.contract import OAuthLoginContract, contract_server
from strongroom_login_oauth.testing.harness import (
    MEMBER,
    OTHER,
    OUTSIDER,
    Harness,
    Through,
    attempt_of,
    make_login,
    new_proof,
)

__all__ = [
    "MEMBER",
    "OTHER",
    "OUTSIDER",
    "Harness",
    "OAuthLoginContract",
    "ProviderAnswersContract",
    "Through",
    "attempt_of",
    "contract_server",
    "make_login",
    "new_proof",
]
