"""Operations on login pages. Written by clients/python/generate_client.py from the OpenAPI document."""

from ..models import LoginCode, LoginPageTokens
from ..operations import Operation


def redeem_login_code(
    *,
    body: LoginCode,
) -> Operation[LoginPageTokens]:
    """Exchange the code that the login page has returned, once and within a minute, for tokens.

    `codeVerifier` is the secret whose SHA-256 the front end has passed as `codeChallenge`
    (RFC 7636).
    """
    return Operation(
        "POST",
        "/api/v1/login-codes",
        LoginPageTokens,
        body=body,
    )
