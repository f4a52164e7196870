"""The JSON text of all responses."""

import json
from collections.abc import Iterable
from typing import Any, Final

# No value contains itself, so the containers are not remembered.
encode_json: Final = json.JSONEncoder(
    ensure_ascii=False, check_circular=False, separators=(",", ":")
).encode
"""Encodes JSON values as text."""


def splice_records(document: dict[str, Any], records: Iterable[str]) -> str:
    """Return a document as text; its empty ``data`` array gets records that are JSON texts already."""
    before, data, after = encode_json(document).partition('"data":[')
    return f"{before}{data}{','.join(records)}{after}"
