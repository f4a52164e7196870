"""Sends logout tokens to clients (OpenID Connect Back-Channel Logout 1.0, section 2.5)."""

import logging
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from threading import Event, Thread
from typing import Final
from urllib.parse import urlencode

from strongroom.plugin_api.host import HostAPI
from strongroom.plugin_api.outbound import OutboundError, OutboundRefused
from strongroom_oidc_provider.logout.backchannel import LogoutQueue, PendingLogout
from strongroom_oidc_provider.options import get_outbound_client

TYPE: Final = "logout+jwt"
"""The type of the tokens."""

_EVENT: Final = "http://schemas.openid.net/event/backchannel-logout"
_LIFETIME: Final = 120
_HEADERS: Final = {"Content-Type": "application/x-www-form-urlencoded"}
_OK: Final = range(200, 300)
_CONCURRENCY: Final = 8
_POLL_SECONDS: Final = 2.0
_FAULT_SECONDS: Final = 30.0

logger = logging.getLogger(__name__)


@dataclass(slots=True, eq=False, repr=False)
class LogoutSender:
    """Sends due logouts. Every process has one: claims keep them apart."""

    _host: HostAPI
    _stopping: Event = field(default_factory=Event)
    _thread: Thread | None = None

    def start(self) -> None:
        """Begin to send."""
        self._stopping.clear()
        self._thread = Thread(target=self._run, name="oidc-logouts", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Finish the requests on their way, and end the thread."""
        self._stopping.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None

    def send_due(self) -> int:
        """Send the due logouts; return their number."""
        sent, queue = 0, self._host.get_service(LogoutQueue)
        with ThreadPoolExecutor(_CONCURRENCY, thread_name_prefix="oidc-logouts") as pool:
            while pending := queue.claim(_CONCURRENCY):
                list(pool.map(self._send, pending))
                sent += len(pending)
        return sent

    def _run(self) -> None:
        while not self._stopping.is_set():
            try:
                self.send_due()
                self._stopping.wait(_POLL_SECONDS)
            except Exception:
                logger.exception("Logouts cannot be read; they are read again later")
                self._stopping.wait(_FAULT_SECONDS)

    def _send(self, logout: PendingLogout) -> None:
        queue, fault = self._host.get_service(LogoutQueue), self._post(logout)
        if fault is None or not logout.url:
            queue.finish(logout)
        elif not queue.postpone(logout):
            logger.warning("A logout for the client %s was dropped: %s", logout.client_id, fault)

    def _post(self, logout: PendingLogout) -> str | None:
        """Send a token; return why that failed, if it did."""
        body = urlencode({"logout_token": self._sign(logout)}).encode()
        try:
            client = get_outbound_client(self._host)
            response = client.request("POST", logout.url, headers=_HEADERS, body=body)
        except OutboundRefused as error:
            return f"the URL is refused: {error}"
        except OutboundError as error:
            return str(error)
        return None if response.status in _OK else f"the status is {response.status}"

    def _sign(self, logout: PendingLogout) -> str:
        claims = {"sid": logout.login_id, "events": {_EVENT: {}}}
        return self._host.signing.sign(
            claims,
            audience=logout.client_id,
            lifetime=_LIFETIME,
            typ=TYPE,
            subject=logout.user_id,
        )


_started: Final[list[LogoutSender]] = []


def start_sending(host: HostAPI) -> None:
    """Begin to send, when the process begins to serve."""
    sender = host.get_service(LogoutSender)
    sender.start()
    _started.append(sender)


def stop_sending() -> None:
    """End sending, when the process ends."""
    while _started:
        _started.pop().stop()
