"""What people do on the way to several pages."""

import time
from typing import Any, Final

from strongroom.testing.server import PASSWORD
from tests.support.browser_pages import Visitor
from tests.support.screens.stage import CAPTCHA

_KEPT_SECONDS: Final = 120
"""How long screens share a session. Five minutes after a login, its user has to prove it again."""


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
    return lambda visitor: open_as(visitor, visitor.stage.alice.email, path)


def open_as(visitor: Visitor, email: str, path: str) -> None:
    """Open a path after a login, or in the session of an earlier screen."""
    if not _continues_session(visitor, email):
        log_in(visitor, email)
        visitor.page.wait_for_url("**/account/**")
        kept = visitor.page.context.cookies(), time.monotonic() + _KEPT_SECONDS
        visitor.stage.sessions[email, visitor.language] = kept
    visitor.go(path)


def _continues_session(visitor: Visitor, email: str) -> bool:
    cookies, end = visitor.stage.sessions.get((email, visitor.language), ([], 0))
    if time.monotonic() > end:
        return False
    context = visitor.page.context
    context.add_cookies(cookies)
    # Another screen may have ended it.
    return context.request.get(f"{visitor.origin}/account/", max_redirects=0).ok


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
