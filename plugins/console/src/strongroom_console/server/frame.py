"""What all pages of the server share: the sections, and that only administrators see them."""

from collections.abc import Mapping
from typing import Any, Final

from werkzeug.exceptions import NotFound

from strongroom.plugin_api.visits import Visit
from strongroom.plugin_api.web import RestResponse
from strongroom_console.ages import ages
from strongroom_console.scopes import SCOPES
from strongroom_console.visit import console_visit

SECTIONS: Final[Mapping[str, str]] = {
    "": "overview",
    "users/": "users",
    "imports/": "imports",
    "tenants/": "all-spaces",
    "service-accounts/": "service-accounts-of-server",
    "logins/": "login-providers",
    "audit/": "audit-log",
    "quarantine/": "quarantine",
    "health/": "health",
    "storages/": "storages",
    "plugins/": "plugins",
    "settings/": "server-settings",
    "limits/": "limits",
    "jobs/": "jobs",
    "messages/": "messages",
}
"""The keys of the names of the sections, by their paths below the server's."""


def require_administrator() -> None:
    """Require that the user administers the server, before each view of its areas.

    Raises:
        NotFound: the user is no administrator of the server.
    """
    if not console_visit().is_administrator:
        raise NotFound


def server_page(visit: Visit, template: str, section: str, **values: Any) -> Any:
    """Return the response with a page of the server.

    Args:
        section: the path of the section that the page belongs to.
    """
    here = f"{visit.root}/server"
    return visit.page(
        template,
        server_root=here,
        sections={f"{here}/{path}": key for path, key in SECTIONS.items()},
        section=f"{here}/{section}",
        scope_names=SCOPES,
        age=ages(visit.host),
        faulty=faulty_fields(values.get("refusal")),
        **values,
    )
