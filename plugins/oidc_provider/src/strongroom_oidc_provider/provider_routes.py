"""The routes of the protocol, and its pages."""

from collections.abc import Callable
from typing import Any, Final

from strongroom.plugin_api.request import get_service
from strongroom.plugin_api.web import Access, ApiError, Blueprint
from strongroom_oidc_provider.clients.registration import Registrations
from strongroom_oidc_provider.devices.page import PATH, DevicePage
from strongroom_oidc_provider.limits import count
from strongroom_oidc_provider.logins.authorization import Authorizations
from strongroom_oidc_provider.logins.pages import ProviderPages
from strongroom_oidc_provider.logout.logout import Logouts
from strongroom_oidc_provider.oauth.server import ProviderServer
from strongroom_oidc_provider.user_info import UserInfoEndpoint

_HTML: Final = {"text/html": {"schema": {"type": "string"}}}
_JSON: Final = {"application/json": {"schema": {"type": "object"}}}
_PAGE: Final = {
    "responses": {
        "200": {"description": "The page", "content": _HTML},
        "302": {"description": "The redirect to the client, with a code or an error"},
        "303": {"description": "The way to the login, or to the page of the consent"},
        "400": {"description": "A page: the client or its redirect URI is unknown", "content": _HTML},
    }
}
_LOGOUT: Final = {
    "responses": {
        "200": {"description": "The page that confirms the logout, or asks for it", "content": _HTML},
        "303": {"description": "The redirect to the client, or to `endSession`"},
        "400": {"description": "A page: the client or its redirect URI is unknown", "content": _HTML},
    }
}
_DEVICE_PAGE: Final = {
    "responses": {
        "200": {"description": "The page", "content": _HTML},
        "303": {"description": "The way to the login"},
        "400": {"description": "The page: no device waits with the code", "content": _HTML},
        "429": {"description": "The page: too many wrong codes", "content": _HTML},
    }
}
_FORM: Final = {"application/x-www-form-urlencoded": {"schema": {"type": "object"}}}
_ENDPOINT: Final = {
    "requestBody": {"content": _FORM},
    "responses": {
        "200": {"description": "The response of the protocol", "content": _JSON},
        "400": {"description": "`error` and `error_description`", "content": _JSON},
        "401": {"description": "The client is unknown, or its secret is wrong", "content": _JSON},
    },
}
_PUSHED: Final = {
    "requestBody": {"content": _FORM},
    "responses": {
        "201": {"description": "`request_uri` and `expires_in`", "content": _JSON},
        "400": {"description": "`error` and `error_description`", "content": _JSON},
        "401": {"description": "The client is unknown, or its secret is wrong", "content": _JSON},
    },
}
_REGISTRATION: Final = {
    "requestBody": {"content": _JSON},
    "responses": {
        "201": {"description": "The client, with `client_id`", "content": _JSON},
        "400": {"description": "`error` and `error_description`", "content": _JSON},
        "401": {"description": "The initial access token is invalid", "content": _JSON},
        "403": {"description": "Clients cannot register themselves", "content": _JSON},
        "503": {"description": "The server has its maximum of clients", "content": _JSON},
    },
}
_USER_INFO: Final = {
    "responses": {
        "200": {"description": "The claims about the user", "content": _JSON},
        "401": {"description": "The access token is invalid", "content": _JSON},
        "403": {"description": "The access token has not the scope `openid`", "content": _JSON},
    }
}


routes = Blueprint(
    "oidc",
    description="OpenID Connect and OAuth 2.1, for the clients of this server.",
    parameters={"request_id": "Id of the request in the browser that sent it"},
)


@routes.operation(
    "GET", "/oauth2/authorize", access=Access.PUBLIC, limit=count, any_query=True, document=_PAGE
)
def begin_authorization() -> Any:
    """Ask the user of the browser to log in, and to consent, for a client (RFC 6749, section 4.1.1).

    The parameters are in the query. The browser returns to the client's redirect URI with a code, for
    60 seconds. PKCE by S256 is required of every client.
    """
    return get_service(Authorizations).begin()


@routes.operation(
    "POST", "/oauth2/authorize", access=Access.PUBLIC, limit=count, any_query=True, document=_PAGE
)
def begin_authorization_by_form() -> Any:
    """Ask as `beginAuthorization` does, with the parameters in a form.

    The browser is redirected to that operation.
    """
    return get_service(Authorizations).begin_by_form()


@routes.operation(
    "POST", "/oauth2/par", access=Access.PUBLIC, limit=count, any_query=True, document=_PUSHED
)
def push_authorization() -> Any:
    """Send the parameters of `beginAuthorization` before the browser does (RFC 9126).

    The client authenticates as at `issueTokens`. The browser is sent to `beginAuthorization` with
    `client_id` and the `request_uri` of the response, once, within 60 seconds.
    """
    return get_service(Authorizations).push()


@routes.operation(
    "GET", "/oauth2/authorize/<request_id>", access=Access.PUBLIC, limit=count, document=_PAGE
)
def continue_authorization(request_id: str) -> Any:  # noqa: ARG001  only the path has the cookie
    """Show the page of the consent, after the login.

    The request is in a cookie of the browser, for this path only.
    """
    return get_service(Authorizations).resume()


@routes.operation(
    "POST", "/oauth2/decision", access=Access.PUBLIC, limit=count, any_query=True, document=_PAGE
)
def decide_authorization() -> Any:
    """Accept or refuse a request by the form of the page of the consent."""
    return _answer_form(get_service(Authorizations).decide)


@routes.operation(
    "POST", "/oauth2/token", access=Access.PUBLIC, limit=count, any_query=True, document=_ENDPOINT
)
def issue_tokens() -> Any:
    """Exchange a code or a refresh token for tokens (RFC 6749, sections 4.1.3, 4.4 and 6).

    A client with a secret authenticates by Basic or by its form. A code or refresh token that is used
    twice ends its grant. A client with a service account needs its secret alone.
    """
    return get_service(ProviderServer).answer_token()


@routes.operation(
    "POST",
    "/oauth2/register",
    access=Access.PUBLIC,
    limit=count,
    any_query=True,
    document=_REGISTRATION,
)
def register_own_client() -> Any:
    """Register a client at its own request (RFC 7591), if `registration` allows it.

    Software statements are refused. A client that no user consents to within a day is deleted.
    """
    return get_service(Registrations).answer()


@routes.operation(
    "POST", "/oauth2/revoke", access=Access.PUBLIC, limit=count, any_query=True, document=_ENDPOINT
)
def revoke_tokens() -> Any:
    """End the grant of an access or refresh token of the client (RFC 7009).

    An unknown token is a success, too.
    """
    return get_service(ProviderServer).answer("revocation")


@routes.operation(
    "POST", "/oauth2/introspect", access=Access.PUBLIC, limit=count, any_query=True, document=_ENDPOINT
)
def introspect_token() -> Any:
    """Get the state of a token (RFC 7662), for its client and for the service that it is for."""
    return get_service(ProviderServer).answer("introspection")


@routes.operation(
    "GET", "/oauth2/userinfo", access=Access.PUBLIC, limit=count, any_query=True, document=_USER_INFO
)
def get_user_info() -> Any:
    """Get the claims about the user of an access token, by its scopes.

    The token is in the header `Authorization: Bearer`, and has the scope `openid`.
    """
    return get_service(UserInfoEndpoint).answer()


@routes.operation(
    "POST", "/oauth2/userinfo", access=Access.PUBLIC, limit=count, any_query=True, document=_USER_INFO
)
def get_user_info_by_form() -> Any:
    """Get the claims about the user of an access token, which may be in the form as `access_token`."""
    return get_service(UserInfoEndpoint).answer()


@routes.operation(
    "GET", "/oauth2/end-session", access=Access.PUBLIC, limit=count, any_query=True, document=_LOGOUT
)
def end_session() -> Any:
    """Log the user of the browser out, for a client (OpenID Connect RP-Initiated Logout 1.0).

    Without an `id_token_hint` of the user, a page asks the user first. The browser goes on to
    `post_logout_redirect_uri`, which the client must have registered.
    """
    return get_service(Logouts).begin()


@routes.operation(
    "POST", "/oauth2/end-session", access=Access.PUBLIC, limit=count, any_query=True, document=_LOGOUT
)
def end_session_by_form() -> Any:
    """Log out as `endSession` does, with the parameters in a form.

    The browser is redirected to that operation.
    """
    return get_service(Logouts).begin_by_form()


@routes.operation(
    "POST", "/oauth2/logout", access=Access.PUBLIC, limit=count, any_query=True, document=_LOGOUT
)
def confirm_logout() -> Any:
    """Log out by the form of the page that asks for it."""
    return _answer_form(get_service(Logouts).confirm, "logout-refused")


@routes.operation(
    "POST",
    "/oauth2/device-authorization",
    access=Access.PUBLIC,
    limit=count,
    any_query=True,
    document=_ENDPOINT,
)
def authorize_device() -> Any:
    """Get a code for a device, and one that its user enters on the page `/device` (RFC 8628).

    The device then requests tokens with its code, at most every `interval` seconds.
    """
    return get_service(ProviderServer).answer("device_authorization")


@routes.operation("GET", PATH, access=Access.PUBLIC, limit=count, any_query=True, document=_DEVICE_PAGE)
def show_device_page() -> Any:
    """Show the page that asks for the code of a device, which `user_code` fills in."""
    return get_service(DevicePage).show()


@routes.operation("POST", PATH, access=Access.PUBLIC, limit=count, any_query=True, document=_DEVICE_PAGE)
def answer_device_page() -> Any:
    """Show the device of a code, and then allow or refuse it, by the forms of the page."""
    return _answer_form(get_service(DevicePage).answer)


def _answer_form(answer: Callable[[], Any], heading: str = "refused") -> Any:
    """Return the response to a form of a page, or the page for a form that another page has sent."""
    try:
        return answer()
    except ApiError as error:
        if error.code != "error.form-refused":
            raise
        return get_service(ProviderPages).refusal("form-refused", error.status, heading)
