"""Runs the contract tests of options, tables, routes and commands."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlencode

import pytest

from strongroom.plugin_api.events import Event, EventSubscriber
from strongroom.testing.audit import AuditSentencesContract
from strongroom.testing.commands import CommandsContract
from strongroom.testing.discovery import DiscoveryContract
from strongroom.testing.events import EventSubscriberContract, sample_event
from strongroom.testing.exports import UserExportsContract
from strongroom.testing.pages import ConsoleSectionsContract, PageBrandsContract, SessionPagesContract
from strongroom.testing.resources import ResourceKindsContract
from strongroom.testing.routes import RoutesContract
from strongroom.testing.server import LiveServer, live_server
from strongroom.testing.signing import TokenTypesContract
from strongroom.testing.state import (
    DeactivationsContract,
    LifeCycleContract,
    OpenedPlugin,
    OptionsContract,
    PruneStepsContract,
    TablesContract,
    opened_plugin,
)
from strongroom.testing.wsgi import WsgiApplicationContract
from strongroom_oidc_provider.plugin import register_event_subscribers


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[OpenedPlugin]:
    with opened_plugin(tmp_path, "oidc_provider") as opened:
        yield opened


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveServer]:
    with live_server(
        tmp_path_factory.mktemp("server"), plugins=["login_pages", "console", "oidc_provider"]
    ) as server:
        yield server


class TestOptions(OptionsContract):
    """The options."""


class TestTables(TablesContract):
    """The tables."""


class TestPruneSteps(PruneStepsContract):
    """What expires."""


class TestDeactivations(DeactivationsContract):
    """What ends with users."""


class TestLifeCycle(LifeCycleContract):
    """The thread that sends logouts."""


class TestLogoutSubscriber(EventSubscriberContract):
    """The logouts that clients learn of."""

    @pytest.fixture
    def subscriber(self, opened: OpenedPlugin) -> EventSubscriber:
        (subscriber,) = register_event_subscribers(opened.host)
        return subscriber

    def make_events(self, subscriber: EventSubscriber) -> list[Event]:
        return [replace(sample_event(), type=name) for name in subscriber.types]


class TestUserExports(UserExportsContract):
    """The file of archives."""


class TestDiscovery(DiscoveryContract):
    """The documents about the provider."""


class TestTokenTypes(TokenTypesContract):
    """The ID tokens."""


class TestConsentsPage(SessionPagesContract):
    """The page of the consents."""

    @pytest.fixture
    def path(self) -> str:
        return "/oauth2/consents"


class TestClientRoutes(RoutesContract):
    """The routes of clients."""

    @pytest.fixture
    def tag(self) -> str:
        return "clients"


class TestConsentRoutes(RoutesContract):
    """The routes of consents."""

    @pytest.fixture
    def tag(self) -> str:
        return "consents"


class TestProtocolRoutes(RoutesContract):
    """The routes of the protocol."""

    @pytest.fixture
    def tag(self) -> str:
        return "oidc"


class TestResourceKinds(ResourceKindsContract):
    """What a file declares."""

    @pytest.fixture
    def declaration(self) -> str:
        return """
[[serviceAccounts]]
name = "nightly"

[[tenants]]
name = "Declared"

[[clients]]
name = "Declared robot"
serviceAccountId = "nightly"

[[clients]]
name = "Declared shop"
redirectUris = ["https://shop.example.com/callback"]

[[clients.claims]]
name = "teams"
source = "groups"
tenants = ["Declared"]
"""


class TestCommands(CommandsContract):
    """The commands."""

    @pytest.fixture
    def commands(self) -> Sequence[str]:
        return ["clients"]


class TestBrands(PageBrandsContract):
    @pytest.fixture
    def name(self) -> str:
        return "Wiki of Contract"

    @pytest.fixture
    def path(self, server: LiveServer, name: str) -> str:
        uri = "https://wiki.example.com/callback"
        body = {"name": name, "redirectUris": [uri], "accent": "#0b7f62"}
        created = server.succeed("POST", "/api/v1/clients", by=server.user(admin=True), json_body=body)
        query = {
            "response_type": "code",
            "client_id": created["id"],
            "redirect_uri": uri,
            "scope": "openid",
            "code_challenge": "x" * 43,
            "code_challenge_method": "S256",
        }
        return f"/oauth2/authorize?{urlencode(query)}"


class TestApplication(WsgiApplicationContract):
    private = False  # without a session, a browser is led to the login page

    @pytest.fixture
    def prefix(self) -> str:
        return "/applications"


class TestClientPages(ConsoleSectionsContract):
    @pytest.fixture
    def path(self) -> str:
        return "/applications/"


class TestAuditSentences(AuditSentencesContract):
    """What people read about audit records."""
