"""The pages that make an account, and the consent to the terms."""

import re
from typing import Final
from urllib.parse import urlsplit
from uuid import uuid4

from tests.support.browser_pages import Screen, Visitor
from tests.support.screens.stage import CAPTCHA
from tests.support.screens.steps import follow_code, open_account, path


def send_code(visitor: Visitor, answer: str = CAPTCHA) -> None:
    visitor.go("/account/register")
    email = f"{uuid4().hex}@example.com"
    visitor.fill(name="Alice", username=email, captchaAnswer=answer)
    visitor.page.locator("[name=terms]").check()
    visitor.press("form[action$='/register'] button")


def fail(visitor: Visitor) -> None:
    send_code(visitor, "41")


def enter_wrong_code(visitor: Visitor) -> None:
    send_code(visitor)
    visitor.fill(code="000000", newPassword="Another2Horse")
    visitor.press("form[action$='/register/code'] button:not([type=button])")


def show_terms(visitor: Visitor) -> None:
    follow_code(visitor, f"{uuid4().hex}@example.com")


def open_invitation(visitor: Visitor, email: str) -> None:
    """Invite an address, and open the link in the e-mail."""
    stage = visitor.stage
    invitations = f"/api/v1/tenants/{stage.tenant}/invitations"
    stage.server.succeed("POST", invitations, by=stage.maker, json_body={"email": email})
    (url,) = re.findall(r"https?://\S+", stage.last_message(email)["text"])
    visitor.go(urlsplit(url).path)


def show_invitation(visitor: Visitor) -> None:
    open_invitation(visitor, f"{uuid4().hex}@example.com")


def show_own_invitation(visitor: Visitor) -> None:
    email = visitor.stage.new_email()
    open_account(visitor, email)
    open_invitation(visitor, email)


def show_invitation_of_another(visitor: Visitor) -> None:
    open_account(visitor, visitor.stage.alice.email)
    show_invitation(visitor)


def register_invited(visitor: Visitor) -> None:
    show_invitation(visitor)
    visitor.press("[value=register]")


REGISTRATION: Final = (
    Screen("invitation", "login_pages/registration/invitation", show_invitation),
    Screen("own invitation", "login_pages/registration/invitation", show_own_invitation),
    Screen("invitation of another", "login_pages/registration/invitation", show_invitation_of_another),
    Screen(
        "void invitation",
        "login_pages/error",
        path("/account/invitations/unknown"),
    ),
    Screen("registration by invitation", "login_pages/registration/register", register_invited),
    Screen("registration", "login_pages/registration/register", path("/account/register")),
    Screen("registration with an error", "login_pages/registration/register", fail),
    Screen("code of a registration", "login_pages/registration/code", send_code),
    Screen("wrong code of a registration", "login_pages/registration/code", enter_wrong_code),
    Screen("terms of a login", "login_pages/registration/terms", show_terms),
)
