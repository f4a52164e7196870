"""The routes of logos, states and uses of clients, below ``/api/v1/clients``."""

import base64
import binascii
from pathlib import PurePosixPath
from typing import Any, Final

from flask import Response

from strongroom.plugin_api.authentication import Sensitive
from strongroom.plugin_api.request import get_service
from strongroom.plugin_api.web import Access, ApiError, Blueprint, FieldError
from strongroom_oidc_provider.clients.brands import LOGOS, Brands
from strongroom_oidc_provider.clients.pictures import TYPES
from strongroom_oidc_provider.clients.states import ClientStates
from strongroom_oidc_provider.errors import LOGO_REFUSED, LOGO_UNKNOWN, OUTDATED, UNKNOWN
from strongroom_oidc_provider.limits import count
from strongroom_oidc_provider.models import Client
from strongroom_oidc_provider.schemas import ClientLogoSchema, ClientSchema, ClientUsageSchema

Json = dict[str, Any]

_ONE: Final = "/api/v1/clients/<client_id>"
_HEADERS: Final = {
    "Cache-Control": "public, max-age=31536000, immutable",
    # Also of a picture that is opened as a page of its own.
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox",
}
_BYTES: Final = {"schema": {"type": "string", "format": "binary"}}
# Generators of clients treat only the first type as bytes.
_CONTENT: Final = dict.fromkeys(("application/octet-stream", *TYPES.values()), _BYTES)
_PICTURE: Final = {"responses": {"200": {"description": "The picture", "content": _CONTENT}}}

routes = Blueprint(
    "client-brands",
    description="Logos, states and uses of clients.",
    parameters={
        "client_id": "Id of the client, the `client_id` of OAuth",
        "name": "Name of the picture, with the digest of its content",
    },
)


@routes.operation(
    "GET", f"{_ONE}/usage", access=Access.ADMIN, returns=ClientUsageSchema, errors=(UNKNOWN,)
)
def get_client_usage(client_id: str) -> Any:
    """Get how many users have consented to a client, its last use, and the ends of its secrets."""
    return get_service(ClientStates).get_usage(client_id)


@routes.operation(
    "POST", f"{_ONE}/disable", access=Access.ADMIN, returns=ClientSchema, errors=(UNKNOWN, OUTDATED)
)
def disable_client(client_id: str, revision: int | None) -> Client:
    """Disable a client: its grants end at once, and it logs no user in until it is enabled.

    The consents of its users remain.
    """
    return get_service(ClientStates).disable(client_id, revision)


@routes.operation(
    "POST",
    f"{_ONE}/enable",
    access=Access.ADMIN,
    sensitive=Sensitive.KEYS,
    returns=ClientSchema,
    errors=(UNKNOWN, OUTDATED),
)
def enable_client(client_id: str, revision: int | None) -> Client:
    """Enable a client that is disabled."""
    return get_service(ClientStates).enable(client_id, revision)


@routes.operation(
    "PUT",
    f"{_ONE}/logo",
    access=Access.ADMIN,
    sensitive=Sensitive.KEYS,
    body=ClientLogoSchema,
    returns=ClientSchema,
    errors=(UNKNOWN, OUTDATED, LOGO_REFUSED),
)
def set_client_logo(client_id: str, body: Json, revision: int | None) -> Client:
    """Set the logo of a client, which the pages of logins and consents show.

    It is a PNG of at most 2048 pixels on each side, or an SVG without scripts.
    """
    return get_service(Brands).set_logo(client_id, _decode(body["picture"]), revision)


@routes.operation(
    "DELETE",
    f"{_ONE}/logo",
    access=Access.ADMIN,
    returns=ClientSchema,
    errors=(UNKNOWN, OUTDATED),
)
def remove_client_logo(client_id: str, revision: int | None) -> Client:
    """Remove the logo of a client."""
    return get_service(Brands).remove_logo(client_id, revision)


@routes.operation(
    "GET",
    f"{LOGOS}/<client_id>/<name>",
    access=Access.PUBLIC,
    limit=count,
    errors=(LOGO_UNKNOWN,),
    document=_PICTURE,
)
def get_client_logo(client_id: str, name: str) -> Response:
    """Get the logo of a client, which the pages of its users show."""
    content = get_service(Brands).find_logo(client_id, name)
    if content is None:
        raise ApiError(LOGO_UNKNOWN)
    return Response(content, content_type=TYPES[PurePosixPath(name).suffix], headers=_HEADERS)


def _decode(text: str) -> bytes:
    try:
        return base64.b64decode("".join(text.split()), validate=True)
    except (binascii.Error, ValueError) as error:
        raise ApiError(
            LOGO_REFUSED, details=[FieldError("picture", "invalid", "Must be Base64.")]
        ) from error
