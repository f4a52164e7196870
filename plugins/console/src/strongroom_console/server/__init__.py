"""The pages of the server, for its administrators: users, tenants, and the state of the server."""

from typing import Final

from flask import Blueprint

from strongroom_console.server.overview import overview

AREAS: Final[tuple[Blueprint, ...]] = (overview,)
