"""Operations on discovery. Written by clients/python/generate_client.py from the OpenAPI document."""

from ..operations import Operation


def check_oauth_authorization_server() -> Operation[None]:
    """Answer a browser that checks whether its script may read the document.

    It may, whatever headers it sends: the document is public.
    """
    return Operation(
        "OPTIONS",
        "/.well-known/oauth-authorization-server",
        type(None),
    )


def check_openid_configuration() -> Operation[None]:
    """Answer a browser that checks whether its script may read the document.

    It may, whatever headers it sends: the document is public.
    """
    return Operation(
        "OPTIONS",
        "/.well-known/openid-configuration",
        type(None),
    )


def get_oauth_authorization_server() -> Operation[None]:
    """Get a document by which clients discover a service (RFC 8615).

    Scripts of any origin may read it, and clients may store it for minutes.
    """
    return Operation(
        "GET",
        "/.well-known/oauth-authorization-server",
        type(None),
    )


def get_openid_configuration() -> Operation[None]:
    """Get a document by which clients discover a service (RFC 8615).

    Scripts of any origin may read it, and clients may store it for minutes.
    """
    return Operation(
        "GET",
        "/.well-known/openid-configuration",
        type(None),
    )
