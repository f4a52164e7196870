"""The pages of the server, for its administrators: users, tenants, and the state of the server."""

from typing import Final

from flask import Blueprint

from strongroom_console.server.frame import require_administrator
from strongroom_console.server.overview import overview
from strongroom_console.server.user_list import user_list

AREAS: Final[tuple[Blueprint, ...]] = (overview, user_list)

for area in AREAS:
    area.before_request(require_administrator)
