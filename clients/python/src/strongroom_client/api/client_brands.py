"""Operations on client brands. Written by clients/python/generate_client.py from the OpenAPI document."""

from ..models import Client, ClientLogo, ClientUsage
from ..operations import UNSET, Operation, Unset, segment


def disable_client(
    client_id: str,
    *,
    if_match: str | Unset = UNSET,
    if_none_match: str | Unset = UNSET,
) -> Operation[Client]:
    """Disable a client: its grants end at once, and it logs no user in until it is enabled.

    The consents of its users remain.
    """
    return Operation(
        "POST",
        f"/api/v1/clients/{segment(client_id)}/disable",
        Client,
        headers={
            "If-Match": if_match,
            "If-None-Match": if_none_match,
        },
    )


def enable_client(
    client_id: str,
    *,
    if_match: str | Unset = UNSET,
    if_none_match: str | Unset = UNSET,
) -> Operation[Client]:
    """Enable a client that is disabled."""
    return Operation(
        "POST",
        f"/api/v1/clients/{segment(client_id)}/enable",
        Client,
        headers={
            "If-Match": if_match,
            "If-None-Match": if_none_match,
        },
    )


def get_client_logo(
    client_id: str,
    name: str,
) -> Operation[bytes]:
    """Get the logo of a client, which the pages of its users show."""
    return Operation(
        "GET",
        f"/oauth2/logos/{segment(client_id)}/{segment(name)}",
        bytes,
    )


def get_client_usage(
    client_id: str,
) -> Operation[ClientUsage]:
    """Get how many users have consented to a client, its last use, and the ends of its secrets."""
    return Operation(
        "GET",
        f"/api/v1/clients/{segment(client_id)}/usage",
        ClientUsage,
    )


def remove_client_logo(
    client_id: str,
    *,
    if_match: str | Unset = UNSET,
    if_none_match: str | Unset = UNSET,
) -> Operation[Client]:
    """Remove the logo of a client."""
    return Operation(
        "DELETE",
        f"/api/v1/clients/{segment(client_id)}/logo",
        Client,
        headers={
            "If-Match": if_match,
            "If-None-Match": if_none_match,
        },
    )


def set_client_logo(
    client_id: str,
    *,
    body: ClientLogo,
    if_match: str | Unset = UNSET,
    if_none_match: str | Unset = UNSET,
) -> Operation[Client]:
    """Set the logo of a client, which the pages of logins and consents show.

    It is a PNG of at most 2048 pixels on each side, or an SVG without scripts.
    """
    return Operation(
        "PUT",
        f"/api/v1/clients/{segment(client_id)}/logo",
        Client,
        headers={
            "If-Match": if_match,
            "If-None-Match": if_none_match,
        },
        body=body,
    )
