"""Redacts secrets in messages and in urllib3's log, because WeChat requires them in query strings."""

import logging
import re
from collections.abc import Mapping
from typing import Any, Final

SECRET_PARAMETERS: Final = ("secret", "code", "js_code", "access_token", "refresh_token")

_IN_QUERY = re.compile(rf"\b({'|'.join(SECRET_PARAMETERS)})=[^&\s]*")


def without_secrets(message: str, parameters: Mapping[str, Any]) -> str:
    """Return ``message`` with the secrets among a request's parameters replaced by asterisks."""
    for name in SECRET_PARAMETERS:
        if value := parameters.get(name):
            message = message.replace(value, "***")
    return message


def redact_request_log() -> None:
    """Redact secret query parameters in urllib3's log. Idempotent."""
    logging.getLogger("urllib3.connectionpool").addFilter(_QUERY_REDACTION)


class _QueryRedaction(logging.Filter):
    def filter(self, record: logging.LogRecord) -> bool:
        if isinstance(record.args, tuple):
            record.args = tuple(map(_redacted, record.args))
        return True


def _redacted(argument: object) -> object:
    return _IN_QUERY.sub(r"\1=***", argument) if isinstance(argument, str) else argument


_QUERY_REDACTION: Final = _QueryRedaction()
