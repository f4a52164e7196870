"""Refuses each request while a file exists, except for health checks."""

import os
from collections.abc import Callable
from time import monotonic
from typing import Final
from urllib.parse import urlsplit

from flask import request

from strongroom.plugin_api import hookimpl
from strongroom.plugin_api.host import HostAPI
from strongroom.plugin_api.web import ApiError, Blueprint, ErrorKind

API_VERSION = "2.0"

VARIABLE: Final = "STRONGROOM_MAINTENANCE_FILE"
MAINTENANCE: Final = ErrorKind(503, "error.maintenance", "The server is in maintenance.", retry_after=60)
INTERVAL: Final = 0.1
"""Seconds for which an answer of the file system counts."""


class Switch:
    """Whether a file exists.

    The hook runs in each request. A system call in each would let the other threads run first, so that
    under load the request waits for its turn again.

    Args:
        now: returns seconds.
    """

    def __init__(self, file: str, now: Callable[[], float]) -> None:
        self._file = file
        self._now = now
        self._is_on = False
        self._ends_at = now()

    def is_on(self) -> bool:
        """Return whether the file exists, or did at most :data:`INTERVAL` ago."""
        now = self._now()
        if now >= self._ends_at:
            self._is_on = os.path.exists(self._file)  # noqa: PTH110  half the time of Path.exists
            self._ends_at = now + INTERVAL
        return self._is_on


@hookimpl
def register_errors() -> list[ErrorKind]:
    return [MAINTENANCE]


@hookimpl
def register_blueprints(host: HostAPI) -> list[Blueprint]:
    if not (name := os.environ.get(VARIABLE)):
        raise ValueError(f"set the environment variable {VARIABLE} to the path of a file")
    base_path = urlsplit(host.public_url).path
    # A service manager or load balancer would otherwise restart or remove the server.
    health_checks = {f"{base_path}/livez", f"{base_path}/readyz"}
    switch = Switch(name, monotonic)
    hooks = Blueprint("maintenance", description="Maintenance mode.")

    @hooks.before_app_request
    def refuse() -> None:
        if switch.is_on() and request.path not in health_checks:
            raise ApiError(MAINTENANCE)

    return [hooks]
