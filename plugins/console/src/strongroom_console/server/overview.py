"""The overview of the server."""

from typing import Any, Final

from flask import Blueprint

from strongroom_console.server.frame import server_page
from strongroom_console.visit import current_visit

overview: Final = Blueprint("overview", __name__, url_prefix="/server")


@overview.get("/")
def show_overview() -> Any:
    """Show what the server has, and what needs its administrator."""
    return server_page(current_visit(), "server/overview.html", "")
