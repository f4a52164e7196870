"""Refuses each request while a file exists, except for health checks."""

import os
from time import monotonic
from typing import Final
from urllib.parse import urlsplit

from flask import request

from strongroom.plugin_api import hookimpl
from strongroom.plugin_api.host import HostAPI
from strongroom.plugin_api.request import get_service
from strongroom.plugin_api.web import ApiError, Blueprint, ErrorKind

API_VERSION = "2.0"

VARIABLE: Final = "STRONGROOM_MAINTENANCE_FILE"
MAINTENANCE: Final = ErrorKind(503, "error.maintenance", "The server is in maintenance.", retry_after=60)
INTERVAL: Final = 0.1
"""Seconds for which an answer of the file system counts."""


hooks = Blueprint("maintenance", description="Maintenance mode.")


class Switch:
    """Whether a file exists.

    The hook runs in each request. A system call in each would let the other threads run first, so that
    under load the request waits for its turn again.
    """

    def __init__(self, host: HostAPI) -> None:
        base_path = urlsplit(host.public_url).path
        # A service manager or load balancer would otherwise restart or remove the server.
        self.health_checks = {f"{base_path}/livez", f"{base_path}/readyz"}
        self._file = os.environ[VARIABLE]
        self._is_on = False
        self._ends_at = monotonic()

    def is_on(self) -> bool:
        """Return whether the file exists, or did at most :data:`INTERVAL` ago."""
        now = monotonic()
        if now >= self._ends_at:
            self._is_on = os.path.exists(self._file)  # noqa: PTH110  half the time of Path.exists
            self._ends_at = now + INTERVAL
        return self._is_on


@hookimpl
def register_errors() -> list[ErrorKind]:
    return [MAINTENANCE]


@hooks.before_app_request
def refuse() -> None:
    """Refuse the request during a maintenance."""
    switch = get_service(Switch)
    if switch.is_on() and request.path not in switch.health_checks:
        raise ApiError(MAINTENANCE)


@hookimpl
def register_blueprints() -> list[Blueprint]:
    if not os.environ.get(VARIABLE):
        raise ValueError(f"set the environment variable {VARIABLE} to the path of a file")
    return [hooks]
