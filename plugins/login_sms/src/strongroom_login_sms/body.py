"""Body templates. The template is parsed before values are inserted, which prevents injection."""

import json
import re
from typing import Any
from urllib.parse import parse_qsl, urlencode

from strongroom.plugin_api.messages import Message

PLACEHOLDER = re.compile(r"\{(\w+)\}")
PLACEHOLDERS = ("recipient", "text", "code", "id", "template")


class BodyTemplate:
    """A JSON document or a form with placeholders in its values.

    Args:
        encoding: ``json`` or ``form``.

    Raises:
        ValueError: the text is not valid in this encoding, or contains an unknown placeholder.
    """

    def __init__(self, text: str, encoding: str) -> None:
        self._is_json = encoding == "json"
        self._structure: Any = _parse_json(text) if self._is_json else _parse_form(text)
        try:
            _fill(self._structure, dict.fromkeys(PLACEHOLDERS, ""))
        except KeyError as unknown:
            known = ", ".join(PLACEHOLDERS)
            raise ValueError(f"body: unknown placeholder {unknown}; must be one of {known}") from None

    @property
    def content_type(self) -> str:
        """The media type of the result of :meth:`fill`."""
        return "application/json" if self._is_json else "application/x-www-form-urlencoded"

    def fill(self, message: Message) -> bytes:
        """Return the body for a message; ``{code}`` is empty if the message has no code."""
        values = {
            "recipient": message.recipient,
            "text": message.text,
            "code": message.parameters.get("code", ""),
            "id": message.id,
            "template": message.template,
        }
        filled = _fill(self._structure, values)
        return (json.dumps(filled) if self._is_json else urlencode([*map(tuple, filled)])).encode()


def _parse_json(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        # The parser's message is omitted because it contains the template, which may contain a key.
        message = "body: is not JSON"
    raise ValueError(message)


def _parse_form(text: str) -> list[list[str]]:
    try:
        return [list(pair) for pair in parse_qsl(text, keep_blank_values=True, strict_parsing=True)]
    except ValueError:
        message = "body: is not a form such as to={recipient}&text={text}"
    raise ValueError(message)


def _fill(part: Any, values: dict[str, str]) -> Any:
    if isinstance(part, dict):
        return {key: _fill(value, values) for key, value in part.items()}
    if isinstance(part, list):
        return [_fill(value, values) for value in part]
    if isinstance(part, str):
        return PLACEHOLDER.sub(lambda match: values[match[1]], part)
    return part
