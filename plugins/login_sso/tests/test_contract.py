"""Runs the contract tests of options, tables, jobs, conditions, erasers and routes."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from strongroom.plugin_api.events import EventSubscriber
from strongroom.testing.audit import AuditSentencesContract
from strongroom.testing.events import EventSubscriberContract
from strongroom.testing.pages import SpaceSectionsContract
from strongroom.testing.routes import RoutesContract
from strongroom.testing.server import LiveServer, live_server
from strongroom.testing.state import (
    AddressOwnersContract,
    DeactivationsContract,
    JobsContract,
    LoginConditionsContract,
    OpenedPlugin,
    OptionsContract,
    TablesContract,
    TenantErasersContract,
    opened_plugin,
)
from strongroom.testing.wsgi import WsgiApplicationContract
from strongroom_login_sso.plugin import register_event_subscribers

SETTINGS: Final[dict[str, Any]] = {"login": {"methods": ["password", "sso"]}}


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[OpenedPlugin]:
    with opened_plugin(tmp_path, "login_sso", settings=SETTINGS) as opened:
        yield opened


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveServer]:
    folder = tmp_path_factory.mktemp("server")
    with live_server(folder, config=SETTINGS, plugins=["login_sso", "login_pages", "console"]) as server:
        yield server


class TestOptions(OptionsContract):
    """The options."""


class TestTables(TablesContract):
    """The tables."""


class TestJobs(JobsContract):
    """The check of domains."""


class TestConditions(LoginConditionsContract):
    """What is demanded of logins."""


class TestAddressOwners(AddressOwnersContract):
    """The tenants of addresses."""


class TestDeactivations(DeactivationsContract):
    """What ends with users and memberships."""


class TestSubscriber(EventSubscriberContract):
    """What a new membership ends."""

    @pytest.fixture
    def subscriber(self, opened: OpenedPlugin) -> EventSubscriber:
        (subscriber,) = register_event_subscribers(opened.host)
        return subscriber


class TestTenantErasers(TenantErasersContract):
    """What ends with tenants."""


class TestRoutes(RoutesContract):
    """The routes of administrators of tenants."""

    @pytest.fixture
    def tag(self) -> str:
        return "single-sign-on"


class TestPage(SpaceSectionsContract):
    """The page of single sign-on of a space."""

    @pytest.fixture
    def path(self) -> str:
        return "/single-sign-on/{tenant}/"


class TestApplication(WsgiApplicationContract):
    """The application of the pages."""

    private = False  # without a session, a browser is led to the login page

    @pytest.fixture
    def prefix(self) -> str:
        return "/single-sign-on"


class TestAuditSentences(AuditSentencesContract):
    """What people read about audit records."""
