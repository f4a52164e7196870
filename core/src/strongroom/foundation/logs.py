"""The log on standard error, as plain text or JSON; each line has the id of its request.

A line in JSON has the ids of its trace, too. A line of a request contains its route, never its path,
because paths contain tokens and names.
"""

import json
import logging
import sys
import time
import traceback
from collections.abc import Callable, Mapping
from threading import Lock
from typing import Any, Final

from strongroom.clock import iso_format
from strongroom.foundation.config.server_settings import LoggingSettings

INTERVAL: Final = 60.0
"""Seconds between two log entries of identical errors."""

_CAPACITY: Final = 1024

_Key = tuple[type[BaseException], str, str]


class ErrorLog:
    """Rate-limits identical errors, so that a flood of them neither fills the log nor hides others.

    Two errors are identical if they have the same class and were raised by the same function.

    Args:
        logger: receives the entries.
        now: a monotonic clock in seconds.
        has_traceback: whether entries have the traceback of their error.
    """

    def __init__(
        self,
        logger: logging.Logger,
        now: Callable[[], float] = time.monotonic,
        *,
        has_traceback: bool = True,
    ) -> None:
        self._logger = logger
        self._now = now
        self._has_traceback = has_traceback
        self._lock = Lock()
        # When an error was last logged, and how many identical ones were suppressed since.
        self._seen: dict[_Key, tuple[float, int]] = {}

    def log(self, error: BaseException, message: str, *arguments: object) -> None:
        """Log an error, unless an identical one was logged in the last minute."""
        suppressed = self._suppressed(_key(error))
        if suppressed is None:
            return
        if suppressed:
            message += " (%d identical errors were not logged)"
            arguments = (*arguments, suppressed)
        self._logger.error(message, *arguments, exc_info=error if self._has_traceback else None)

    def _suppressed(self, key: _Key) -> int | None:
        """Return the number of identical errors suppressed so far, or ``None`` to suppress this one."""
        now = self._now()
        with self._lock:
            # Bounds the memory; clearing only makes some errors appear in the log earlier.
            if len(self._seen) >= _CAPACITY:
                self._seen.clear()
            logged_at, count = self._seen.get(key, (now - INTERVAL, 0))
            if now - logged_at < INTERVAL:
                self._seen[key] = (logged_at, count + 1)
                return None
            self._seen[key] = (now, 0)
            return count


def _key(error: BaseException) -> _Key:
    frames = list(traceback.walk_tb(error.__traceback__))
    code = frames[-1][0].f_code if frames else None
    return type(error), code.co_filename if code else "", code.co_name if code else ""


ACCESS_LOGGER: Final = "strongroom.requests"

_TEXT: Final = "%(asctime)s %(levelname)s %(name)s: %(message)s%(request)s"

RequestId = Callable[[], str | None]
TraceIds = Callable[[], Mapping[str, str]]
"""Returns ``traceId`` and ``spanId`` of the current span, or nothing."""

Hide = Callable[[str], str]
"""Returns a text with each secret masked."""


def configure(
    settings: LoggingSettings,
    request_id: RequestId = lambda: None,
    trace_ids: TraceIds = dict,
    hide: Hide = str,
) -> None:
    """Configure the log of this process.

    Args:
        hide: masks secrets in messages and tracebacks, also of plugins and libraries.
    """
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonFormatter(hide) if settings.format == "json" else TextFormatter(hide))
    handler.addFilter(_Tagging(request_id, trace_ids))
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(settings.level.upper())
    logging.getLogger(ACCESS_LOGGER).setLevel(logging.INFO if settings.requests else logging.CRITICAL)


class _HidingFormatter(logging.Formatter):
    """Masks secrets in tracebacks; derived classes do so in messages."""

    def __init__(self, hide: Hide = str, form: str | None = None) -> None:
        super().__init__(form)
        self.hide = hide

    def formatException(self, ei: Any) -> str:  # noqa: N802  overrides a method of logging
        """Return the traceback."""
        return self.hide(super().formatException(ei))


class TextFormatter(_HidingFormatter):
    """Formats a record as a plain text line, followed by the traceback, if any."""

    def __init__(self, hide: Hide = str) -> None:
        super().__init__(hide, _TEXT)

    def formatTime(self, record: logging.LogRecord, datefmt: str | None = None) -> str:  # noqa: N802, ARG002
        """Return the time of the record in UTC, to the millisecond."""
        return iso_format(int(record.created * 1000))

    def format(self, record: logging.LogRecord) -> str:
        """Return the text of the record."""
        request = getattr(record, "request_id", None)
        record.request = f" (request {request})" if request else ""
        return super().format(record)

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802  overrides a method of logging
        """Return the line without the traceback."""
        record.message = self.hide(record.message)
        return super().formatMessage(record)


class JsonFormatter(_HidingFormatter):
    """Formats a record as a JSON object on one line; line breaks in the message are escaped."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the JSON text of the record."""
        members: dict[str, Any] = {
            "time": iso_format(int(record.created * 1000)),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": self.hide(record.getMessage()),
        }
        if request := getattr(record, "request_id", None):
            members["requestId"] = request
        members.update(getattr(record, "trace", {}))
        members.update(getattr(record, "members", {}))
        if record.exc_info:
            members["exception"] = self.formatException(record.exc_info)
        return json.dumps(members, ensure_ascii=False)


class _Tagging(logging.Filter):
    """Adds the ids of the current request and of its trace to each record."""

    def __init__(self, request_id: RequestId, trace_ids: TraceIds) -> None:
        super().__init__()
        self._request_id = request_id
        self._trace_ids = trace_ids

    def filter(self, record: logging.LogRecord) -> bool:
        if not hasattr(record, "request_id"):
            record.request_id = self._request_id()
        record.trace = self._trace_ids()
        return True
