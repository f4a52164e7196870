"""Reads the messages of the console sender."""

import json
from pathlib import Path
from typing import Any


def messages_in(data_dir: Path) -> list[dict[str, Any]]:
    """Return every message sent so far, in order."""
    outbox = data_dir / "outbox.jsonl"
    lines = outbox.read_text().splitlines() if outbox.exists() else []
    return [json.loads(line) for line in lines]
