"""Solves the captchas of pages as their script does."""

import base64
import hashlib
import json
import re
from html import unescape

from tests.support.api import Json


def work_in(page: str) -> Json:
    """Return the challenge of a page."""
    match = re.search(r'data-work="([^"]+)"', page)
    assert match is not None
    work: Json = json.loads(unescape(match[1]))
    return work


def solve(work: Json) -> str:
    """Return the answer to a challenge."""
    numbers = range(work["maxnumber"] + 1)
    return encode(work, next(number for number in numbers if _hash(work, number) == work["challenge"]))


def encode(work: Json, number: int) -> str:
    """Return an answer with a number."""
    members = ("algorithm", "challenge", "salt", "signature")
    answer = {name: work[name] for name in members} | {"number": number}
    return base64.b64encode(json.dumps(answer).encode()).decode()


def _hash(work: Json, number: int) -> str:
    return hashlib.sha256(f"{work['salt']}{number}".encode()).hexdigest()
