"""The storages of the server, and a test of each."""

from typing import Any, Final

from flask import Blueprint

from strongroom.plugin_api.file_pages import size_text
from strongroom.plugin_api.visits import current_visit
from strongroom_console.server.frame import server_page

storages: Final = Blueprint("storages", __name__, url_prefix="/server/storages")

_PATH: Final = "/server/storages/"


@storages.get("/")
def list_storages() -> Any:
    """Show the storages, where new files go, and what is left to move there."""
    visit = current_visit()
    listed = visit.host.server.storages()
    target = next((item.name for item in listed if item.is_target), None)
    return server_page(
        visit,
        "server/storages.html",
        "storages/",
        storages=listed,
        target=target,
        size_text=size_text,
    )


@storages.post("/<name>/test")
def test_storage(name: str) -> Any:
    """Write, read and delete an object of a storage."""
    visit = current_visit()
    result = visit.host.server.test_storage(name)
    if result.fault is not None:
        return visit.refuse(_PATH, f"{name}: {result.fault}")
    return visit.redirect(_PATH, "storage-works", name=name, milliseconds=str(result.milliseconds))
