"""The overview of the server: first steps, what needs its administrator, and its size."""

from typing import Any, Final

from flask import Blueprint

from strongroom.plugin_api.file_pages import size_text
from strongroom.plugin_api.visits import current_visit
from strongroom_console.server.first_steps import dismiss_steps, first_steps
from strongroom_console.server.frame import server_page
from strongroom_console.server.health import faults_in, group_faults

overview: Final = Blueprint("overview", __name__, url_prefix="/server")


@overview.get("/")
def show_overview() -> Any:
    """Show what the server has, and what needs its administrator."""
    visit = current_visit()
    server = visit.host.server
    info, examination = server.info(), server.findings()
    return server_page(
        visit,
        "server/overview.html",
        "",
        info=info,
        stored=None if info.stored_bytes is None else size_text(info.stored_bytes),
        groups=group_faults(faults_in(examination)),
        steps=first_steps(visit, info, examination),
    )


@overview.post("/first-steps/dismiss")
def dismiss() -> Any:
    """Hide the first steps."""
    visit = current_visit()
    dismiss_steps(visit)
    return visit.redirect("/server/")
