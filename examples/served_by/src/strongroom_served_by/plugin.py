"""Adds the header ``X-Served-By`` to each response, to find the node of a cluster that sent it."""

import os
import socket
from typing import Final

from flask import Response

from strongroom.plugin_api import hookimpl
from strongroom.plugin_api.web import Blueprint

API_VERSION = "2.0"

HEADER: Final = "X-Served-By"
VARIABLE: Final = "STRONGROOM_NODE_NAME"


@hookimpl
def register_blueprints() -> list[Blueprint]:
    node = os.environ.get(VARIABLE) or socket.gethostname()
    hooks = Blueprint("served-by", description="The name of the node.")

    @hooks.after_app_request
    def add_header(response: Response) -> Response:
        response.headers[HEADER] = node
        return response

    return [hooks]
