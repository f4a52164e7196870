"""Redacts secrets in messages and in urllib3's log, because platforms require them in query strings."""

import logging
import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

SECRET_PARAMETERS: Final = (
    *(
        "access_token",
        "app_secret",
        "appsecret",
        "auth_code",
        "authCode",
        "auth_token",
        "client_assertion",
    ),
    *("client_secret", "clientSecret", "code", "code_verifier", "corpsecret", "id_token", "js_code"),
    *("refresh_token", "secret", "sign", "user_ticket"),
)
"""The names of parameters whose values never appear in a log."""

_IN_QUERY = re.compile(rf"\b({'|'.join(SECRET_PARAMETERS)})=[^&\s]*")


def without_secrets(message: str, parameters: Mapping[str, Any], further: Iterable[str] = ()) -> str:
    """Return ``message`` with the secrets of a request replaced by asterisks.

    Args:
        parameters: the request's parameters; the secret ones are :data:`SECRET_PARAMETERS`.
        further: other secrets, such as those in headers.
    """
    secrets = [str(parameters[name]) for name in SECRET_PARAMETERS if parameters.get(name)]
    for secret in sorted({*secrets, *filter(None, further)}, key=len, reverse=True):
        message = message.replace(secret, "***")
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
