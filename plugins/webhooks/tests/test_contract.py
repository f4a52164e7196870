"""Runs the contract tests of options, tables, routes, commands, events and the life cycle."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from sqlalchemy import insert, select

from strongroom.testing.audit import AuditSentencesContract
from strongroom.testing.commands import CommandsContract
from strongroom.testing.events import EventSinkContract, Received
from strongroom.testing.metrics import MetricsContract
from strongroom.testing.resources import ResourceKindsContract
from strongroom.testing.routes import RoutesContract
from strongroom.testing.server import LiveServer, live_server
from strongroom.testing.state import (
    LifeCycleContract,
    OpenedPlugin,
    OptionsContract,
    PruneStepsContract,
    TablesContract,
    TenantErasersContract,
    opened_plugin,
)
from strongroom_webhooks.models import Status, deliveries, endpoints, metadata
from strongroom_webhooks.service import Webhooks
from strongroom_webhooks.sink import WebhookSink

ENDPOINT = {
    "id": "every-event",
    "owner_id": "an-administrator",
    "url": "https://receiver.example/",
    "description": "",
    "event_types": "*",
    "ordered": True,
    "signing_keys": "",
    "status": Status.ENABLED,
    "revision": 1,
    "created_at": 0,
    "updated_at": 0,
    "last_position": 0,
}
"""An endpoint of the server, which gets every event."""


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[OpenedPlugin]:
    with opened_plugin(tmp_path, "webhooks") as opened:
        yield opened


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveServer]:
    with live_server(tmp_path_factory.mktemp("server"), plugins=["webhooks"]) as server:
        yield server


class TestOptions(OptionsContract):
    """The options."""


class TestTables(TablesContract):
    """The tables."""


class TestPruneSteps(PruneStepsContract):
    """What expires."""


class TestTenantErasers(TenantErasersContract):
    """What goes with tenants."""


class TestMetrics(MetricsContract):
    """The metrics."""


class TestLifeCycle(LifeCycleContract):
    """The start and the stop."""


class TestRoutes(RoutesContract):
    """The routes."""

    @pytest.fixture
    def tag(self) -> str:
        return "webhooks"


class TestResourceKinds(ResourceKindsContract):
    """What a file declares."""

    @pytest.fixture
    def declaration(self) -> str:
        return """
[[webhooks]]
url = "https://hooks.example.com/all"
eventTypes = ["user.*"]
status = "disabled"

[[tenants]]
name = "Hooked"

[[tenants.webhooks]]
url = "https://hooks.example.com/tenant"
eventTypes = ["file.*"]
"""


class TestCommands(CommandsContract):
    """The commands."""

    @pytest.fixture
    def commands(self) -> Sequence[str]:
        return ["webhooks"]


class TestSink(EventSinkContract):
    """The queue, as the sink of events."""

    @pytest.fixture
    def sink(self, opened: OpenedPlugin) -> WebhookSink:
        with opened.host.database.write() as transaction:
            transaction.execute(insert(endpoints), [ENDPOINT])
        return WebhookSink(Webhooks(opened.host))

    @pytest.fixture
    def unavailable_sink(self, opened: OpenedPlugin) -> WebhookSink:
        metadata.drop_all(opened.services.database.engine)
        return WebhookSink(Webhooks(opened.host))

    @pytest.fixture
    def received(self, opened: OpenedPlugin) -> Received:
        def read() -> list[str]:
            with opened.host.database.read() as transaction:
                return transaction.scalars(select(deliveries.c.event_id).order_by(deliveries.c.position))

        return read


class TestAuditSentences(AuditSentencesContract):
    """What people read about audit records."""
