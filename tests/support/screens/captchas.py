"""The captchas of pages: those that the browser solves, and the picture in their place."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from tests.support.browser_pages import Screen, Visitor
from tests.support.config import Table
from tests.support.screens.shares import SECRET
from tests.support.screens.stage import Stage, full_stage
from tests.support.screens.steps import log_in, open_account, path

_OPTIONS: Final[Table] = {
    "captcha": {"provider": "image", "answer": None},
    "limits": {"captchas_per_address": [], "login_failures_before_captcha": 1},
    "users": {"require_terms": False},
}
_FAILURES: Final = 2
_SHARE_FAILURES: Final = 10
_UNSOLVABLE: Final = """
    const {parse} = JSON;
    JSON.parse = (text) => ({...parse(text), algorithm: "SHA-1"});
"""
_ENDLESS: Final = """
    globalThis.Worker = class extends EventTarget {
      postMessage() {}
      terminate() {}
    };
"""


@contextmanager
def captcha_stage(folder: Path) -> Iterator[Stage]:
    """Run a server with the captchas of a server in production."""
    with full_stage(folder, _OPTIONS) as stage:
        yield stage


def fail_too_often(visitor: Visitor) -> None:
    email = visitor.stage.new_email()
    for _ in range(_FAILURES):
        log_in(visitor, email, "Wrong1Password")


def show_code_request(visitor: Visitor) -> None:
    visitor.go("/account/login")
    visitor.fill(username=visitor.stage.new_email())
    visitor.press("button[value=code]")
    visitor.page.wait_for_url("**/account/login/code")


def fail_at_share(visitor: Visitor) -> None:
    page = visitor.stage.share(visitor.stage.folder, "read", password=SECRET)
    proofs = f"{visitor.origin}/api/v1/shares/{page.strip('/').split('/')[-1]}/proofs"
    for _ in range(_SHARE_FAILURES):
        visitor.page.request.post(proofs, data={"password": "wrong password"})
    visitor.go(page)
    visitor.fill(password=SECRET)
    visitor.press("form button.primary")


def change_contact(visitor: Visitor) -> None:
    open_account(visitor, visitor.stage.new_email())
    visitor.go("/account/contacts/email")


def wait(visitor: Visitor) -> None:
    visitor.page.add_init_script(_ENDLESS)
    visitor.go("/account/forgot")
    visitor.fill(username=visitor.stage.new_email())
    visitor.press("form[action$='/forgot'] button")
    visitor.page.locator("[data-work-status]:not(:empty)").wait_for()


def fail_to_solve(visitor: Visitor) -> None:
    visitor.page.add_init_script(_UNSOLVABLE)
    visitor.go("/account/forgot")
    visitor.page.locator("[data-work-fallback]").wait_for()


def with_picture(open_form: Callable[[Visitor], Any]) -> Callable[[Visitor], None]:
    """Return a function that opens a form whose browser does not solve its captcha."""

    def open_picture(visitor: Visitor) -> None:
        visitor.page.add_init_script(_UNSOLVABLE)
        open_form(visitor)
        visitor.press("button[value=picture]")
        visitor.page.locator("img.picture").wait_for()

    return open_picture


CAPTCHAS: Final = (
    Screen("login without a picture", "login_pages/sign_in/login", fail_too_often),
    Screen("login with a picture", "login_pages/sign_in/login", with_picture(fail_too_often)),
    Screen("request of a code without a picture", "login_pages/sign_in/code_request", show_code_request),
    Screen(
        "registration without a picture", "login_pages/registration/register", path("/account/register")
    ),
    Screen(
        "registration with a picture",
        "login_pages/registration/register",
        with_picture(path("/account/register")),
    ),
    Screen("change of a contact without a picture", "login_pages/account/contact", change_contact),
    Screen("forgotten password without a picture", "login_pages/reset/forgot", path("/account/forgot")),
    Screen("check of the browser", "login_pages/reset/forgot", wait, needs_scripts=True),
    Screen("failed check of the browser", "login_pages/reset/forgot", fail_to_solve, needs_scripts=True),
    Screen("share without a picture", "share_links/password", fail_at_share),
    Screen("share with a picture", "share_links/password", with_picture(fail_at_share)),
)
