"""The pages of the console."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from strongroom.testing.server import LiveUser, free_port, live_server
from tests.support.browser_pages import Screen, Visitor
from tests.support.page_templates import copy_with_marks
from tests.support.screens.stage import Stage
from tests.support.screens.steps import log_in

_MY_FILES: Final = "console/my_files"
_PLUGINS: Final = ("factor_totp", "login_pages", "share_links", "webhooks", "console")


class ConsoleStage(Stage):
    """A server with the console, and what its users have."""

    @cached_property
    def versioned(self) -> str:
        """A file with an earlier content."""
        path = f"/api/v1/tenants/{self.tenant}/files/{self.file}/content"
        self.server.request("PUT", path, by=self.maker, body=b"Another content")
        return self.file


@contextmanager
def console_stage(folder: Path) -> Iterator[ConsoleStage]:
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
        yield ConsoleStage(server, origin)


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


def of_file(page: str = "") -> Any:
    """Return a function that opens a page of a file with an earlier content."""
    return shown_to("maker", f"/tenants/{{tenant}}/nodes/{{versioned}}{page}")


CONSOLE: Final = (
    Screen("home without a space", "console/home", shown_to("alice", "/")),
    Screen("home of an administrator", "console/home", shown_to("root", "/")),
    Screen("missing page of the console", "console/fault", shown_to("maker", "/nowhere")),
    Screen("space", f"{_MY_FILES}/folder", shown_to("maker", "/tenants/{tenant}/files/")),
    Screen("folder", f"{_MY_FILES}/folder", shown_to("maker", "/tenants/{tenant}/files/{folder}/")),
    Screen("details of a file", f"{_MY_FILES}/node_details", of_file()),
    Screen("versions of a file", f"{_MY_FILES}/node_versions", of_file("/versions")),
    Screen("one version of a file", f"{_MY_FILES}/node_version", of_file("/versions/1")),
    Screen("activity of a file", f"{_MY_FILES}/node_activity", of_file("/activity")),
    Screen("server", "console/server/overview", shown_to("root", "/server/")),
    *(
        Screen(f"server: {name}", f"console/server/{name}", shown_to("root", f"/server/{name}/"))
        for name in ("health", "storages", "plugins", "settings", "limits", "jobs", "messages")
    ),
    Screen("users", "console/server/users", shown_to("root", "/server/users/")),
)
