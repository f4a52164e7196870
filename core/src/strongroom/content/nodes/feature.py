"""Changes of files and folders: the events of the tenants' streams."""

from collections.abc import Iterable
from typing import ClassVar, Final

from strongroom.activity.audit.outcomes import SUCCESS
from strongroom.activity.events.declarations import NODE, nullable, text
from strongroom.content.nodes.removals import PURGE, PURGE_VERSION, UPDATE_VERSION
from strongroom.plugin_api.events import ACTOR, EventField, EventType
from strongroom.web.core_events import CoreEvent
from strongroom.web.feature import Feature

_NUMBER: Final = {"type": "integer"}
_FIELDS: Final = (
    NODE,
    nullable("parentId", "Its folder after the event, or null at the top level"),
    text("name", "Its name after the event"),
    EventField("revision", "Its revision after the event", _NUMBER),
    EventField("size", "Its size in bytes, 0 for a folder", _NUMBER),
    ACTOR,
    EventField(
        "plugin",
        "The plugin that used the rights of the actor for another person, such as a visitor of a share",
        {"type": "string"},
        is_required=False,
    ),
)
_PREVIOUS: Final = nullable(
    "previousParentId", "The folder that it was moved from, or null for the top level"
)


class NodesFeature(Feature):
    """What a change of a file or folder does."""

    services = "services:NodeServices"
    silent_actions: ClassVar = {
        (PURGE, SUCCESS): "the stream of the tenant has `file.purged` or `file.deleted`",
        (PURGE_VERSION, SUCCESS): "the stream of the tenant has `file.version_purged`",
        (UPDATE_VERSION, SUCCESS): "the stream of the tenant has `file.version_changed`",
    }

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
            _event(
                "file.version_purged",
                "A user removed a version of a file permanently. The size is the version's.",
            ),
            _event(
                "file.version_changed",
                "The label of a version of a file, or whether it is kept, was changed. The size is that "
                "of the version.",
            ),
        ]


def _event(name: str, description: str, *more: EventField) -> CoreEvent:
    return CoreEvent(EventType(name, description, (*_FIELDS, *more), is_of_tenant_stream=True), {})
