"""Message sender for gateways that accept a message as one HTTP request."""

from contextlib import suppress
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING

from strongroom.plugin_api.messages import (
    DeliveryUncertain,
    Message,
    MessageNotSent,
    MessageSender,
    SendingThrottled,
)
from strongroom_login_sms.body import BodyTemplate
from strongroom_login_sms.options import HttpSmsOptions
from strongroom_login_sms.statuses import StatusRule

if TYPE_CHECKING:
    from urllib3 import BaseHTTPResponse

TOO_MANY_REQUESTS = 429
SERVICE_UNAVAILABLE = 503
DEFAULT_RETRY_AFTER = 60
# Threads that may send concurrently; each further one would need a handshake and log a warning.
KEPT_CONNECTIONS = 16


class HttpSms(MessageSender[HttpSmsOptions]):
    """Fills a body template and sends it; the status states whether the gateway accepted the message."""

    name = "http_sms"
    channels = frozenset({"sms"})
    options_type = HttpSmsOptions

    def __init__(self, options: HttpSmsOptions) -> None:
        super().__init__(options)
        # Imported here, because most servers do not select this sender.
        import urllib3

        self._body = BodyTemplate(options.body, options.encoding)
        self._accepted = StatusRule(options.accepted)
        self._pool = urllib3.PoolManager(
            timeout=urllib3.Timeout(connect=options.timeout_seconds, read=options.timeout_seconds),
            retries=False,
            maxsize=KEPT_CONNECTIONS,
        )

    def send(self, message: Message) -> None:
        response = self._request(self._body.fill(message))
        if self._accepted.accepts(response.status):
            return
        reason = f"the SMS gateway returned {response.status}"
        if response.status == TOO_MANY_REQUESTS:
            raise SendingThrottled(reason, retry_after=_seconds(response.headers.get("Retry-After")))
        raise MessageNotSent(reason, retryable=response.status == SERVICE_UNAVAILABLE)

    def close(self) -> None:
        self._pool.clear()

    def _request(self, body: bytes) -> "BaseHTTPResponse":
        from urllib3.exceptions import ConnectTimeoutError, HTTPError, NewConnectionError

        headers = {"Content-Type": self._body.content_type, **self.options.headers}
        failure: MessageNotSent
        try:
            return self._pool.request(self.options.method, self.options.url, body=body, headers=headers)
        except (NewConnectionError, ConnectTimeoutError):
            failure = MessageNotSent("the SMS gateway cannot be reached", retryable=True)
        except HTTPError as error:
            kind = type(error).__name__
            failure = DeliveryUncertain(f"the SMS gateway did not respond ({kind})")
        # Raised outside the handler, because the exception's context would contain the request.
        raise failure


def _seconds(retry_after: str | None) -> int:
    """Return the seconds of a Retry-After header, which contains seconds or a date."""
    with suppress(TypeError, ValueError):
        return max(1, int(retry_after or ""))
    with suppress(TypeError, ValueError):
        wait = parsedate_to_datetime(retry_after or "") - datetime.now(UTC)
        return max(1, round(wait.total_seconds()))
    return DEFAULT_RETRY_AFTER
