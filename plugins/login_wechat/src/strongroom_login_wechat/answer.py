"""Responses of the platform: JSON in UTF-8, regardless of the Content-Type header."""

import json
from collections.abc import Mapping
from typing import Any

from strongroom_login_wechat.errors import PlatformUnavailable


class Answer:
    """A JSON object with type-checked access to its members.

    Args:
        source: the path of the interface, for messages.
    """

    def __init__(self, source: str, members: Mapping[str, Any]) -> None:
        self._source = source
        self._members = members

    @classmethod
    def decode(cls, source: str, body: bytes) -> "Answer":
        """Parse a response body.

        Raises:
            PlatformUnavailable: the body is not a JSON object in UTF-8.
        """
        try:
            members = json.loads(body.decode("utf-8"))
        except ValueError:
            members = None
        # Raised outside the handler, because the parser's exception contains the body with its secrets.
        if not isinstance(members, dict):
            raise PlatformUnavailable(f"{source} did not return a JSON object")
        return cls(source, members)

    @property
    def errcode(self) -> int:
        """The platform's error code; 0, or no such member, is success."""
        return self.integer("errcode") if "errcode" in self._members else 0

    def text(self, key: str) -> str:
        """Return a required text.

        Raises:
            PlatformUnavailable: the member is absent, empty or not a text.
        """
        value = self.optional_text(key)
        if value is None:
            raise self._unexpected(key)
        return value

    def optional_text(self, key: str) -> str | None:
        """Return a text, or ``None`` if it is absent or empty."""
        value = self._members.get(key)
        if value is not None and not isinstance(value, str):
            raise self._unexpected(key)
        return value or None

    def integer(self, key: str) -> int:
        """Return an integer, which the platform may also send as a text."""
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
        return PlatformUnavailable(f"{self._source} returned no valid {key!r}")
