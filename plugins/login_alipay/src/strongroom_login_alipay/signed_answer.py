"""Answers of the gateway: a JSON object whose ``sign`` covers the exact text of one member.

The text is cut out of the answer. JSON that was parsed and written again has other white space, escapes
or order, and a second member of the same name would be the one that is read but not the one that is
signed.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from strongroom_login_oauth.errors import AnswerInvalid
from strongroom_login_oauth.strict_json import DECODER

_SPACE: Final = re.compile(r"[ \t\n\r]*")
_MALFORMED: Final = "the gateway returned no JSON object with distinct members"


@dataclass(frozen=True, slots=True)
class Member:
    """The value of a member, and the bytes that it consists of in the answer."""

    value: Any
    content: bytes


def members(body: bytes) -> dict[str, Member]:
    """Return the members of an answer by name.

    Raises:
        AnswerInvalid: it is not one JSON object in UTF-8, or has two members of one name.
    """
    try:
        text = body.decode("utf-8")
        pairs = list(_pairs(text))
    except (ValueError, IndexError, RecursionError):
        pairs = []
    # Raised outside the handler, because the parser's exception contains the answer with its tokens.
    if not pairs or len(dict(pairs)) < len(pairs):
        raise AnswerInvalid(_MALFORMED)
    return dict(pairs)


def _pairs(text: str) -> Iterator[tuple[str, Member]]:
    position = _after(text, 0, "{")
    while True:
        if text[position] != '"':
            raise ValueError(_MALFORMED)
        name, end = DECODER.raw_decode(text, position)
        start = _after(text, end, ":")
        value, end = DECODER.raw_decode(text, start)
        yield name, Member(value, text[start:end].encode())
        end = _skip(text, end)
        if text[end] == "}":
            break
        position = _after(text, end, ",")
    if _skip(text, end + 1) != len(text):
        raise ValueError(_MALFORMED)


def _after(text: str, position: int, mark: str) -> int:
    """Return the position of what follows a mark."""
    position = _skip(text, position)
    if text[position] != mark:
        raise ValueError(_MALFORMED)
    return _skip(text, position + 1)


def _skip(text: str, position: int) -> int:
    match = _SPACE.match(text, position)
    return match.end() if match else position
