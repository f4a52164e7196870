"""What the platform answers: JSON in UTF-8, whatever its headers say of it."""

import json
from collections.abc import Mapping
from typing import Any

from strongroom_login_wechat.errors import PlatformUnavailable


class Answer:
    """An answer's members, each read as the type it must have.

    Args:
        source: the name of what answered, for messages.
        members: the JSON object.
    """

    def __init__(self, source: str, members: Mapping[str, Any]) -> None:
        self._source = source
        self._members = members

    @classmethod
    def decode(cls, source: str, body: bytes) -> "Answer":
        """Read a body.

        Raises:
            PlatformUnavailable: it is not a JSON object in UTF-8.
        """
        try:
            members = json.loads(body.decode("utf-8"))
        except ValueError:
            members = None
        # Not within the handler: what it handles carries the body, and with it whatever secrets.
        if not isinstance(members, dict):
            raise PlatformUnavailable(f"{source} answered no JSON object")
        return cls(source, members)

    @property
    def errcode(self) -> int:
        """The platform's verdict; 0, or none at all, is success."""
        return self.integer("errcode") if "errcode" in self._members else 0

    def text(self, key: str) -> str:
        """Return a text that must be there.

        Raises:
            PlatformUnavailable: it is absent or empty.
        """
        value = self.optional_text(key)
        if value is None:
            raise self._unexpected(key)
        return value

    def optional_text(self, key: str) -> str | None:
        """Return a text, or ``None`` where it is absent or empty."""
        value = self._members.get(key)
        if value is not None and not isinstance(value, str):
            raise self._unexpected(key)
        return value or None

    def integer(self, key: str) -> int:
        """Return a whole number, which the platform may also have spelt as a text."""
        try:
            return int(self._members[key])
        except (KeyError, TypeError, ValueError):
            raise self._unexpected(key) from None

    def object(self, key: str) -> "Answer":
        """Return a nested object."""
        value = self._members.get(key)
        if not isinstance(value, dict):
            raise self._unexpected(key)
        return Answer(self._source, value)

    def _unexpected(self, key: str) -> PlatformUnavailable:
        return PlatformUnavailable(f"{self._source} answered without a fitting {key!r}")
