"""The well-known addresses that browsers and password managers read."""

from typing import Any, Final

from flask import Response, redirect

from strongroom.plugin_api.host import HostAPI
from strongroom.plugin_api.request import current_host
from strongroom.plugin_api.web import Access, ApiError, Blueprint, ErrorKind
from strongroom_login_passkey import user_routes
from strongroom_login_passkey.factor import PasskeyFactor
from strongroom_login_passkey.schemas import PasskeyEndpointsSchema, RelatedOriginsSchema

NOT_CONFIGURED: Final = ErrorKind(
    404, "error.passkey-page-not-configured", "The server has no page for this."
)


routes = Blueprint("passkeys", description="What browsers and password managers read.")
password_page = Blueprint("passkeys")


def make_blueprints(host: HostAPI) -> list[Blueprint]:
    """Return the routes of the factor; without a configured page, the server leads to its own."""
    factor = host.extension(PasskeyFactor)
    if factor is None:
        return []
    pages = [password_page] if factor.options.change_password_url else []
    return [routes.extended(*pages, user_routes.routes)]


@routes.operation("GET", "/.well-known/webauthn", access=Access.PUBLIC, returns=RelatedOriginsSchema)
def get_related_origins() -> dict[str, Any]:
    """Get the origins whose pages may use the passkeys (WebAuthn Level 3, section 5.11).

    Browsers read it before they use a passkey of the server on a page of another origin. No token
    is needed.
    """
    return {"origins": list(_factor().party.origins)}


@routes.operation(
    "GET",
    "/.well-known/passkey-endpoints",
    access=Access.PUBLIC,
    returns=PasskeyEndpointsSchema,
    errors=(NOT_CONFIGURED,),
)
def get_passkey_endpoints() -> dict[str, str]:
    """Get the addresses of the pages on which users add and manage passkeys.

    Password managers read it to offer passkeys. It is 404 if the configuration names no page.
    """
    options = _factor().options
    pages = {"enroll": options.enroll_url, "manage": options.manage_url}
    if not any(pages.values()):
        raise ApiError(NOT_CONFIGURED)
    return {name: url for name, url in pages.items() if url}


@password_page.operation(
    "GET",
    "/.well-known/change-password",
    access=Access.PUBLIC,
    document={"responses": {"302": {"description": "The page"}}},
)
def redirect_to_change_password() -> Response:
    """Get redirected to the page on which users change their password.

    Password managers open it. No token is needed.
    """
    return redirect(_factor().options.change_password_url)  # type: ignore[return-value]


def _factor() -> PasskeyFactor:
    factor = current_host().extension(PasskeyFactor)
    assert factor is not None  # noqa: S101  the routes exist only with it
    return factor
