"""What all pages of the server share: the sections."""

from typing import Any

from strongroom.plugin_api.visits import Visit
from strongroom_console.ages import ages
from strongroom_console.scopes import SCOPES


def server_page(visit: Visit, template: str, section: str, **values: Any) -> Any:
    """Return the response with a page of the server.

    Args:
        section: the path of the section that the page belongs to.
    """
    here = f"{visit.root}/server"
    return visit.page(
        template,
        server_root=here,
        sections=visit.host.pages.sections(),
        section=f"{here}/{section}",
        scope_names=SCOPES,
        age=ages(visit.host),
        **values,
    )
