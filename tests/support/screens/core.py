"""The pages of the server itself."""

from typing import Final

from strongroom.testing.server import PASSWORD
from tests.support.browser_pages import Screen, Visitor
from tests.support.screens.steps import path


def start_with_administrator(visitor: Visitor) -> None:
    # The server has one from now on.
    assert visitor.stage.root
    visitor.go("/")


CORE: Final = (
    Screen("start page", "strongroom/start", start_with_administrator),
    Screen("missing page", "strongroom/error", path("/nothing")),
    Screen("page for another method", "strongroom/error", path("/authorizations")),
    Screen("missing page of the account", "login_pages/error", path("/account/nowhere")),
    Screen(
        "refused return URL",
        "login_pages/error",
        path("/account/login?returnUrl=https://elsewhere.example"),
    ),
)


# The set-up of a new server, in the order of the table.


def open_link(visitor: Visitor) -> None:
    visitor.go(visitor.stage.server.command("users", "invite-admin").strip())


def fill_in(visitor: Visitor, password: str) -> None:
    visitor.fill(email="root@example.com", name="Alice", password=password)
    visitor.press("form button:not([type=button])")


def fail(visitor: Visitor) -> None:
    open_link(visitor)
    fill_in(visitor, "tooweak")
    visitor.page.wait_for_selector(".fault")


def complete(visitor: Visitor) -> None:
    open_link(visitor)
    fill_in(visitor, PASSWORD)
    visitor.page.wait_for_url("**/account/")


SET_UP: Final = (
    Screen("start page of a new server", "strongroom/start", path("/")),
    Screen("set-up without a link", "strongroom/setup", path("/setup")),
    Screen("set-up by an unknown link", "strongroom/setup", path("/setup#unknown")),
    Screen("set-up by a link", "strongroom/setup", open_link),
    Screen("set-up with an error", "strongroom/setup", fail, needs_scripts=True),
    Screen("complete set-up", "login_pages/account/security", complete, needs_scripts=True),
    Screen(
        "complete set-up by a used link", "strongroom/setup", path("/setup#used"), needs_scripts=True
    ),
)
