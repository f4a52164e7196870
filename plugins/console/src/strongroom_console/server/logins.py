"""How users log in to this server: its methods, and the login providers."""

from collections.abc import Mapping
from typing import Any, Final

from flask import Blueprint

from strongroom.plugin_api.visits import current_visit
from strongroom_console.server.frame import server_page
from strongroom_console.server.titles import title_key

MODES: Final[Mapping[str, str]] = {
    "open": "registration-open",
    "invited": "registration-invited",
    "closed": "registration-closed",
}
"""The keys of the names of the modes of the registration."""

logins: Final = Blueprint("logins", __name__, url_prefix="/server/logins")


@logins.get("/")
def show_logins() -> Any:
    """Show the login methods and the providers that are configured."""
    visit = current_visit()
    providers = visit.read_all("/api/v1/login-providers")
    return server_page(
        visit,
        "server/logins.html",
        "logins/",
        providers=providers.data,
        modes=MODES,
        options=visit.host.logins.options,
        title_key=title_key,
    )
