"""Endpoints for the service accounts of the server. Their keys are made by ``access_keys``."""

from typing import Any

from strongroom.foundation import errors
from strongroom.identity import operations
from strongroom.identity.service_accounts.models import ServiceAccount
from strongroom.identity.service_accounts.schemas import NewServiceAccountSchema, ServiceAccountSchema
from strongroom.identity.service_accounts.service import ServerAccountService
from strongroom.plugin_api.schemas import DoneSchema, PagingQuery, collection_schema
from strongroom.plugin_api.web import Location
from strongroom.web.http.access import Access, current_identity
from strongroom.web.http.paging import envelope, paging, reference
from strongroom.web.http.parsing import DONE
from strongroom.web.http.request import get_service, origin
from strongroom.web.http.routing import Blueprint

Json = dict[str, Any]

_ACCOUNT = "/<account_id>"

blueprint = Blueprint(
    "server accounts",
    url_prefix="/api/v1/service-accounts",
    description="Service accounts of the server, for its administrators.",
)


@blueprint.operation(
    "POST",
    "",
    access=Access.ADMIN,
    rule=operations.CHANGE_SERVER_ACCOUNTS,
    body=NewServiceAccountSchema,
    returns=ServiceAccountSchema,
    status=201,
    location=Location("server accounts.get_server_account", {"account_id": "id"}),
)
def create_server_account(body: Json) -> Json:
    """Create a service account of the server. It can never log in; it acts by access keys only.

    Administrators create its keys by `POST /users/{userId}/access-keys`.
    """
    service = get_service(ServerAccountService)
    return serialize(service.create(current_identity(), body["name"], origin()))


@blueprint.operation(
    "GET",
    "",
    access=Access.ADMIN,
    query=PagingQuery,
    returns=collection_schema(ServiceAccountSchema),
    compress=True,
)
def list_server_accounts(query: dict[str, int]) -> Json:
    """List the service accounts of the server, oldest first.

    For administrators. Service accounts of tenants are not among them: each tenant lists its own.
    """
    page, creators = get_service(ServerAccountService).page(paging(query))
    return envelope(page, serialize, creators)


@blueprint.operation(
    "GET",
    _ACCOUNT,
    access=Access.ADMIN,
    returns=ServiceAccountSchema,
    errors=(errors.NotFound,),
)
def get_server_account(account_id: str) -> Json:
    """Get a service account of the server.

    For administrators. 404 for the service account of a tenant.
    """
    return serialize(get_service(ServerAccountService).get(account_id))


@blueprint.operation(
    "PATCH",
    _ACCOUNT,
    access=Access.ADMIN,
    body=NewServiceAccountSchema,
    returns=ServiceAccountSchema,
    errors=(errors.NotFound,),
)
def rename_server_account(account_id: str, body: Json) -> Json:
    """Rename a service account of the server.

    For administrators. The keys of the account stay valid.
    """
    service = get_service(ServerAccountService)
    return serialize(service.rename(current_identity(), account_id, body["name"], origin()))


@blueprint.operation(
    "DELETE",
    _ACCOUNT,
    access=Access.ADMIN,
    rule=operations.CHANGE_SERVER_ACCOUNTS,
    returns=DoneSchema,
    errors=(errors.NotFound,),
)
def delete_server_account(account_id: str) -> dict[str, bool]:
    """Delete a service account of the server with its access keys.

    For administrators. Requests with its keys are refused at once. It cannot be restored.
    """
    get_service(ServerAccountService).delete(current_identity(), account_id, origin())
    return DONE


def serialize(account: ServiceAccount) -> Json:
    """Return the JSON of a service account."""
    return {
        "id": account.id,
        "name": account.name,
        "created_by": reference(account.created_by),
        "created_at": account.created_at,
    }
