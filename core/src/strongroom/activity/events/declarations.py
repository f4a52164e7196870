"""What declarations of events share: fields, and the data that most audit records have."""

from collections.abc import Iterable, Mapping
from itertools import product
from typing import Any, Final

from strongroom.activity.audit.outcomes import FAILURE, SUCCESS
from strongroom.plugin_api.events import ACTOR, ON_BEHALF_OF, EventField, EventType
from strongroom.web.core_events import Convert, CoreEvent, Data, Outcome, Record

_TEXT: Final[Mapping[str, Any]] = {"type": "string"}
_NULLABLE: Final[Mapping[str, Any]] = {"type": ["string", "null"]}


def text(name: str, description: str, *, required: bool = True) -> EventField:
    """Return a field with a text."""
    return EventField(name, description, _TEXT, required)


def nullable(name: str, description: str) -> EventField:
    """Return a field with a text or null."""
    return EventField(name, description, _NULLABLE)


USER: Final = text("userId", "The user")
TENANT: Final = text("tenantId", "The tenant")
NODE: Final = text("fileId", "The file or folder")


def on(action: str, convert: Convert, outcome: str = SUCCESS) -> tuple[Outcome, Convert]:
    """Return a source: what makes the data of an event from the records of an action."""
    return (action, outcome), convert


def server_event(
    name: str, description: str, fields: tuple[EventField, ...], *sources: tuple[Outcome, Convert]
) -> CoreEvent:
    """Return an event of the server's stream."""
    return CoreEvent(EventType(name, description, fields, is_of_tenant_stream=False), dict(sources))


def audited_event(event_type: EventType, actions: Iterable[str]) -> CoreEvent:
    """Return the event of a plugin, whose fields are details of the records of actions."""
    names = [field.name for field in event_type.fields]

    def convert(record: Record) -> Data:
        return {**details(record, *names), **actor_data(record)}

    sources = product(actions, (SUCCESS, FAILURE))
    return CoreEvent(event_type, dict.fromkeys(sources, convert))


def actor_data(record: Record) -> Data:
    """Return the members with the users who acted."""
    return acting_data(record.actor_id, record.details.get(ON_BEHALF_OF.name))


def acting_data(actor_id: str | None, on_behalf_of: str | None) -> Data:
    """Return the member ``actor`` and, of an action during an impersonation, ``onBehalfOf``."""
    data: Data = {ACTOR.name: actor_id and {"$ref": actor_id}}
    return {**data, ON_BEHALF_OF.name: {"$ref": on_behalf_of}} if on_behalf_of else data


def user_data(record: Record) -> Data:
    """Return the data of an event about a user: the target."""
    return {"userId": record.target_id, **actor_data(record)}


def tenant_data(record: Record) -> Data:
    """Return the data of an event about a tenant: the target."""
    return {"tenantId": record.target_id, **actor_data(record)}


def details(record: Record, *names: str) -> Data:
    """Return the named details that are present in the record."""
    return {name: record.details[name] for name in names if name in record.details}
