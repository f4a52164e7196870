"""The pages of the login and of the reset of passwords."""

import re
from typing import Final
from uuid import uuid4

import pyotp

from strongroom.testing.server import LiveUser
from tests.support.browser_pages import Screen, Visitor
from tests.support.screens.stage import CAPTCHA, Stage
from tests.support.screens.steps import log_in, own, path, request_code


def fail(visitor: Visitor) -> None:
    log_in(visitor, password="Wrong1Password")


def show_code_request(visitor: Visitor) -> None:
    visitor.go("/account/login")
    visitor.fill(username=visitor.stage.new_email())
    visitor.press("button[value=code]")


def show_code_entry(visitor: Visitor) -> None:
    request_code(visitor, visitor.stage.new_email())


def show_wrong_code(visitor: Visitor) -> None:
    show_code_entry(visitor)
    visitor.fill(code="000000")
    visitor.press("form[action$='/entry'] button")


def enrol_app(visitor: Visitor) -> tuple[str, str]:
    """Enrol an authenticator app for a new user; return the address and the secret."""
    return enrol_app_of(visitor.stage)


def enrol_app_of(stage: Stage) -> tuple[str, str]:
    """Do the same without a browser."""
    email, server = stage.new_email(), stage.server
    user = LiveUser("me", email, server.log_in(email))
    begun = server.succeed("POST", "/users/me/factors", by=user, json_body={"kind": "totp"})
    secret = str(begun["shown"]["secret"])
    answer = {"answer": pyotp.TOTP(secret).now()}
    route = f"/users/me/factors/{begun['id']}/confirmation"
    server.succeed("POST", route, by=user, json_body=answer)
    return email, secret


def show_challenge(visitor: Visitor) -> None:
    email, _ = enrol_app(visitor)
    log_in(visitor, email)


def show_wrong_challenge(visitor: Visitor) -> None:
    show_challenge(visitor)
    visitor.fill(totp="000000")
    visitor.press("form[action$='/challenge'] button")


def show_login_link(visitor: Visitor) -> None:
    # A link of another browser, or one that was used: the page asks before anything changes.
    visitor.go(f"/account/l/{uuid4().hex}.{uuid4().hex}")


def show_own_login_link(visitor: Visitor) -> None:
    email = visitor.stage.new_email()
    request_code(visitor, email)
    link = re.search(r"http\S+/l/\S+", visitor.stage.last_message(email)["text"])
    assert link is not None
    visitor.go(link[0])


def show_enrolment(visitor: Visitor) -> None:
    server, user = visitor.stage.server, visitor.stage.new_user()
    # Administrators of tenants need a second factor.
    server.tenant(LiveUser(user.id, user.email, server.log_in(user.email)))
    log_in(visitor, user.email)


def show_new_password(visitor: Visitor) -> None:
    server, user = visitor.stage.server, visitor.stage.new_user()
    route = f"/users/{user.id}/temporary-password"
    password = server.succeed("POST", route, by=visitor.stage.root)["password"]
    log_in(visitor, user.email, password)


def show_wrong_new_password(visitor: Visitor) -> None:
    show_new_password(visitor)
    visitor.fill(password="Wrong1Password", newPassword="Another2Horse")
    visitor.press("form[action$='/login'] button:not([type=button])")


def show_forgotten(visitor: Visitor) -> None:
    visitor.go("/account/forgot")
    visitor.fill(username=visitor.stage.new_email(), captchaAnswer=CAPTCHA)
    visitor.press("form[action$='/forgot'] button")


def show_wrong_reset(visitor: Visitor) -> None:
    show_forgotten(visitor)
    visitor.fill(code="000000", newPassword="Another2Horse")
    visitor.press("form[action$='/reset'] button:not([type=button])")


SIGN_IN: Final = (
    Screen("login", "login_pages/sign_in/login", path("/account/login")),
    Screen("login with an error", "login_pages/sign_in/login", fail),
    Screen("request of a code", "login_pages/sign_in/code_request", show_code_request),
    Screen("entry of a code", "login_pages/sign_in/code_entry", show_code_entry),
    Screen("wrong code", "login_pages/sign_in/code_entry", show_wrong_code),
    Screen("second factor", "login_pages/sign_in/challenge", show_challenge),
    Screen("second factor with an error", "login_pages/sign_in/challenge", show_wrong_challenge),
    Screen("login of a browser that is logged in", "login_pages/sign_in/login", own("/account/login")),
    Screen("step-up", "login_pages/sign_in/step_up", own("/account/step-up")),
    Screen("enrolment that is due", "login_pages/sign_in/enrolment", show_enrolment),
    Screen("new password of a temporary one", "login_pages/sign_in/new_password", show_new_password),
    Screen("refused new password", "login_pages/sign_in/new_password", show_wrong_new_password),
    Screen("link of a login in its browser", "login_pages/sign_in/code_link", show_own_login_link),
    Screen("link of a login", "login_pages/sign_in/code_link", show_login_link),
    Screen("forgotten password", "login_pages/reset/forgot", path("/account/forgot")),
    Screen("reset of a password", "login_pages/reset/reset", show_forgotten),
    Screen("reset of a password with an error", "login_pages/reset/reset", show_wrong_reset),
)
