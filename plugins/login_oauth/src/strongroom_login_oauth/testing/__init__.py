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

The same answers on a live server::

    class TestLiveAnswers(LiveAnswersContract):
        pass

The people of the platform with contacts::

    @pytest.fixture(scope="module")
    def contacts(harness: Harness) -> PlatformContacts:
        return AcmeContacts(harness)

    class TestContacts(ContactsContract):
        pass
"""

from strongroom_login_oauth.testing.answers import ProviderAnswersContract
from strongroom_login_oauth.testing.contacts import (
    MAIN,
    PROVEN,
    STATES,
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
from strongroom_login_oauth.testing.contract import (
    OAuthLoginContract,
    RedirectLoginContract,
    contract_server,
)
from strongroom_login_oauth.testing.harness import (
    MEMBER,
    OTHER,
    OUTSIDER,
    Harness,
    PlatformHarness,
    Through,
    make_attempt,
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
    "STATES",
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
    "RedirectLoginContract",
    "SpoiledServer",
    "Through",
    "contract_server",
    "make_attempt",
    "make_email",
    "make_login",
    "make_mobile",
    "new_proof",
    "opened_platform",
    "spoiled_server",
]
