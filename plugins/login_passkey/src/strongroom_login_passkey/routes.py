"""The well-known addresses that browsers and password managers read."""

from typing import Any, Final

from flask import Response, redirect

from strongroom.plugin_api.web import Access, ApiError, Blueprint, ErrorKind, HostAPI
from strongroom_login_passkey.factor import PasskeyFactor
from strongroom_login_passkey.schemas import PasskeyEndpointsSchema, RelatedOriginsSchema
from strongroom_login_passkey.user_routes import add_user_routes

NOT_CONFIGURED: Final = ErrorKind(
    404, "error.passkey-page-not-configured", "The server has no page for this."
)


def make_routes(host: HostAPI, factor: PasskeyFactor) -> Blueprint:
    """Return the routes of the enabled factor."""
    routes = host.blueprint(
        "passkeys",
        description="What browsers and password managers read.",
        parameters={"passkey_id": "Id of the passkey, as in the list of the user's passkeys"},
    )
    options = factor.options

    @routes.operation("GET", "/.well-known/webauthn", access=Access.PUBLIC, returns=RelatedOriginsSchema)
    def get_related_origins() -> dict[str, Any]:
        """Get the origins whose pages may use the passkeys (WebAuthn Level 3, section 5.11).

        Browsers read it before they use a passkey of the server on a page of another origin. No token
        is needed.
        """
        return {"origins": list(factor.party.origins)}

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
        pages = {"enroll": options.enroll_url, "manage": options.manage_url}
        if not any(pages.values()):
            raise ApiError(NOT_CONFIGURED)
        return {name: url for name, url in pages.items() if url}

    if options.change_password_url:
        # Otherwise the server leads to its own page, if there are login pages.
        _add_password_page(routes, options.change_password_url)
    add_user_routes(routes, host)
    return routes


def _add_password_page(routes: Blueprint, url: str) -> None:
    @routes.operation(
        "GET",
        "/.well-known/change-password",
        access=Access.PUBLIC,
        document={"responses": {"302": {"description": "The page"}}},
    )
    def redirect_to_change_password() -> Response:
        """Get redirected to the page on which users change their password.

        Password managers open it. No token is needed.
        """
        return redirect(url)  # type: ignore[return-value]
