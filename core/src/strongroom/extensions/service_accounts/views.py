"""Endpoints for the service accounts of tenants, and for their access keys."""

from typing import Any

from strongroom.content.tenants import operations
from strongroom.extensions.service_accounts.service import ServiceAccountService
from strongroom.foundation import errors
from strongroom.identity.access_keys.schemas import (
    AccessKeySchema,
    CreatedKeySchema,
    NewServiceKeySchema,
    RotationSchema,
)
from strongroom.identity.access_keys.views import (
    PROOF_ERRORS,
    proof_of_body,
    request_of_body,
    serialize,
    serialize_new,
)
from strongroom.identity.service_accounts.schemas import NewServiceAccountSchema, ServiceAccountSchema
from strongroom.identity.service_accounts.views import serialize as serialize_account
from strongroom.plugin_api.schemas import DoneSchema, PagingQuery, collection_schema
from strongroom.plugin_api.web import Location
from strongroom.web.http.access import Access, current_identity
from strongroom.web.http.paging import envelope, paging
from strongroom.web.http.parsing import DONE
from strongroom.web.http.request import get_service, origin
from strongroom.web.http.routing import Blueprint

Json = dict[str, Any]

_ACCOUNT = "/<account_id>"
_KEYS = f"{_ACCOUNT}/access-keys"

blueprint = Blueprint(
    "service accounts",
    url_prefix="/api/v1/tenants/<tenant_id>/service-accounts",
    description="Accounts of machines, for administrators of a tenant.",
)


@blueprint.operation(
    "POST",
    "",
    access=Access.USER,
    rule=operations.CREATE_SERVICE_ACCOUNT,
    body=NewServiceAccountSchema,
    returns=ServiceAccountSchema,
    status=201,
    location=Location(
        "service accounts.get_service_account", {"tenant_id": "tenantId", "account_id": "id"}
    ),
    errors=(errors.Forbidden,),
)
def create_service_account(tenant_id: str, body: Json) -> Json:
    """Create a service account, which becomes a member of the tenant. It can never log in.

    Only administrators of the tenant may. Its role is `member`; it needs grants like any other member,
    and an access key for its requests.
    """
    service = get_service(ServiceAccountService)
    account = service.create(current_identity(), tenant_id, body["name"], origin())
    return {**serialize_account(account), "tenantId": tenant_id}


@blueprint.operation(
    "GET",
    "",
    access=Access.USER,
    rule=operations.LIST_SERVICE_ACCOUNTS,
    query=PagingQuery,
    returns=collection_schema(ServiceAccountSchema),
    compress=True,
    errors=(errors.Forbidden,),
)
def list_service_accounts(tenant_id: str, query: dict[str, int]) -> Json:
    """List the service accounts of a tenant, oldest first.

    For administrators of the tenant. Access keys are not included.
    """
    service = get_service(ServiceAccountService)
    page, creators = service.page(current_identity(), tenant_id, paging(query))
    return envelope(page, serialize_account, creators)


@blueprint.operation(
    "GET",
    _ACCOUNT,
    access=Access.USER,
    rule=operations.LIST_SERVICE_ACCOUNTS,
    returns=ServiceAccountSchema,
    errors=(errors.Forbidden, errors.NotFound),
)
def get_service_account(tenant_id: str, account_id: str) -> Json:
    """Get a service account.

    For administrators of the tenant. Its access keys are listed by `listServiceAccountKeys`.
    """
    return serialize_account(
        get_service(ServiceAccountService).get(current_identity(), tenant_id, account_id)
    )


@blueprint.operation(
    "DELETE",
    _ACCOUNT,
    access=Access.USER,
    rule=operations.DELETE_SERVICE_ACCOUNT,
    returns=DoneSchema,
    errors=(errors.Forbidden, errors.NotFound),
)
def delete_service_account(tenant_id: str, account_id: str) -> dict[str, bool]:
    """Delete a service account with its access keys. Its files stay with the tenant.

    For administrators of the tenant. Requests with its keys are refused from the next one on.
    """
    service = get_service(ServiceAccountService)
    service.delete(current_identity(), tenant_id, account_id, origin())
    return DONE


@blueprint.operation(
    "POST",
    _KEYS,
    access=Access.USER,
    rule=operations.CREATE_SERVICE_KEY,
    body=NewServiceKeySchema,
    returns=CreatedKeySchema,
    status=201,
    location=Location("service accounts.revoke_service_account_key", {"key_id": "id"}),
    errors=(errors.Forbidden, errors.NotFound, errors.TooManyKeys, *PROOF_ERRORS),
)
def create_service_account_key(tenant_id: str, account_id: str, body: Json) -> Json:
    """Create an access key of a service account, limited to the tenant.

    Requires a proof of the calling administrator, as for a key of the caller.
    """
    requested, proof = request_of_body(body), proof_of_body(body)
    service = get_service(ServiceAccountService)
    created = service.create_key(current_identity(), tenant_id, account_id, requested, proof, origin())
    return serialize_new(created)


@blueprint.operation(
    "GET",
    _KEYS,
    access=Access.USER,
    rule=operations.LIST_SERVICE_ACCOUNTS,
    query=PagingQuery,
    returns=collection_schema(AccessKeySchema),
    errors=(errors.Forbidden, errors.NotFound),
)
def list_service_account_keys(tenant_id: str, account_id: str, query: dict[str, int]) -> Json:
    """List the access keys of a service account, newest first.

    For administrators of the tenant. The secrets are not included: only the response that creates or
    rotates a key has one.
    """
    service = get_service(ServiceAccountService)
    return envelope(service.keys(current_identity(), tenant_id, account_id, paging(query)), serialize)


@blueprint.operation(
    "DELETE",
    f"{_KEYS}/<key_id>",
    access=Access.USER,
    rule=operations.REVOKE_SERVICE_KEY,
    returns=DoneSchema,
    errors=(errors.Forbidden, errors.NotFound),
)
def revoke_service_account_key(tenant_id: str, account_id: str, key_id: str) -> dict[str, bool]:
    """Revoke an access key of a service account. It is refused from the next request on.

    For administrators of the tenant. The account and its other keys stay.
    """
    service = get_service(ServiceAccountService)
    service.revoke_key(current_identity(), tenant_id, account_id, key_id, origin())
    return DONE


@blueprint.operation(
    "POST",
    f"{_KEYS}/<key_id>/rotate",
    access=Access.USER,
    rule=operations.CREATE_SERVICE_KEY,
    body=RotationSchema,
    returns=CreatedKeySchema,
    errors=(errors.Forbidden, errors.NotFound, *PROOF_ERRORS),
)
def rotate_service_account_key(tenant_id: str, account_id: str, key_id: str, body: Json) -> Json:
    """Give an access key of a service account a new secret and a new end.

    For administrators of the tenant, with the proof that a new key needs. Only this response has the
    new secret; the old secret stays valid for `overlapSeconds`.
    """
    proof, overlap = proof_of_body(body), body["overlapSeconds"] * 1000
    service = get_service(ServiceAccountService)
    rotated = service.rotate_key(
        current_identity(), tenant_id, account_id, key_id, overlap, proof, origin()
    )
    return serialize_new(rotated)
