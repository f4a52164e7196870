"""Verifies a file of ``strongroom audit export`` with Python alone: it imports nothing of Strongroom.

    python3 verify_audit_export.py audit.jsonl [SEQUENCE:HASH ...]

A link is one that an earlier run has printed and that was stored elsewhere. Only a link proves that the
newest records are there and that nobody has recomputed all hashes. `strongroom rescue verify-export`
checks the signature of the last line as well.
"""

import hashlib
import json
import sys
from collections.abc import Iterable
from pathlib import Path


def next_link(previous: str, record: dict[str, object]) -> str:
    """Return the link of a record: its number and the hash of it and of the hash before."""
    number, _, before = previous.partition(":")
    if record["sequence"] != int(number) + 1:
        raise ValueError(f"record {int(number) + 1} was removed or moved")
    content = {name: value for name, value in record.items() if name != "hash"}
    text = json.dumps(content, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    hashed = hashlib.sha256(f"{before}\n{text}".encode("utf-8", "surrogatepass")).hexdigest()
    if hashed != record["hash"]:
        raise ValueError(f"record {record['sequence']} was changed")
    return f"{record['sequence']}:{hashed}"


def verify(lines: Iterable[str], expected: Iterable[str] = ()) -> str:
    """Return the newest link of an export.

    Raises:
        ValueError: a record was changed, removed or moved, or an expected link is not in the file.
    """
    objects = map(json.loads, lines)
    link, missing, is_complete = next(objects)["previous"], set(expected), False
    missing.discard(link)
    for item in objects:
        if is_complete:
            raise ValueError("there are lines after the checkpoint")
        if item.keys() == {"checkpoint"}:
            is_complete = True
            continue
        link = next_link(link, item)
        missing.discard(link)
    if not is_complete:
        raise ValueError("the checkpoint is missing, so records may be missing, too")
    if missing:
        raise ValueError(f"the file does not contain {', '.join(sorted(missing))}")
    return str(link)


if __name__ == "__main__":
    with Path(sys.argv[1]).open(encoding="ascii") as file:
        try:
            sys.stdout.write(f"{verify(file, sys.argv[2:])}\n")
        except (KeyError, ValueError) as error:
            sys.exit(f"{sys.argv[1]}: {error}")
