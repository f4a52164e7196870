"""The log on standard error: lines for people, or JSON, each with the id of its request.

A line of a request tells its route, never its path: paths hold tokens and names.
"""

import json
import logging
import sys
from collections.abc import Callable
from typing import Any, Final

from strongroom.clock import iso_format
from strongroom.config.server import LoggingSettings

ACCESS_LOGGER: Final = "strongroom.requests"

_TEXT: Final = "%(asctime)s %(levelname)s %(name)s: %(message)s%(request)s"

RequestId = Callable[[], str | None]


def configure(settings: LoggingSettings, request_id: RequestId = lambda: None) -> None:
    """Send the log of this process to standard error, in the configured form.

    Args:
        settings: the form, and what is worth a line.
        request_id: returns the id of the request under way, if there is one.
    """
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonFormatter() if settings.format == "json" else TextFormatter())
    handler.addFilter(_Tagging(request_id))
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(settings.level.upper())
    logging.getLogger(ACCESS_LOGGER).setLevel(logging.INFO if settings.requests else logging.CRITICAL)


class TextFormatter(logging.Formatter):
    """A line for people; a traceback follows it."""

    def __init__(self) -> None:
        super().__init__(_TEXT)

    def formatTime(self, record: logging.LogRecord, datefmt: str | None = None) -> str:  # noqa: N802, ARG002
        """Return when it was, in UTC to the millisecond."""
        return iso_format(int(record.created * 1000))

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        request = getattr(record, "request_id", None)
        record.request = f" (request {request})" if request else ""
        return super().format(record)


class JsonFormatter(logging.Formatter):
    """A JSON object on one line, whatever stands in the message."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        members: dict[str, Any] = {
            "time": iso_format(int(record.created * 1000)),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        if request := getattr(record, "request_id", None):
            members["requestId"] = request
        members.update(getattr(record, "members", {}))
        if record.exc_info:
            members["exception"] = self.formatException(record.exc_info)
        return json.dumps(members, ensure_ascii=False)


class _Tagging(logging.Filter):
    """Gives each record the id of its request."""

    def __init__(self, request_id: RequestId) -> None:
        super().__init__()
        self._request_id = request_id

    def filter(self, record: logging.LogRecord) -> bool:
        if not hasattr(record, "request_id"):
            record.request_id = self._request_id()
        return True
