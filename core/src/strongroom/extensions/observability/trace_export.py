"""Sends spans to a collector with OTLP over HTTP; logs an unavailable collector once, not per batch."""

import logging
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, Final

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult
from requests import RequestException, Response, Session, Timeout

from strongroom.foundation.config.server_settings import TracingSettings

logger = logging.getLogger(__name__)

QUEUE_SPANS: Final = 2048
"""Spans of a process that wait for the collector at most; further ones are dropped."""

COLLECTOR: Final = "collector"
"""Spans are dropped for this reason if the collector did not accept them."""
QUEUE: Final = "queue"
"""Spans are dropped for this reason if too many wait for the collector."""

_TIMEOUT_SECONDS: Final = 10.0
_UNKNOWN: Final = "the batch cannot be encoded"

# The SDK logs each attempt for each batch.
logging.getLogger(OTLPSpanExporter.__module__).setLevel(logging.CRITICAL)


class _Session(Session):
    """Remembers the fault of the last request, because the SDK returns only that there was one."""

    fault: str | None = None

    def request(self, *arguments: Any, **options: Any) -> Response:
        """Send a request."""
        try:
            response = super().request(*arguments, **options)
        except RequestException as error:
            # Not its text, which may contain the whole URL.
            late = isinstance(error, Timeout)
            self.fault = "it does not respond in time" if late else "it cannot be reached"
            raise
        self.fault = None if response.ok else f"it responds with status {response.status_code}"
        return response


class CollectorExporter(SpanExporter):
    """Exports spans and counts those that are dropped.

    Args:
        settings: the keys ``[tracing]``.
        timeout: seconds for each batch, with its retries.
    """

    def __init__(self, settings: TracingSettings, timeout: float = _TIMEOUT_SECONDS) -> None:
        headers = {"Authorization": settings.authorization} if settings.authorization else None
        self._session = _Session()
        self._exporter = OTLPSpanExporter(
            endpoint=settings.endpoint, headers=headers, timeout=timeout, session=self._session
        )
        self._lock = threading.Lock()
        self._waiting = 0
        self._dropped = Counter[str]()
        self._report: Callable[[str, int], None] | None = None
        self._is_away = self._is_closed = False

    def report_drops(self, report: Callable[[str, int], None]) -> None:
        """Pass the reason and number of dropped spans to a function, earlier ones included."""
        with self._lock:
            self._report = report
            for reason, number in self._dropped.items():
                report(reason, number)

    def reserve(self) -> bool:
        """Return whether one more span may wait for the collector."""
        with self._lock:
            if self._waiting < QUEUE_SPANS:
                self._waiting += 1
                return True
            self._drop(QUEUE, 1)
            return False

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Send spans for which :meth:`reserve` returned true."""
        result = self._exporter.export(spans)
        is_exported = result is SpanExportResult.SUCCESS
        with self._lock:
            self._waiting -= len(spans)
            if not is_exported:
                self._drop(COLLECTOR, len(spans))
        self._log_change(is_away=not is_exported)
        return result

    def fault(self) -> str | None:
        """Send a batch without spans; return why the collector does not accept it, or ``None``."""
        result = self._exporter.export([])
        return None if result is SpanExportResult.SUCCESS else self._session.fault or _UNKNOWN

    def give_up(self) -> None:
        """Export nothing more if the collector is unavailable, so that the process ends soon."""
        if self._is_away:
            self.shutdown()

    def shutdown(self) -> None:
        """Close the connections; batches that follow are dropped."""
        if not self._is_closed:
            self._is_closed = True
            self._exporter.shutdown()  # type: ignore[no-untyped-call]  # the SDK is partly typed

    def _drop(self, reason: str, number: int) -> None:
        self._dropped[reason] += number
        if self._report is not None:
            self._report(reason, number)

    def _log_change(self, *, is_away: bool) -> None:
        if is_away == self._is_away:
            return
        self._is_away = is_away
        if is_away:
            logger.warning(
                "The collector of traces is unavailable, spans are dropped: %s",
                self._session.fault or _UNKNOWN,
            )
        else:
            logger.warning(
                "The collector of traces is available again; %d spans were dropped",
                self._dropped.total(),
            )
