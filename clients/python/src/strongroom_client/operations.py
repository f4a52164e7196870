"""Operations: one call of the API as a value, which a client sends."""

import datetime
from collections.abc import AsyncIterable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Generic, Protocol, TypeAlias, TypeVar
from urllib.parse import quote

import msgspec

Unset = msgspec.UnsetType
UNSET: Final = msgspec.UNSET
"""A member, parameter or header that is left out."""

Content: TypeAlias = bytes | Iterable[bytes] | AsyncIterable[bytes]
"""The body of an upload."""

Scalar: TypeAlias = str | int | bool | datetime.datetime | Unset | None

Result_co = TypeVar("Result_co", covariant=True)
Item_co = TypeVar("Item_co", covariant=True)

IDEMPOTENT: Final = frozenset({"GET", "HEAD", "OPTIONS", "PUT", "DELETE"})
"""Methods that may be repeated when the response was lost (RFC 9110, section 9.2.2)."""


_REPEATED: Final = frozenset({"/authorizations/refresh"})
"""The server accepts a used refresh token for some seconds; without a response, the login is lost."""


@dataclass(frozen=True, slots=True)
class Operation(Generic[Result_co]):
    """A request of the API and the type of its result.

    The functions of ``strongroom_client.api`` make them; :meth:`Client.send` sends them.
    """

    method: str
    path: str
    returns: type[Result_co]
    query: Mapping[str, Scalar] = field(default_factory=dict)
    headers: Mapping[str, str | Unset] = field(default_factory=dict)
    body: Any = UNSET
    """A model, sent as JSON or as a form."""
    content: Content | None = None
    media_type: str = "application/json"
    is_repeated: bool = False
    """Whether the server accepts the same request again for some seconds."""

    @property
    def is_idempotent(self) -> bool:
        """Whether a lost response allows another attempt, also because of an ``Idempotency-Key``."""
        has_key = isinstance(self.headers.get("Idempotency-Key"), str)
        return self.method in IDEMPOTENT or self.is_repeated or self.path in _REPEATED or has_key

    @property
    def is_repeatable(self) -> bool:
        """Whether the body can be sent again: an iterator is used up."""
        return self.content is None or isinstance(self.content, bytes)

    @property
    def has_captcha(self) -> bool:
        """Whether the body has the answer to a captcha, which is valid for one request."""
        return bool(getattr(self.body, "captcha", None))

    def arguments(self) -> dict[str, Any]:
        """Return the arguments of ``httpx.Client.build_request``."""
        headers = {name: value for name, value in self.headers.items() if isinstance(value, str)}
        arguments: dict[str, Any] = {"method": self.method, "url": self.path, "headers": headers}
        if parameters := {name: _text(value) for name, value in self.query.items() if _is_set(value)}:
            arguments["params"] = parameters
        if self.content is not None:
            headers["Content-Type"] = self.media_type
            arguments["content"] = self.content
        elif self.body is not UNSET:
            headers["Content-Type"] = self.media_type
            arguments |= self._encoded_body()
        return arguments

    def decode(self, content: bytes) -> Result_co:
        """Return the result in the body of a response.

        Raises:
            msgspec.DecodeError: the body is not what the document promises.
        """
        if self.returns is bytes:
            return content  # type: ignore[return-value]  # as just checked
        if self.returns is type(None):
            return None
        return msgspec.json.decode(content, type=self.returns)

    def _encoded_body(self) -> dict[str, Any]:
        if self.media_type == "application/x-www-form-urlencoded":
            return {"data": msgspec.to_builtins(self.body)}
        return {"content": msgspec.json.encode(self.body)}


class PageMeta(Protocol):
    """The description of a page in a list."""

    @property
    def next_page_link(self) -> str | None:
        """The URL of the next page."""


class Page(Protocol[Item_co]):
    """A page of a list: every collection whose ``meta`` has a link to the next page."""

    @property
    def meta(self) -> PageMeta:
        """Where the page is in the list."""

    @property
    def data(self) -> Sequence[Item_co]:
        """The records of the page."""


def segment(value: str) -> str:
    """Return a part of a path, percent-encoded."""
    return quote(value, safe="")


def _is_set(value: Scalar) -> bool:
    return value is not None and value is not UNSET


def _text(value: Scalar) -> str:
    if isinstance(value, datetime.datetime):
        return value.isoformat()
    return str(value).lower() if isinstance(value, bool) else str(value)
