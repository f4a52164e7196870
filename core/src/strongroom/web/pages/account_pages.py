"""The pages on which users log in and manage the account, and where browsers look for them."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from flask import Response, redirect

from strongroom.plugin_api.pages import LoginPages
from strongroom.web.http.access import Access
from strongroom.web.http.request import get_service
from strongroom.web.http.routing import Blueprint

ACCOUNT_PAGES: Final = "account-pages"
"""The name of the blueprint of these routes."""

CHANGE_PASSWORD: Final = "/.well-known/change-password"  # noqa: S105  a path
"""Where password managers look for the page (W3C, A Well-Known URL for Changing Passwords)."""


@dataclass(frozen=True, slots=True)
class AccountPages:
    """The paths of the pages, with the base path of the server; ``None`` without such a page."""

    login: str | None = None
    account: str | None = None
    change_password: str | None = None

    @classmethod
    def from_pages(cls, pages: LoginPages | None) -> "AccountPages":
        """Return the paths of the pages of a plugin, if one has them."""
        if pages is None:
            return cls()
        return cls(pages.login_path(None), pages.account_path(), pages.change_password_path())


def well_known_blueprint(pages: AccountPages, known_paths: Iterable[str], base_path: str) -> Blueprint:
    """Return the route that leads to the page, unless a plugin has it or there is no page."""
    blueprint = Blueprint(ACCOUNT_PAGES, description="Where browsers look for pages.")
    if pages.change_password and base_path + CHANGE_PASSWORD not in known_paths:
        blueprint.operation(
            "GET",
            CHANGE_PASSWORD,
            access=Access.PUBLIC,
            document={"responses": {"302": {"description": "The page"}}},
        )(redirect_to_change_password)
    return blueprint


def redirect_to_change_password() -> Response:
    """Get redirected to the page on which users change their password.

    Password managers open this well-known URL, which needs no token.
    """
    # Temporary, as the specification requires: the page may move.
    return redirect(get_service(AccountPages).change_password or "")  # type: ignore[return-value]
