"""Renders nodes as JSON without the schemas, byte for byte like the ordinary routes."""

import json
from collections.abc import Iterable, Sequence
from typing import Final

from strongroom.clock import iso_format
from strongroom.files.access import NodeView
from strongroom.files.serializers import Json, serialize_node
from strongroom.web.fast_path import PlainAnswer

# The same options as Flask's JSON provider in the composition root.
_encode: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode

_OK: Final = "200 OK"


def rendered(view: NodeView) -> str:
    """Return a node as JSON. The result depends only on the arguments and may be cached."""
    shown = serialize_node(view)
    shown["createdAt"] = iso_format(shown["createdAt"])
    shown["updatedAt"] = iso_format(shown["updatedAt"])
    return _encode(shown)


def as_list(content: Json, records: Iterable[str]) -> PlainAnswer:
    """Return a JSON response: the document with the records inserted into its empty ``data`` array."""
    before, data, after = _encode(content).partition('"data":[')
    return as_json(f"{before}{data}{','.join(records)}{after}")


def as_json(text: str, headers: Sequence[tuple[str, str]] = (), status: str = _OK) -> PlainAnswer:
    """Return the response with a JSON text as its body."""
    body = f"{text}\n".encode()
    length = ("Content-Length", str(len(body)))
    return PlainAnswer(status, [("Content-Type", "application/json"), length, *headers], [body])
