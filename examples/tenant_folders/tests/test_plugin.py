"""Run the subscriber with a host that records folders; the tests of Strongroom run it in a server."""

from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import pytest
from strongroom_tenant_folders import plugin

from strongroom.plugin_api.events import SERVER, Event, EventSubscriber
from strongroom.plugin_api.web import ApiError, ErrorKind
from strongroom.testing.events import EventSubscriberContract

CONFLICT = ErrorKind(409, "error.name-conflict", "The name is taken.")
AWAY = ErrorKind(503, "error.unavailable", "The database is unavailable.")


class Files:
    """Folders of tenants."""

    def __init__(self) -> None:
        self.created: list[str] = []
        self.fault: ErrorKind | None = None

    def create_folder(self, tenant_id: str, parent_id: str | None, name: str) -> None:
        assert (tenant_id, parent_id) == ("tenant", None)
        if self.fault is not None:
            raise ApiError(self.fault)
        if name in self.created:
            raise ApiError(CONFLICT)
        self.created.append(name)


@pytest.fixture
def files() -> Files:
    return Files()


def subscriber_of(files: Files) -> EventSubscriber:
    host: Any = SimpleNamespace(
        files=files,
        options=plugin.TenantFoldersOptions(("One", "Two")),
        acting_as=lambda _user_id: nullcontext(),
    )
    (subscriber,) = plugin.register_event_subscribers(host)
    return subscriber


def created() -> Event:
    data = {"tenantId": "tenant", "actor": {"$ref": "user"}}
    return Event("server-1", "tenant.created", SERVER, 1, "tenant", "tenant", 0, data)


class TestSubscriber(EventSubscriberContract):
    @pytest.fixture
    def subscriber(self, files: Files) -> EventSubscriber:
        return subscriber_of(files)

    def make_events(self, _subscriber: EventSubscriber) -> list[Event]:
        return [created()]


def test_each_folder_is_created_once(files: Files) -> None:
    handler = subscriber_of(files).handler
    handler(created())
    handler(created())
    assert files.created == ["One", "Two"]


def test_other_errors_lead_to_another_delivery(files: Files) -> None:
    files.fault = AWAY
    with pytest.raises(ApiError):
        subscriber_of(files).handler(created())
