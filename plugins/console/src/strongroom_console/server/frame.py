"""What all pages of the server share: the sections, and that only administrators see them."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from werkzeug.exceptions import NotFound

from strongroom.plugin_api.pages import MenuGroup, MenuSection
from strongroom.plugin_api.visits import Visit
from strongroom_console.ages import ages
from strongroom_console.scopes import SCOPES
from strongroom_console.visit import console_visit

GROUPS: Final[Mapping[str, Sequence[tuple[str, str, str]]]] = {
    "": (("", "overview", "house"), ("health/", "health", "heart-pulse")),
    "group-people": (
        ("users/", "users", "users"),
        ("imports/", "imports", "upload"),
        ("tenants/", "all-spaces", "layout-grid"),
        ("service-accounts/", "service-accounts-of-server", "key-round"),
    ),
    "group-security": (
        ("logins/", "login-providers", "log-in"),
        ("audit/", "audit-log", "scroll-text"),
        ("quarantine/", "quarantine", "shield"),
    ),
    "group-operation": (
        ("storages/", "storages", "hard-drive"),
        ("jobs/", "jobs", "clock"),
        ("messages/", "messages", "mail"),
        ("limits/", "limits", "sliders-horizontal"),
        ("plugins/", "plugins", "puzzle"),
        ("settings/", "server-settings", "settings"),
    ),
}
"""The sections by the keys of their headings: paths below the server's, keys of names, and icons."""


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
        sections=server_groups(here),
        section=f"{here}/{section}",
        scope_names=SCOPES,
        age=ages(visit.host),
        **values,
    )


def server_groups(root: str) -> Sequence[MenuGroup]:
    """Return the sections of the server by their headings."""
    return [
        MenuGroup([MenuSection(f"{root}/{path}", key, icon) for path, key, icon in group], heading)
        for heading, group in GROUPS.items()
    ]
