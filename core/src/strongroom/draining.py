"""Graceful shutdown: takes a server out of service without a failed request.

On SIGTERM, ``readyz`` returns 503 while all other routes work as before, so that load balancers stop
sending new requests. After ``server.drain_seconds`` the server closes its listening sockets, finishes
the open requests and exits. Ctrl-C and a second SIGTERM skip the delay.
"""

import signal
import threading
import time
from typing import Any

from granian.server.mp import MPServer

from strongroom import service_manager
from strongroom.config import Settings
from strongroom.health.draining import DRAINING
from strongroom.local_probe import wait_until_serving


class DrainingServer(MPServer):
    """A server that drains on SIGTERM, and reports its state to the service manager."""

    settings: Settings
    """The settings of the server; must be set before ``serve`` is called."""

    def signal_handler_interrupt(self, signum: int = signal.SIGINT, *_: Any, **__: Any) -> None:
        """Start draining, or stop immediately."""
        seconds = self.settings.drain_seconds
        if signum != signal.SIGTERM or seconds == 0 or DRAINING.is_set:
            self._stop()
            return
        DRAINING.set()
        service_manager.notify("STOPPING=1", "STATUS=draining")
        timer = threading.Timer(seconds, self._stop)
        timer.daemon = True
        timer.start()

    def _stop(self) -> None:
        service_manager.notify("STOPPING=1")
        super().signal_handler_interrupt()  # type: ignore[no-untyped-call]

    def _spawn_workers(self, *arguments: Any, **options: Any) -> None:
        super()._spawn_workers(*arguments, **options)  # type: ignore[no-untyped-call]
        # Started after the forks: a lock that the thread holds during a fork stays locked in the child.
        if service_manager.is_present():
            threading.Thread(target=self._report_ready, name="ready", daemon=True).start()

    def _reload(self, *arguments: Any, **options: Any) -> None:
        service_manager.notify("RELOADING=1", f"MONOTONIC_USEC={time.monotonic_ns() // 1000}")
        super()._reload(*arguments, **options)  # type: ignore[no-untyped-call]
        service_manager.notify("READY=1")

    def _report_ready(self) -> None:
        fault = wait_until_serving(self.settings, lambda: DRAINING.is_set)
        service_manager.notify("READY=1", f"STATUS={fault or 'serving'}")
