"""The sender: how a message reaches its gateway."""

import json
from contextlib import closing
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from urllib.parse import urlsplit

from strongroom.plugin_api.messages import (
    DeliveryUncertain,
    Message,
    MessageNotSent,
    MessageSender,
)

from strongroom_sender_drawer.options import DrawerOptions

OK = range(200, 300)
SERVICE_UNAVAILABLE = 503


class DrawerSender(MessageSender[DrawerOptions]):
    """Posts each message as JSON to one URL.

    When to send again, and by whom, is the core's affair; it goes by the kind of error.
    """

    name = "drawer"
    channels = frozenset({"sms"})
    options_type = DrawerOptions

    def send(self, message: Message) -> None:
        body = json.dumps({"id": message.id, "to": message.recipient, "text": message.text})
        status = self._post(body)
        if status not in OK:
            reason = f"the gateway answered {status}"
            raise MessageNotSent(reason, retryable=status == SERVICE_UNAVAILABLE)

    def _post(self, body: str) -> int:
        headers = {
            "Authorization": f"Bearer {self.options.token}",
            "Content-Type": "application/json",
        }
        with closing(self._connect()) as connection:
            try:
                connection.request("POST", self._path, body, headers)
                return connection.getresponse().status
            except (OSError, HTTPException) as error:
                # The gateway may have it: to send it again might send it twice.
                reason = f"the gateway gave no answer ({type(error).__name__})"
                raise DeliveryUncertain(reason) from error

    def _connect(self) -> HTTPConnection:
        url = urlsplit(self.options.url)
        kind = HTTPSConnection if url.scheme == "https" else HTTPConnection
        connection = kind(url.hostname or "", url.port, timeout=self.options.timeout_seconds)
        try:
            connection.connect()
        except OSError as error:
            raise MessageNotSent("the gateway cannot be reached", retryable=True) from error
        return connection

    @property
    def _path(self) -> str:
        url = urlsplit(self.options.url)
        return f"{url.path or '/'}?{url.query}" if url.query else url.path or "/"
