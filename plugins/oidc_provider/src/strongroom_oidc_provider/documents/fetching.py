"""Fetches documents of clients: guarded, bounded, and remembered for a time."""

import json
import re
import threading
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from strongroom.plugin_api.host import HostAPI
from strongroom.plugin_api.outbound import (
    OutboundClient,
    OutboundError,
    OutboundRefused,
    OutboundResponse,
)
from strongroom_oidc_provider.documents.errors import DocumentRefused, DocumentUnavailable
from strongroom_oidc_provider.options import get_outbound_client

MAX_BYTES: Final = 5 * 1024
"""The longest document (section 6.6 of the draft)."""

MAX_CACHED: Final = 256
"""The documents that a process remembers."""

_MINUTE: Final = 60 * 1000
_HOUR: Final = 60 * _MINUTE
_DAY: Final = 24 * _HOUR
_CONCURRENT: Final = 8
_OK: Final = 200
_SERVER_ERROR: Final = 500
_TYPE: Final = re.compile(r"application/(?:[a-z0-9.-]+\+)?json(?:\s*;.*)?", re.IGNORECASE)
_MAX_AGE: Final = re.compile(r"max-age=([0-9]{1,9})(?![0-9])")
_UNQUOTABLE: Final = re.compile(r"[^ !#-\[\]-~]")
_UNCACHED: Final = re.compile(r"no-store|no-cache|private", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Outcome:
    """What a fetch has led to.

    Args:
        content: the document; ``None``: there is none.
        fault: why there is none.
        is_final: whether a further fetch would fail, too.
        fetched_at: in milliseconds since the Unix epoch.
        lifetime: how long it is remembered, in milliseconds.
    """

    content: Mapping[str, Any] | None
    fault: str
    is_final: bool
    fetched_at: int
    lifetime: int

    def require(self) -> Mapping[str, Any]:
        """Return the document.

        Raises:
            DocumentRefused: there is no acceptable one.
            DocumentUnavailable: it could not be fetched.
        """
        if self.content is not None:
            return self.content
        # Characters that a description may not have (RFC 6749, section 5.2).
        fault = _UNQUOTABLE.sub("'", self.fault)
        raise (DocumentRefused if self.is_final else DocumentUnavailable)(description=fault)


@dataclass(slots=True, eq=False, repr=False)
class DocumentFetcher:
    """Fetches JSON objects that clients publish."""

    _host: HostAPI
    outbound: OutboundClient | None = None
    """Replaces the client of the options, for tests."""
    _outcomes: OrderedDict[str, _Outcome] = field(default_factory=OrderedDict)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _slots: threading.BoundedSemaphore = field(
        default_factory=lambda: threading.BoundedSemaphore(_CONCURRENT)
    )

    def get(self, url: str) -> Mapping[str, Any]:
        """Return the object at a URL.

        Raises:
            DocumentRefused: the URL or the object is not acceptable.
            DocumentUnavailable: it cannot be fetched at the moment.
            ApiError: ``error.too-many-requests``: the client's address has had too many fetched.
        """
        now = self._host.clock.now()
        with self._lock:
            former = self._outcomes.get(url)
            if former is not None and former.fetched_at <= now < former.fetched_at + former.lifetime:
                self._outcomes.move_to_end(url)
                return former.require()
        rates = self._host.options.client_documents_per_address
        self._host.limits.check_rate("client_documents", rates)
        outcome = self._fetch(url, now)
        # A server that fails for an hour must not end the logins of its clients.
        is_failure = outcome.content is None and not outcome.is_final
        has_content = (
            former is not None and former.content is not None and now < former.fetched_at + _DAY
        )
        if former is not None and has_content and is_failure:
            return former.require()
        self._remember(url, outcome)
        return outcome.require()

    def _remember(self, url: str, outcome: _Outcome) -> None:
        with self._lock:
            self._outcomes[url] = outcome
            self._outcomes.move_to_end(url)
            while len(self._outcomes) > MAX_CACHED:
                self._outcomes.popitem(last=False)

    def _fetch(self, url: str, now: int) -> _Outcome:
        if not self._slots.acquire(blocking=False):
            return _Outcome(None, "The server fetches too many documents.", False, now, 0)
        try:
            client = self.outbound or get_outbound_client(self._host)
            response = client.request("GET", url, headers={"Accept": "application/json"})
        except OutboundRefused as error:
            return _Outcome(None, f"The document's URL is refused: {error}.", True, now, _MINUTE)
        except OutboundError as error:
            return _Outcome(None, f"The document cannot be fetched: {error}.", False, now, _MINUTE)
        finally:
            self._slots.release()
        return _read(response, now)


def _read(response: OutboundResponse, now: int) -> _Outcome:
    if response.status >= _SERVER_ERROR:
        return _Outcome(None, "The document's server has an error.", False, now, _MINUTE)
    fault = _find_fault(response)
    content = _parse(response.body) if fault is None else None
    if content is None:
        return _Outcome(None, fault or "The document is no JSON object.", True, now, _MINUTE)
    return _Outcome(content, "", False, now, _get_lifetime(response))


def _find_fault(response: OutboundResponse) -> str | None:
    if response.status != _OK:
        return "The status of the document is not 200."
    if not _TYPE.fullmatch(response.headers.get("content-type", "")):
        return "The document's type is not application/json."
    if len(response.body) > MAX_BYTES:
        return f"The document has more than {MAX_BYTES} bytes."
    return None


def _parse(body: bytes) -> dict[str, Any] | None:
    try:
        content = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return content if isinstance(content, dict) else None


def _get_lifetime(response: OutboundResponse) -> int:
    control = response.headers.get("cache-control", "")
    match = _MAX_AGE.search(control)
    if _UNCACHED.search(control):
        # A login needs the document several times.
        return _MINUTE
    return _HOUR if match is None else min(max(int(match[1]) * 1000, _MINUTE), _DAY)
