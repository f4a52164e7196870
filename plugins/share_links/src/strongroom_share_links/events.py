"""The events of shares. What visitors drop has the events of files."""

from collections.abc import Mapping
from typing import Any, Final

from strongroom.plugin_api.events import ACTOR, AuditedEvent, EventField, EventType

_TEXT: Final[Mapping[str, Any]] = {"type": "string"}

_FIELDS: Final = (
    EventField("shareId", "The share", _TEXT),
    EventField("tenantId", "The tenant", _TEXT),
    EventField("fileId", "The file or folder", _TEXT),
    EventField("kind", "`read`, `preview`, `drop` or `write`", _TEXT),
    EventField("hasPassword", "Whether it has a password", {"type": "boolean"}),
    ACTOR,
)


def _of(action: str, name: str, description: str) -> AuditedEvent:
    return AuditedEvent(action, EventType(name, description, _FIELDS, is_of_tenant_stream=False))


EVENTS: Final = (
    _of("create", "share.created", "A file or folder was shared by a link."),
    _of("update", "share.updated", "A share was changed."),
    _of("delete", "share.deleted", "A share was deleted."),
)
