"""What people do on the way to several pages."""

from typing import Any

from strongroom.testing.server import PASSWORD
from tests.support.browser_pages import Visitor
from tests.support.screens.stage import CAPTCHA


def log_in(visitor: Visitor, email: str = "", password: str = PASSWORD) -> None:
    """Log in by the password, by default as Alice."""
    visitor.go("/account/login")
    visitor.fill(username=email or visitor.stage.alice.email)
    if visitor.page.locator("button[value=name]").count():
        visitor.press("button[value=name]")
        visitor.page.wait_for_selector("#password")
    visitor.fill(password=password)
    visitor.press("button[value=password]")


def path(path: str) -> Any:
    """Return a function that opens a path."""
    return lambda visitor: visitor.go(path)


def own(path: str) -> Any:
    """Return a function that opens a path after a login."""

    def open_own(visitor: Visitor) -> None:
        log_in(visitor)
        visitor.page.wait_for_url("**/account/**")
        visitor.go(path)

    return open_own


def open_account(visitor: Visitor, email: str) -> None:
    """Log in, and wait for the account."""
    log_in(visitor, email)
    visitor.page.wait_for_url("**/account/")


def follow_code(visitor: Visitor, recipient: str) -> None:
    """Have a login code sent, and enter it."""
    request_code(visitor, recipient)
    visitor.fill(code=visitor.stage.last_message(recipient)["code"])
    visitor.press("form[action$='/entry'] button")


def request_code(visitor: Visitor, recipient: str) -> None:
    """Have a login code sent."""
    visitor.go("/account/login")
    visitor.fill(username=recipient)
    visitor.press("button[value=code]")
    visitor.fill(captchaAnswer=CAPTCHA)
    visitor.press("form[action$='/login/code'] button")
