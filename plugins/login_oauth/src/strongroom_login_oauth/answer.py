"""Answers of providers: JSON in UTF-8, regardless of the Content-Type header."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from strongroom_login_oauth.errors import ProviderUnavailable
from strongroom_login_oauth.strict_json import parse_object

MAX_INTEGER: Final = 2**53 - 1
"""The largest integer that an answer may have."""


@dataclass(slots=True, eq=False, repr=False)
class Json:
    """A JSON object with type-checked access to its members.

    A member of another type than expected raises ``ProviderUnavailable``, without its value.

    Args:
        source: the path of the interface, for messages.
        members: the members of the object.
        status: the HTTP status of the response.
    """

    source: str
    members: Mapping[str, Any]
    status: int = 200

    @classmethod
    def decode(cls, source: str, body: bytes, status: int = 200) -> "Json":
        """Parse a response body.

        Raises:
            ProviderUnavailable: the body is not a JSON object in UTF-8 that all parsers read alike.
        """
        try:
            members = parse_object(body)
        except ValueError:
            members = None
        # Raised outside the handler, because the parser's exception contains the body with its secrets.
        if members is None:
            raise ProviderUnavailable(f"{source} returned status {status} and no JSON object")
        return cls(source, members, status)

    def __contains__(self, key: str) -> bool:
        return self.members.get(key) is not None

    def text(self, key: str) -> str:
        """Return a required text that is not empty."""
        value = self.optional_text(key)
        if value is None:
            raise self.unexpected(key)
        return value

    def optional_text(self, key: str) -> str | None:
        """Return a text, or ``None`` if it is absent, null or empty."""
        value = self.members.get(key)
        if value is not None and not isinstance(value, str):
            raise self.unexpected(key)
        # PostgreSQL stores no NUL, and UTF-8 no half of a surrogate pair.
        if value and ("\0" in value or any("\ud800" <= letter <= "\udfff" for letter in value)):
            raise self.unexpected(key)
        return value or None

    def integer(self, key: str) -> int:
        """Return an integer, which the provider may also send as a text."""
        value = self.members.get(key)
        if isinstance(value, bool) or not isinstance(value, int | str):
            raise self.unexpected(key)
        try:
            number = int(value)
        except ValueError:
            raise self.unexpected(key) from None
        # Beyond these, JSON numbers are not exact (RFC 8259, section 6), and databases refuse them.
        if abs(number) > MAX_INTEGER:
            raise self.unexpected(key)
        return number

    def optional_integer(self, key: str, default: int = 0) -> int:
        """Return an integer, or ``default`` if it is absent or null."""
        return self.integer(key) if key in self else default

    def boolean(self, key: str) -> bool:
        """Return a boolean, which the provider may also send as a text; absent is false."""
        value = self.members.get(key)
        if value not in (None, True, False, "true", "false"):
            raise self.unexpected(key)
        return value is True or value == "true"

    def object(self, key: str) -> "Json":
        """Return a nested object."""
        value = self.members.get(key)
        if not isinstance(value, dict):
            raise self.unexpected(key)
        return Json(self.source, value, self.status)

    def unexpected(self, key: str) -> ProviderUnavailable:
        """Return the error for a member that is absent or has another type."""
        return ProviderUnavailable(f"{self.source} returned no valid {key!r}")
