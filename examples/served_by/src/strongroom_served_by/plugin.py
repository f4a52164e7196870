"""Adds the header ``X-Served-By`` to each response, to find the node of a cluster that sent it."""

import os
import socket
from dataclasses import dataclass, field
from typing import Final

from flask import Response

from strongroom.plugin_api import hookimpl
from strongroom.plugin_api.host import HostAPI
from strongroom.plugin_api.request import get_service
from strongroom.plugin_api.web import Blueprint

API_VERSION = "2.0"

HEADER: Final = "X-Served-By"
VARIABLE: Final = "STRONGROOM_NODE_NAME"


hooks = Blueprint("served-by", description="The name of the node.")


@dataclass
class Node:
    """The node that runs the server."""

    host: HostAPI
    name: str = field(default_factory=lambda: os.environ.get(VARIABLE) or socket.gethostname())


@hooks.after_app_request
def add_header(response: Response) -> Response:
    """Name the node."""
    response.headers[HEADER] = get_service(Node).name
    return response


@hookimpl
def register_blueprints() -> list[Blueprint]:
    return [hooks]
