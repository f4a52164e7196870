"""The page of the design in development: all parts of pages with their states."""

from typing import Any, Final

from flask import Blueprint
from werkzeug.exceptions import NotFound

from strongroom.plugin_api.times import iso_format
from strongroom_console.visit import console_visit

design: Final = Blueprint("design", __name__)

_MODE: Final = "server.mode"
_HOUR: Final = 3_600_000
_AGES: Final = (0, 2, 30, 24 * 20, 24 * 400)


@design.get("/design")
def show_design() -> Any:
    """Show all parts of pages, to administrators of a server in development mode."""
    visit = console_visit()
    if not visit.is_administrator or not _is_development():
        raise NotFound
    now = visit.host.clock.now()
    return visit.page("design.html", moments=[iso_format(now - age * _HOUR) for age in _AGES])


def _is_development() -> bool:
    settings = console_visit().host.server.settings()
    return any(setting.key == _MODE and setting.value == '"development"' for setting in settings)
