"""The pages of the console."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from strongroom.testing.server import LiveUser, free_port, live_server
from tests.support.browser_pages import Screen, Visitor
from tests.support.page_templates import copy_with_marks
from tests.support.screens.stage import Stage
from tests.support.screens.steps import log_in

_PLUGINS: Final = ("factor_totp", "login_pages", "share_links", "webhooks", "console")


@contextmanager
def console_stage(folder: Path) -> Iterator[Stage]:
    """Run a server with the console, whose pages name their templates."""
    port = free_port()
    origin = f"http://localhost:{port}"
    pages = {"templates": str(copy_with_marks(folder / "templates", _PLUGINS))}
    config = {
        "server": {"public_url": origin},
        "pages": pages,
        "limits": {"login_per_address": [], "invitations_per_user": []},
    }
    data = folder / "server"
    data.mkdir(parents=True)
    with live_server(data, plugins=_PLUGINS, config=config, port=port) as server:
        yield Stage(server, origin)


def shown_to(name: str, path: str) -> Any:
    """Return a function that opens a page of the console as a user of the stage.

    Args:
        name: the attribute of the stage with the user.
        path: the path below that of the console; ``{tenant}`` and such are attributes of the stage.
    """

    def open_page(visitor: Visitor) -> None:
        user: LiveUser = getattr(visitor.stage, name)
        log_in(visitor, user.email)
        visitor.page.wait_for_url("**/account/")
        visitor.go("/console" + _filled(path, visitor.stage))

    return open_page


def _filled(path: str, stage: Stage) -> str:
    parts = path.split("/")
    return "/".join(str(getattr(stage, part[1:-1])) if part.startswith("{") else part for part in parts)


CONSOLE: Final = (
    Screen("home without a space", "console/home", shown_to("alice", "/")),
    Screen("home of an administrator", "console/home", shown_to("root", "/")),
    Screen("missing page of the console", "console/fault", shown_to("maker", "/nowhere")),
    Screen("space", "console/my_files/folder", shown_to("maker", "/tenants/{tenant}/files/")),
    Screen("folder", "console/my_files/folder", shown_to("maker", "/tenants/{tenant}/files/{folder}/")),
    Screen("server", "console/server/overview", shown_to("root", "/server/")),
)
