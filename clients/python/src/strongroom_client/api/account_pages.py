"""Operations on account pages. Written by clients/python/generate_client.py from the OpenAPI document."""

from ..operations import Operation


def redirect_to_change_password() -> Operation[None]:
    """Get redirected to the page on which users change their password.

    Password managers open this well-known URL, which needs no token.
    """
    return Operation(
        "GET",
        "/.well-known/change-password",
        type(None),
    )
