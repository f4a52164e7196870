"""Runs the contract tests of options, tables, jobs, events and routes."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from strongroom.plugin_api.events import Event, EventSubscriber
from strongroom.testing.audit import AuditSentencesContract
from strongroom.testing.events import EventSubscriberContract, EventTypesContract, sample_event
from strongroom.testing.exports import UserExportsContract
from strongroom.testing.resources import ResourceKindsContract
from strongroom.testing.routes import RoutesContract
from strongroom.testing.server import LiveServer, live_server
from strongroom.testing.state import (
    DeactivationsContract,
    FileErasersContract,
    JobsContract,
    OpenedPlugin,
    OptionsContract,
    PruneStepsContract,
    TablesContract,
    TenantErasersContract,
    opened_plugin,
)
from strongroom_share_links.plugin import register_event_subscribers


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[OpenedPlugin]:
    with opened_plugin(tmp_path, "share_links") as opened:
        yield opened


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveServer]:
    folder = tmp_path_factory.mktemp("server")
    with live_server(folder, plugins=["share_links"]) as server:
        yield server


class TestResourceKinds(ResourceKindsContract):
    """What a file declares."""

    @pytest.fixture
    def declaration(self) -> str:
        return """
[[tenants]]
name = "Strict"
shareRules = { maxLifetimeDays = 400, password = "required" }
"""


class TestOptions(OptionsContract):
    """The options."""


class TestTables(TablesContract):
    """The tables."""


class TestJobs(JobsContract):
    """The jobs."""


class TestDeactivations(DeactivationsContract):
    """What ends with users."""


@pytest.mark.parametrize("number", [0, 1])
class TestSubscribers(EventSubscriberContract):
    """What ends with tenants, and what came back from the trash."""

    @pytest.fixture
    def subscriber(self, opened: OpenedPlugin, number: int) -> EventSubscriber:
        return register_event_subscribers(opened.host)[number]

    def make_events(self, subscriber: EventSubscriber) -> list[Event]:
        return [replace(sample_event(), type=name) for name in subscriber.types]


class TestFileErasers(FileErasersContract):
    """What goes with files."""


class TestTenantErasers(TenantErasersContract):
    """What goes with tenants."""


class TestPruneSteps(PruneStepsContract):
    """What expires."""


class TestEventTypes(EventTypesContract):
    """The types of events."""


class TestUserExports(UserExportsContract):
    """The files of archives."""


class TestMakerRoutes(RoutesContract):
    """The routes of makers."""

    @pytest.fixture
    def tag(self) -> str:
        return "shares"


class TestVisitorRoutes(RoutesContract):
    """The routes of visitors."""

    @pytest.fixture
    def tag(self) -> str:
        return "visits"


class TestVisitorUploads(RoutesContract):
    """The routes of resumable uploads."""

    @pytest.fixture
    def tag(self) -> str:
        return "visitor-uploads"


class TestAuditSentences(AuditSentencesContract):
    """What people read about audit records."""
