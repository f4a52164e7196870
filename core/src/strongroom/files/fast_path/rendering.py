"""Nodes as the JSON that the schemas make of them."""

import json
from typing import Any, Final

from strongroom.clock import iso_format
from strongroom.files.access import NodeView
from strongroom.files.presenting import Json, present
from strongroom.web.fast_path import PlainAnswer

# As Flask's own provider encodes, and does so as it is made by the composition root.
_encode: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode

_OK: Final = "200 OK"


def render(view: NodeView) -> Json:
    """Return a node as it is sent: its moments are told in words."""
    shown = present(view)
    shown["createdAt"] = iso_format(shown["createdAt"])
    shown["updatedAt"] = iso_format(shown["updatedAt"])
    return shown


def as_json(content: Any, *headers: tuple[str, str]) -> PlainAnswer:
    """Return the answer that is a JSON document."""
    body = f"{_encode(content)}\n".encode()
    length = ("Content-Length", str(len(body)))
    return PlainAnswer(_OK, [("Content-Type", "application/json"), length, *headers], [body])
