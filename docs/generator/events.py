"""Generates the page of the types of events."""

from collections.abc import Iterator

from generator.prose import required
from strongroom.assembly.features import core_events
from strongroom.plugin_api.events import EventField, EventType

EVENTS = """\
# Events

Each event is written in the transaction of the change that it describes. Plugins
[receive events](../tutorials/events.md), and clients [follow the changes](../guides/changes.md) of a
tenant's files. `strongroom events tail` prints events, and `strongroom events schemas` prints the JSON
Schemas of this page.

An event as JSON, as sinks pass it on:

```json
{"type": "user.updated", "timestamp": "2026-11-22T09:00:00.000Z", "data": {"userId": "0199…"}}
```

It has no secrets and no addresses. New types and new members of the data may be added, so ignore unknown
ones.
"""

STREAMS = {
    True: "\n## Streams of tenants\n\nThe changes of the files of each tenant, in their order.\n",
    False: "\n## The stream of the server\n\nAll other events, in the order of the audit log.\n",
}


def events_page() -> Iterator[str]:
    """Yield the pieces of the page of the types of events."""
    yield EVENTS
    for of_tenant, heading in STREAMS.items():
        yield heading
        for event_type in core_events().types.values():
            if event_type.is_of_tenant_stream is of_tenant:
                yield from _described(event_type)


def _described(event_type: EventType) -> Iterator[str]:
    description = required(event_type.description, f"the event {event_type.name}")
    yield f"\n### `{event_type.name}`\n\n{description}\n\n| member | type | meaning |\n|---|---|---|\n"
    for field in event_type.fields:
        yield f"| `{field.name}` | {_type(field)} | {field.description} |\n"


def _type(field: EventField) -> str:
    types = field.schema["type"]
    names = [types] if isinstance(types, str) else types
    if "$ref" in field.schema.get("properties", {}):
        names = ['`{"$ref": id}`', *names[1:]]
    return " or ".join(names) + ("" if field.is_required else ", optional")
