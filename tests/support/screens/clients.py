"""The pages of logins to clients of the server."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlencode

import httpx

from tests.support.browser_pages import Screen, Visitor
from tests.support.screens.stage import Stage, full_stage
from tests.support.screens.steps import open_account, open_as, path

_URI: Final = "com.example.acme:/callback"
_APP: Final = "com.example.acme:"
_SCOPES: Final = ("openid", "profile", "email", "phone", "offline_access", "files:read")


@contextmanager
def client_stage(folder: Path) -> Iterator[Stage]:
    """Run a server that logs users in to clients."""
    with full_stage(folder, more=("console", "oidc_provider")) as stage:
        yield replace(stage, partners=(*stage.partners, _APP))


def _register(visitor: Visitor, **brand: str) -> str:
    """Register an app, whose scheme no browser opens, and return the path of a request of it."""
    stage, app = visitor.stage, {"name": "Acme", "public": True, "redirectUris": [_URI]}
    body = {**app, "scopes": list(_SCOPES), **brand}
    created = stage.server.succeed("POST", "/api/v1/clients", by=stage.root, json_body=body)
    parameters = {
        "response_type": "code",
        "client_id": created["id"],
        "redirect_uri": _URI,
        "scope": " ".join(_SCOPES),
        "code_challenge": "x" * 43,
        "code_challenge_method": "S256",
    }
    return f"/oauth2/authorize?{urlencode(parameters)}"


def ask(visitor: Visitor) -> None:
    open_account(visitor, visitor.stage.new_email())
    visitor.go(_register(visitor))


def log_in_with_brand(visitor: Visitor) -> None:
    terms = {"termsUrl": "https://acme.example/terms", "privacyUrl": "https://acme.example/privacy"}
    visitor.go(_register(visitor, accent="#0b7f62", **terms))


def ask_with_folders(visitor: Visitor) -> None:
    stage, user = visitor.stage, visitor.stage.server.user()
    # A member: administrators of a tenant need a second factor.
    stage.server.join(stage.tenant, stage.maker, user)
    stage.server.folder_in(stage.tenant, user, "Reports")
    open_account(visitor, user.email)
    visitor.go(_register(visitor))


def allow_folder(visitor: Visitor) -> None:
    ask_with_folders(visitor)
    visitor.page.select_option("select[name=folder]", index=1)
    visitor.press("button[value=allow]")
    visitor.go("/oauth2/consents")


def accept(visitor: Visitor) -> None:
    ask(visitor)
    visitor.press("button[value=allow]")


def show_apps(visitor: Visitor) -> None:
    accept(visitor)
    visitor.go("/oauth2/consents")


def show_app(visitor: Visitor) -> None:
    show_apps(visitor)
    visitor.follow("a[href*='/oauth2/consents/']:not([href$='/removal'])")


def show_withdrawal(visitor: Visitor) -> None:
    show_apps(visitor)
    visitor.follow("a[href$='/removal']")


def show_no_apps(visitor: Visitor) -> None:
    open_account(visitor, visitor.stage.new_email())
    visitor.go("/oauth2/consents")


def _screen(name: str, template: str, step: Any) -> Screen:
    return Screen(name, f"oidc_provider/{template}", step, names=_APP)


def ask_for_logout(visitor: Visitor) -> None:
    open_account(visitor, visitor.stage.new_email())
    visitor.go("/oauth2/end-session")


def log_out(visitor: Visitor) -> None:
    ask_for_logout(visitor)
    visitor.press("form[action$='/logout'] button")


def enter_device_code(visitor: Visitor) -> None:
    stage, app = visitor.stage, {"name": "Acme", "public": True, "deviceLogin": True}
    body = {**app, "scopes": list(_SCOPES)}
    created = stage.server.succeed("POST", "/api/v1/clients", by=stage.root, json_body=body)
    form = {"client_id": created["id"], "scope": " ".join(_SCOPES)}
    codes = httpx.post(f"{stage.server.url}/oauth2/device-authorization", data=form).json()
    open_account(visitor, visitor.stage.new_email())
    visitor.go(f"/device?user_code={codes['user_code']}")


def confirm_device(visitor: Visitor) -> None:
    enter_device_code(visitor)
    visitor.press("form[action$='/device'] button")


def allow_device(visitor: Visitor) -> None:
    confirm_device(visitor)
    visitor.press("button[value=allow]")


def manage(visitor: Visitor) -> None:
    """Log in as an administrator, and open the applications."""
    open_as(visitor, visitor.stage.root.email, "/applications/")


def show_new_app(visitor: Visitor) -> None:
    manage(visitor)
    visitor.go("/applications/new")


def create_app(visitor: Visitor) -> None:
    show_new_app(visitor)
    visitor.fill(name="Acme", redirectUris="https://acme.example.com/callback")
    visitor.press("main form button")


def open_app(visitor: Visitor) -> None:
    create_app(visitor)
    visitor.press("main p > a.button")


def add_claim(visitor: Visitor) -> None:
    open_app(visitor)
    visitor.press("[commandfor=claim]")
    visitor.fill(claimName="roles")
    visitor.page.select_option("[name=claimSource]", "server-role")
    visitor.press("form[action$='/claims'] button:not([type=button])")


def preview_consent(visitor: Visitor) -> None:
    open_app(visitor)
    visitor.page.locator("#preview").scroll_into_view_if_needed()
    visitor.page.frame_locator("iframe").locator("h1").wait_for()


def ask_about_disabling(visitor: Visitor) -> None:
    open_app(visitor)
    visitor.follow("a[href$='/disabling']")


def list_apps(visitor: Visitor) -> None:
    open_app(visitor)
    visitor.go("/applications/?q=Acme")


def find_no_app(visitor: Visitor) -> None:
    manage(visitor)
    visitor.go("/applications/?q=nothing")


CLIENTS: Final = (
    Screen("login to a client with a brand", "login_pages/sign_in/login", log_in_with_brand),
    _screen("consent", "consent", ask),
    _screen("consent with folders", "consent", ask_with_folders),
    _screen("connected application with one folder", "consents", allow_folder),
    _screen("way back to a client", "departure", accept),
    _screen("connected applications", "consents", show_apps),
    _screen("connected application", "client", show_app),
    _screen("no connected application", "consents", show_no_apps),
    _screen("withdrawal of a consent", "consent_removal", show_withdrawal),
    _screen("code of a device", "device", enter_device_code),
    _screen("device with the code", "device_consent", confirm_device),
    _screen("device that is logged in", "device_done", allow_device),
    _screen("logout for a client", "logout", ask_for_logout),
    _screen("after a logout for a client", "logged_out", log_out),
    _screen("applications", "clients", list_apps),
    _screen("applications without a match", "clients", find_no_app),
    _screen("new application", "client_new", show_new_app),
    _screen("secret of an application", "client_secret", create_app),
    _screen("application", "application", open_app),
    _screen("application with a claim", "application", add_claim),
    _screen("preview of the consent", "application", preview_consent),
    _screen("disabling of an application", "client_question", ask_about_disabling),
    _screen("login to an unknown client", "refusal", path("/oauth2/authorize?client_id=unknown")),
    _screen("login that took too long", "refusal", path("/oauth2/authorize/unknown")),
)
