"""The route that exchanges a login code for the tokens of the login."""

from typing import Any, Final

from strongroom.plugin_api.request import get_service
from strongroom.plugin_api.web import Access, ApiError, Blueprint, ErrorKind
from strongroom_login_pages.front_ends.codes import LoginCodes
from strongroom_login_pages.front_ends.schemas import LoginCodeSchema, LoginPageTokensSchema

CODE_INVALID: Final = ErrorKind(
    400, "error.login-code-invalid", "The code is wrong, expired or used; begin the login again."
)


routes = Blueprint("login pages", description="Log in by the pages of the server.")


@routes.operation(
    "POST",
    "/api/v1/login-codes",
    access=Access.PUBLIC,
    body=LoginCodeSchema,
    returns=LoginPageTokensSchema,
    errors=(CODE_INVALID,),
)
def redeem_login_code(body: dict[str, str]) -> Any:
    """Exchange the code that the login page has returned, once and within a minute, for tokens.

    `codeVerifier` is the secret whose SHA-256 the front end has passed as `codeChallenge`
    (RFC 7636).
    """
    tokens = get_service(LoginCodes).consume(body["code"], body["codeVerifier"])
    if tokens is None:
        raise ApiError(CODE_INVALID)
    return tokens
