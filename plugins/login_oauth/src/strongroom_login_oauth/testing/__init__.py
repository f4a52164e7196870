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

The people of the platform with contacts, and the plugin with the services of a server::

    @pytest.fixture(scope="module")
    def contacts(harness: Harness) -> PlatformContacts:
        return AcmeContacts(harness)

    @pytest.fixture(scope="module")
    def opened(
        tmp_path_factory: pytest.TempPathFactory, contacts: PlatformContacts
    ) -> Iterator[OpenedPlugin]:
        with opened_platform(tmp_path_factory.mktemp("opened"), contacts) as opened:
            yield opened

    class TestContacts(ContactsContract):
        pass
"""

from strongroom_login_oauth.testing.answers import ProviderAnswersContract
from strongroom_login_oauth.testing.contacts import (
    MAIN,
    PROVEN,
    TRUSTED,
    TRUSTING,
    UNPROVEN,
    ContactsContract,
    OAuthContacts,
    PlatformContacts,
    make_email,
    make_mobile,
    opened_platform,
)
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
    "MAIN",
    "MEMBER",
    "OTHER",
    "OUTSIDER",
    "PROVEN",
    "TRUSTED",
    "TRUSTING",
    "UNPROVEN",
    "ContactsContract",
    "Harness",
    "LiveAnswersContract",
    "OAuthContacts",
    "OAuthLoginContract",
    "PlatformContacts",
    "PlatformHarness",
    "ProviderAnswersContract",
    "SpoiledServer",
    "Through",
    "attempt_of",
    "contract_server",
    "make_email",
    "make_login",
    "make_mobile",
    "new_proof",
    "opened_platform",
    "spoiled_server",
]
