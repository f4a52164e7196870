"""Parsed requests: bucket, key and body."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from email.message import Message
from functools import cached_property
from io import BufferedIOBase
from ipaddress import ip_address
from typing import Protocol
from urllib.parse import unquote

from strongroom_simulators.oss.errors import OssError

CHUNK_SIZE = 64 * 1024


class Body(Protocol):
    """A request body: ``read(n)`` returns at most ``n`` bytes, and ``b""`` at the end."""

    def read(self, size: int, /) -> bytes: ...


class SizedBody:
    """A body with a ``Content-Length``."""

    def __init__(self, stream: BufferedIOBase, size: int) -> None:
        self._stream = stream
        self._remaining = size

    def read(self, size: int, /) -> bytes:
        """Return the next bytes; raise ``IncompleteBody`` when the connection ends early."""
        wanted = min(size, self._remaining)
        data = self._stream.read(wanted) if wanted else b""
        if len(data) < wanted:
            raise _incomplete()
        self._remaining -= len(data)
        return data


class ChunkedBody:
    """A body in the chunked transfer coding."""

    def __init__(self, stream: BufferedIOBase) -> None:
        self._stream = stream
        self._remaining = 0
        self._ended = False

    def read(self, size: int, /) -> bytes:
        """Return the next bytes; raise ``IncompleteBody`` when the connection ends early."""
        if not self._remaining and not self._ended:
            self._begin_chunk()
        if self._ended:
            return b""
        data = self._stream.read(min(size, self._remaining))
        if not data:
            raise _incomplete()
        self._remaining -= len(data)
        if not self._remaining:
            self._stream.readline()
        return data

    def _begin_chunk(self) -> None:
        size, _, _ = self._stream.readline().partition(b";")
        try:
            self._remaining = int(size, 16)
        except ValueError:
            raise _incomplete() from None
        if not self._remaining:
            self._ended = True
            while self._stream.readline().strip():
                continue


def read_body(headers: Message, stream: BufferedIOBase) -> Body:
    """Return the body according to ``headers``; empty if they announce none."""
    if "chunked" in headers.get("Transfer-Encoding", "").lower():
        return ChunkedBody(stream)
    return SizedBody(stream, int(headers.get("Content-Length", "0")))


@dataclass(frozen=True)
class Request:
    """A request.

    Args:
        method: the HTTP method.
        target: path and query as sent.
        headers: the header fields, with case-insensitive names.
        body: the unread body.
        received_at: the time of arrival, with a timezone.
    """

    method: str
    target: str
    headers: Message
    body: Body
    received_at: datetime

    @cached_property
    def parameters(self) -> Mapping[str, str]:
        """The decoded query; a parameter without a value is an empty text."""
        pairs = (pair.partition("=") for pair in self.target.partition("?")[2].split("&") if pair)
        return {unquote(name): unquote(value) for name, _, value in pairs}

    @property
    def bucket(self) -> str:
        """The bucket's name; empty if the request names none."""
        return self._address[0]

    @property
    def key(self) -> str:
        """The object's key; empty for a request on the bucket."""
        return self._address[1]

    @property
    def declares_length(self) -> bool:
        """Whether the headers determine where the body ends."""
        return "Content-Length" in self.headers or "Transfer-Encoding" in self.headers

    @cached_property
    def _address(self) -> tuple[str, str]:
        path = self.target.partition("?")[0].removeprefix("/")
        label, _, domain = self.headers.get("Host", "").partition(".")
        if domain and not _is_ip_address(self.headers["Host"]):
            return label, unquote(path)
        bucket, _, key = path.partition("/")
        return unquote(bucket), unquote(key)


def _is_ip_address(host: str) -> bool:
    try:
        ip_address(host.rpartition(":")[0] or host)
    except ValueError:
        return False
    return True


def _incomplete() -> OssError:
    return OssError(400, "IncompleteBody", "The request body is shorter than was announced.")
