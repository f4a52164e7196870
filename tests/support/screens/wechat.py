"""The pages of the login by WeChat."""

from typing import Final

from tests.support.browser_pages import Screen, Visitor
from tests.support.screens.steps import open_account, path
from tests.support.wechat import CALLBACK

_PERSON: Final = "Ada"
SCAN: Final = "/api/v1/wechat-authorizations/scan?app=site"


def show_scan(visitor: Visitor) -> None:
    visitor.go(SCAN)
    if visitor.has_scripts:
        visitor.page.wait_for_selector("iframe:not([hidden])")


def decide(visitor: Visitor, decision: str) -> None:
    """Play the person with the phone, in the platform's page within the page."""
    show_scan(visitor)
    platform = visitor.page.frame_locator("iframe")
    platform.get_by_label(_PERSON).check()
    platform.get_by_role("button", name=decision).click()
    kind = "status" if decision == "Confirm" else "alert"
    visitor.page.wait_for_selector(f"[role={kind}]:not(:empty)")


def confirm(visitor: Visitor) -> None:
    decide(visitor, "Confirm")


def deny(visitor: Visitor) -> None:
    decide(visitor, "Deny")


def come_back(visitor: Visitor) -> None:
    show_scan(visitor)
    # The frame is visible before the platform's page is in it.
    visitor.page.frame_locator("iframe").get_by_label(_PERSON).wait_for()
    # A phone that has the code in a window of its own, and not in a frame.
    visitor.go(visitor.page.frames[-1].url)
    visitor.page.get_by_label(_PERSON).check()
    visitor.page.get_by_role("button", name="Confirm").click()
    visitor.page.wait_for_selector(f"[role=status]:has-text('{_PERSON}')")


def connect(visitor: Visitor) -> None:
    open_account(visitor, visitor.stage.new_email())
    prove(visitor)
    visitor.page.wait_for_url("**/account/connections/wechat")


def prove(visitor: Visitor) -> None:
    """Press the button of the platform, and confirm there."""
    visitor.press("a[href*='/wechat-authorizations/'][href*='app=site']")
    visitor.page.get_by_label(_PERSON).check()
    visitor.page.get_by_role("button", name="Confirm").click()


def show_removal(visitor: Visitor) -> None:
    visitor.go("/account/login")
    prove(visitor)
    visitor.page.wait_for_url("**/account/")
    visitor.go("/account/connections/wechat/removal")


WECHAT: Final = (
    Screen("scan", "login_wechat/scan", show_scan),
    Screen("confirmed scan", "login_wechat/scan", confirm, needs_scripts=True),
    Screen("denied scan", "login_wechat/scan", deny, needs_scripts=True),
    Screen("return without a code", "login_wechat/callback", path(CALLBACK)),
    Screen("connection of an account", "login_pages/account/connection", connect),
    Screen(
        "removal of a connected account",
        "login_pages/account/connection_removal",
        show_removal,
    ),
    Screen("return of a person", "login_wechat/callback", come_back, needs_scripts=True),
)
