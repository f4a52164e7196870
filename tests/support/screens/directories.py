"""The pages of directories, of a space and of the server."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import httpx

from tests.support.browser_pages import Screen, Visitor
from tests.support.screens.stage import Stage, full_stage
from tests.support.screens.steps import open_as

_NAMES: Final = "Entra ID"
_PATIENCE: Final = 60
"""Seconds: the first request imports the models."""

_USER: Final = "urn:ietf:params:scim:schemas:core:2.0:User"


@contextmanager
def directory_stage(folder: Path) -> Iterator[Stage]:
    """Run a server whose users come from directories."""
    with full_stage(folder, more=("console", "scim")) as stage:
        yield stage


def _open(visitor: Visitor, path: str) -> None:
    open_as(visitor, visitor.stage.root.email, path)


def show_none(visitor: Visitor) -> None:
    _open(visitor, "/directories/")


def show_form(visitor: Visitor) -> None:
    show_none(visitor)
    visitor.press("[commandfor=connect]")


def connect(visitor: Visitor) -> None:
    _open(visitor, "/directories/")
    visitor.press("[commandfor=connect]")
    visitor.fill(name="Entra ID")
    visitor.press("#connect form button:not([type=button])")


def _read(visitor: Visitor, name: str) -> str:
    return str(
        visitor.page.locator(f"#{name}").evaluate("item => item.value ?? item.textContent")
    ).strip()


def fail(visitor: Visitor) -> None:
    """Connect a directory, one of whose users is refused."""
    connect(visitor)
    address, key = _read(visitor, "scim-address"), _read(visitor, "scim-key")
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/scim+json"}
    path = address.partition("/scim/")[2]
    for number in range(2):
        body: dict[str, Any] = {"schemas": [_USER], "userName": visitor.stage.root.email}
        body["externalId"] = str(number)
        url = f"{visitor.stage.server.url}/scim/{path}/Users"
        httpx.post(url, headers=headers, json=body, timeout=_PATIENCE)
    visitor.press("main p > a.button")


def show_list(visitor: Visitor) -> None:
    fail(visitor)
    visitor.go("/directories/")


def ask_about_removal(visitor: Visitor) -> None:
    fail(visitor)
    visitor.follow("a[href$='/removal']")


def _screen(name: str, template: str, step: Callable[[Visitor], None]) -> Screen:
    return Screen(name, f"scim/{template}", step, names=_NAMES)


DIRECTORIES: Final = (
    _screen("no directory", "directories", show_none),
    _screen("form of a directory", "directories", show_form),
    _screen("key of a directory", "directory_key", connect),
    _screen("directory with an error", "directory", fail),
    _screen("directories", "directories", show_list),
    _screen("removal of a directory", "directory_removal", ask_about_removal),
)
