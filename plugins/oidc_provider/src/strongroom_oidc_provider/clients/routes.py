"""The routes below ``/api/v1/clients``."""

from dataclasses import asdict
from typing import Any, Final

from strongroom.plugin_api.authentication import Sensitive
from strongroom.plugin_api.request import current_host, get_service
from strongroom.plugin_api.schemas import DoneSchema, PagingQuery, collection_schema
from strongroom.plugin_api.web import Access, Blueprint
from strongroom_oidc_provider.clients.clients import Clients
from strongroom_oidc_provider.errors import (
    ACCOUNT_REFUSED,
    OUTDATED,
    SECRETLESS,
    TOO_MANY,
    UNKNOWN,
    URI_REFUSED,
)
from strongroom_oidc_provider.models import Client
from strongroom_oidc_provider.schemas import (
    ClientChangesSchema,
    ClientSchema,
    ClientSecretRotationSchema,
    ClientSecretSchema,
    NewClientSchema,
    NewClientWithSecretSchema,
)

Json = dict[str, Any]

_ROOT: Final = "/api/v1/clients"
_ONE: Final = f"{_ROOT}/<client_id>"

routes = Blueprint(
    "clients",
    description="Applications that log their users in here.",
    parameters={"client_id": "Id of the client, the `client_id` of OAuth"},
)


@routes.operation(
    "POST",
    _ROOT,
    access=Access.ADMIN,
    sensitive=Sensitive.KEYS,
    body=NewClientSchema,
    returns=NewClientWithSecretSchema,
    status=201,
    errors=(URI_REFUSED, TOO_MANY, ACCOUNT_REFUSED),
)
def create_client(body: Json) -> Any:
    """Create a client; the answer alone has its secret."""
    client, secret = get_service(Clients).create(body)
    url = f"{current_host().public_url}{_ROOT}/{client.id}"
    return asdict(client) | {"secret": secret}, 201, {"Location": url}


@routes.operation(
    "GET",
    _ROOT,
    access=Access.ADMIN,
    query=PagingQuery,
    returns=collection_schema(ClientSchema),
)
def list_clients(query: Json) -> Any:
    """List the clients, the oldest first. Secrets are not included."""
    return current_host().lists.collection(get_service(Clients).list(query), query)


@routes.operation("GET", _ONE, access=Access.ADMIN, returns=ClientSchema, errors=(UNKNOWN,))
def get_client(client_id: str) -> Client:
    """Get a client.

    Its secret is not included; a lost one is replaced by `rotateClientSecret`.
    """
    return get_service(Clients).get(client_id)


@routes.operation(
    "PATCH",
    _ONE,
    access=Access.ADMIN,
    sensitive=Sensitive.KEYS,
    body=ClientChangesSchema,
    returns=ClientSchema,
    errors=(UNKNOWN, URI_REFUSED, OUTDATED, ACCOUNT_REFUSED),
)
def update_client(client_id: str, body: Json, revision: int | None) -> Client:
    """Change a client.

    Grants that exist keep their scopes; delete the client to end them.
    """
    return get_service(Clients).update(client_id, body, revision)


@routes.operation("DELETE", _ONE, access=Access.ADMIN, returns=DoneSchema, errors=(UNKNOWN, OUTDATED))
def delete_client(client_id: str, revision: int | None) -> Json:
    """Delete a client. It cannot be undone."""
    get_service(Clients).delete(client_id, revision)
    return {"success": True}


@routes.operation(
    "POST",
    f"{_ONE}/rotate-secret",
    access=Access.ADMIN,
    sensitive=Sensitive.KEYS,
    body=ClientSecretRotationSchema,
    returns=ClientSecretSchema,
    errors=(UNKNOWN, SECRETLESS),
)
def rotate_client_secret(client_id: str, body: Json) -> Json:
    """Create a new secret; the former one remains valid for a time.

    At most two secrets are valid: a further rotation ends the oldest one at once.
    """
    return {"secret": get_service(Clients).rotate(client_id, body["overlapSeconds"])}
