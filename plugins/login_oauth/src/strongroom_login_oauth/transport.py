"""HTTP with bounds: no redirects, answers of limited size, and one time limit for a whole answer."""

import io
import socket
import time
from collections.abc import Mapping
from dataclasses import dataclass
from http.cookiejar import DefaultCookiePolicy
from typing import Any, Final, cast

import requests
from requests.adapters import HTTPAdapter
from requests.exceptions import ReadTimeout
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool
from urllib3.exceptions import HTTPError
from urllib3.response import BaseHTTPResponse, HTTPResponse

MAX_ANSWER: Final = 64 * 1024
"""The default limit of an answer, in bytes without its compression."""

BUSY_STATUSES: Final = frozenset({408, 425, 429, *range(500, 600)})
"""Statuses of a provider that is down or overloaded."""

_PART: Final = 16 * 1024


class AnswerTooLarge(requests.RequestException):
    """The answer has more bytes than its limit."""


class BoundedAdapter(HTTPAdapter):
    """Sends requests with time limits, and reads answers up to a limit of bytes. Thread-safe.

    Mount it on a session of requests or Authlib; the session's own time limits are ignored.

    Args:
        connect_timeout: seconds.
        read_timeout: seconds for the whole answer, from the request to the last byte.
        max_bytes: the limit of an answer, without its compression.
    """

    def __init__(
        self, connect_timeout: float, read_timeout: float, *, max_bytes: int = MAX_ANSWER
    ) -> None:
        self._timeouts = (connect_timeout, read_timeout)
        self._max_bytes = max_bytes
        super().__init__()

    def init_poolmanager(self, *args: Any, **options: Any) -> None:
        """Use connections with one time limit for a whole answer."""
        super().init_poolmanager(*args, **options)
        self.poolmanager.pool_classes_by_scheme = _POOLS

    def proxy_manager_for(self, *args: Any, **options: Any) -> Any:
        """Use such connections with proxies of the environment, too."""
        manager = super().proxy_manager_for(*args, **options)
        manager.pool_classes_by_scheme = _POOLS
        return manager

    def send(
        self,
        request: requests.PreparedRequest,
        stream: bool = False,  # noqa: ARG002  the limit needs a stream
        timeout: Any = None,  # noqa: ARG002  the adapter's own
        verify: bool | str = True,
        cert: Any = None,
        proxies: Mapping[str, str] | None = None,
    ) -> requests.Response:
        """Send a request, and return the response with its content.

        Raises:
            requests.RequestException: ``AnswerTooLarge``, ``ReadTimeout`` and the others of requests.
        """
        response = super().send(
            request, stream=True, timeout=self._timeouts, verify=verify, cert=cert, proxies=proxies
        )
        response.raw = io.BytesIO(self._read(response.raw))
        return response

    def _read(self, raw: BaseHTTPResponse) -> bytes:
        content = bytearray()
        try:
            while len(content) <= self._max_bytes:
                part = raw.read1(_PART, decode_content=True)
                if not part:
                    return bytes(content)
                content += part
        except (HTTPError, OSError) as error:
            # The exceptions of urllib3 contain the URL, which may have a secret.
            raise ReadTimeout(type(error).__name__) from None
        finally:
            # A complete answer has returned its connection to the pool already.
            raw.close()
        raise AnswerTooLarge("the answer is too large")


def confine(session: requests.Session, adapter: HTTPAdapter) -> None:
    """Let a session use the adapter only, and send nothing that belongs to another request or server."""
    session.mount("https://", adapter)
    session.mount("http://", adapter)
    # A cookie from one person's answer must not be sent with another's.
    session.cookies.set_policy(DefaultCookiePolicy(allowed_domains=[]))
    # Otherwise requests sends the credentials of ~/.netrc.
    session.auth = _as_is
    session.max_redirects = 0


class BoundedSession(requests.Session):
    """A session that follows no redirect: an answer with one is returned as it is."""

    def __init__(self, adapter: HTTPAdapter) -> None:
        super().__init__()
        confine(self, adapter)

    def get_redirect_target(self, resp: requests.Response) -> str | None:  # noqa: ARG002
        """Return ``None``: a redirect would send secrets to another server."""
        return None


def _as_is(request: requests.PreparedRequest) -> requests.PreparedRequest:
    return request


class _TimedFile(io.RawIOBase):
    """The reading end of a socket, whose reads share the time until a deadline."""

    def __init__(self, connection: socket.socket, seconds: float) -> None:
        self._socket = connection
        self._file = connection.makefile("rb", buffering=0)
        self._deadline = time.monotonic() + seconds

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError("no complete answer in time")
        self._socket.settimeout(left)
        return self._file.readinto(buffer)

    def close(self) -> None:
        self._file.close()
        super().close()


@dataclass(slots=True, eq=False, repr=False)
class _TimedSocket:
    """A socket whose file has a deadline. http.client opens one file per answer."""

    _socket: socket.socket
    _seconds: float

    def makefile(self, *_: Any, **__: Any) -> io.BufferedReader:
        return io.BufferedReader(_TimedFile(self._socket, self._seconds))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._socket, name)


class _TimedAnswers(HTTPConnection):
    """Reads each answer, with its headers, within the read timeout of the request."""

    def getresponse(self) -> HTTPResponse:  # type: ignore[override]  # as in urllib3
        connection: Any = self.sock
        self.sock = cast("socket.socket", _TimedSocket(connection, cast("float", self.timeout)))
        try:
            return super().getresponse()
        finally:
            # It is None if the answer is the last one of the connection.
            if self.sock is not None:
                self.sock = connection


class _TimedTLSAnswers(_TimedAnswers, HTTPSConnection):
    """The same through TLS."""


class _Pool(HTTPConnectionPool):
    ConnectionCls = _TimedAnswers


class _TLSPool(HTTPSConnectionPool):
    ConnectionCls = _TimedTLSAnswers


_POOLS: Final = {"http": _Pool, "https": _TLSPool}
