"""Nodes as the JSON that the schemas make of them."""

import json
from collections.abc import Sequence
from typing import Final

from strongroom.clock import iso_format
from strongroom.files.access import NodeView
from strongroom.files.presenting import Json, present
from strongroom.web.fast_path import PlainAnswer

# As Flask's own provider encodes, and does so as it is made by the composition root.
encode: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def render(view: NodeView) -> Json:
    """Return a node as it is sent: its moments are told in words."""
    shown = present(view)
    shown["createdAt"] = iso_format(shown["createdAt"])
    shown["updatedAt"] = iso_format(shown["updatedAt"])
    return shown


def as_json(
    content: Json,
    records: Sequence[str] = (),
    headers: Sequence[tuple[str, str]] = (),
    status: str = "200 OK",
) -> PlainAnswer:
    """Return the answer that is a JSON document.

    Args:
        content: the document.
        records: what its empty member ``data`` holds, encoded already.
        headers: what else is said.
        status: the status line.
    """
    text = encode(content)
    if records:
        before, data, after = text.partition('"data":[')
        text = f"{before}{data}{','.join(records)}{after}"
    body = f"{text}\n".encode()
    length = ("Content-Length", str(len(body)))
    return PlainAnswer(status, [("Content-Type", "application/json"), length, *headers], [body])
