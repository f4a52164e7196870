"""The log on standard error, as plain text or JSON; each line has the id of its request.

A line of a request contains its route, never its path, because paths contain tokens and names.
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
    """Configure the log of this process.

    Args:
        settings: the format and the levels.
        request_id: returns the id of the current request, if there is one.
    """
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonFormatter() if settings.format == "json" else TextFormatter())
    handler.addFilter(_Tagging(request_id))
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(settings.level.upper())
    logging.getLogger(ACCESS_LOGGER).setLevel(logging.INFO if settings.requests else logging.CRITICAL)


class TextFormatter(logging.Formatter):
    """Formats a record as a plain text line, followed by the traceback, if any."""

    def __init__(self) -> None:
        super().__init__(_TEXT)

    def formatTime(self, record: logging.LogRecord, datefmt: str | None = None) -> str:  # noqa: N802, ARG002
        """Return the time of the record in UTC, to the millisecond."""
        return iso_format(int(record.created * 1000))

    def format(self, record: logging.LogRecord) -> str:
        """Return the text of the record."""
        request = getattr(record, "request_id", None)
        record.request = f" (request {request})" if request else ""
        return super().format(record)


class JsonFormatter(logging.Formatter):
    """Formats a record as a JSON object on one line; line breaks in the message are escaped."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the JSON text of the record."""
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
    """Adds the id of the current request to each record."""

    def __init__(self, request_id: RequestId) -> None:
        super().__init__()
        self._request_id = request_id

    def filter(self, record: logging.LogRecord) -> bool:
        if not hasattr(record, "request_id"):
            record.request_id = self._request_id()
        return True
