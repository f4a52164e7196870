"""Changes of files and folders: the events of the tenants' streams."""

from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import Final

from strongroom.activity.events.declarations import NODE, nullable, text
from strongroom.content.nodes.access import AccessControl
from strongroom.content.nodes.events import FileEvents
from strongroom.content.nodes.removal_guard import held_bytes
from strongroom.content.nodes.retention_clock import RetentionClock
from strongroom.content.nodes.trash import trash_bytes
from strongroom.content.nodes.versions import version_bytes
from strongroom.content.nodes.visibility import Visibility
from strongroom.content.tenants.groups import GroupMemberships
from strongroom.content.tenants.service import TenantService
from strongroom.identity.access_keys.service import AccessKeyService
from strongroom.plugin_api.events import ACTOR, EventField, EventType
from strongroom.plugin_api.jobs import Job
from strongroom.web.feature import CoreEvent, Feature, PruneStep, ServiceLookup, TenantEraser

_NUMBER: Final = {"type": "integer"}
_FIELDS: Final = (
    NODE,
    nullable("parentId", "Its folder after the event, or null at the top level"),
    text("name", "Its name after the event"),
    EventField("revision", "Its revision after the event", _NUMBER),
    EventField("size", "Its size in bytes, 0 for a folder", _NUMBER),
    ACTOR,
)
_PREVIOUS: Final = nullable(
    "previousParentId", "The folder that it was moved from, or null for the top level"
)


class NodesFeature(Feature):
    """What a change of a file or folder does."""

    services = "services:NodeServices"

    def connect(self, services: ServiceLookup) -> None:
        services(AccessKeyService).check_targets(services(AccessControl).require_key_target)
        services(GroupMemberships).observe(services(Visibility))
        services(TenantService).measure(
            trash_bytes=trash_bytes, version_bytes=version_bytes, held_bytes=held_bytes
        )

    def register_event_types(self) -> Iterable[CoreEvent]:
        return [
            _event("folder.created", "A folder was created."),
            _event("file.created", "A file was uploaded."),
            _event("file.replaced", "The content of a file was replaced."),
            _event("file.renamed", "A file or folder was renamed."),
            _event("file.moved", "A file or folder was moved, and perhaps renamed.", _PREVIOUS),
            _event(
                "file.deleted",
                "A file, or a folder with its content, was deleted, perhaps to the trash.",
            ),
            _event("file.restored", "A file, or a folder with its content, came back from the trash."),
            _event(
                "file.purged",
                "The permanent removal from the trash began. The actor of a scheduled removal is the "
                "user who deleted the file or folder.",
            ),
        ]

    def register_jobs(self, services: ServiceLookup) -> Iterable[Job]:
        clock = services(RetentionClock)
        return [Job("advance_retention_clock", timedelta(minutes=1), lambda _: clock.tick())]

    def register_prune_steps(self, services: ServiceLookup) -> Mapping[str, PruneStep]:
        return {"file events": services(FileEvents).prune}

    def register_tenant_erasers(self, services: ServiceLookup) -> Iterable[TenantEraser]:
        return [services(FileEvents).remove_all]


def _event(name: str, description: str, *more: EventField) -> CoreEvent:
    return CoreEvent(EventType(name, description, (*_FIELDS, *more), is_of_tenant_stream=True), {})
