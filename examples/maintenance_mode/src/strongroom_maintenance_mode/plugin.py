"""Refuses each request while a file exists, except for health checks."""

import os
from typing import Final
from urllib.parse import urlsplit

from flask import request

from strongroom.plugin_api import hookimpl
from strongroom.plugin_api.web import ApiError, Blueprint, ErrorKind, HostAPI

API_VERSION = "1.2"

VARIABLE: Final = "STRONGROOM_MAINTENANCE_FILE"
MAINTENANCE: Final = ErrorKind(503, "error.maintenance", "The server is in maintenance.")


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
    hooks = host.blueprint("maintenance", description="Maintenance mode.")

    @hooks.before_app_request
    def refuse() -> None:
        # This runs in each request, and takes half the time of Path.exists.
        if os.path.exists(name) and request.path not in health_checks:  # noqa: PTH110
            raise ApiError(MAINTENANCE)

    return [hooks]
