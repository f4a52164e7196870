"""Runs the application under Granian: a master that supervises, and processes that serve."""

import ctypes
import logging
import os
import signal
import sys
from collections.abc import Callable
from typing import Any, Final

from granian.constants import Interfaces
from granian.log import LogLevels
from granian.server import Server

from strongroom.config import Configuration

STOP_SECONDS: Final = 30
"""How long open requests may go on after the server was told to stop."""

_PR_SET_PDEATHSIG: Final = 1


def run(configuration: Configuration) -> None:
    """Serve until told to stop."""
    server = configuration.settings.server

    def load() -> Callable[..., Any]:
        _end_with(master)
        # Made in the process that serves, for connections must not be shared between processes.
        from strongroom.app import create_app

        return create_app(configuration)

    master = os.getpid()
    logging.getLogger("granian").setLevel(logging.WARNING)
    Server(
        "strongroom",
        address=server.host,
        port=server.port,
        interface=Interfaces.WSGI,
        workers=server.workers,
        blocking_threads=server.threads,
        respawn_failed_workers=True,
        workers_kill_timeout=STOP_SECONDS,
        log_level=LogLevels.error,
    ).serve(target_loader=load, wrap_loader=False)


def _end_with(master: int) -> None:
    """Make this process end when the master does, however that ends: no port stays taken."""
    if sys.platform != "linux":
        return
    # Until the server has set its own, the handlers of the master are inherited, and would swallow it.
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != master:
        sys.exit(1)
