"""Endpoints for access keys."""

from typing import Any

from strongroom.foundation import errors
from strongroom.identity import operations
from strongroom.identity.access_keys.models import AccessKey
from strongroom.identity.access_keys.schemas import (
    AccessKeySchema,
    CreatedKeySchema,
    KeyChangeSchema,
    LeakedKeysSchema,
    NewKeySchema,
    RevokedKeysSchema,
    RotationSchema,
)
from strongroom.identity.access_keys.service import AccessKeyService, KeyRequest, NewKey
from strongroom.identity.accounts.reauthentication import Proof
from strongroom.plugin_api.authentication import Scope
from strongroom.plugin_api.login import VerificationCode
from strongroom.plugin_api.schemas import DoneSchema, PagingQuery, collection_schema
from strongroom.plugin_api.web import Location
from strongroom.web.http.access import Access, current_identity, own_id
from strongroom.web.http.paging import envelope, paging
from strongroom.web.http.parsing import DONE
from strongroom.web.http.request import get_service, origin
from strongroom.web.http.routing import Blueprint

Json = dict[str, Any]

blueprint = Blueprint("access keys", description="Access keys for machines.")

PROOF_ERRORS = (
    errors.CodeInvalid,
    errors.WrongPassword,
    errors.FreshProofRequired,
    errors.TooManyRequests,
)


@blueprint.operation(
    "POST",
    "/users/<user_id>/access-keys",
    access=Access.USER,
    rule=operations.CREATE_KEY,
    body=NewKeySchema,
    returns=CreatedKeySchema,
    status=201,
    location=Location("access keys.get_access_key", {"user_id": "userId", "key_id": "id"}),
    errors=(errors.Forbidden, errors.NotFound, errors.TooManyKeys, *PROOF_ERRORS),
)
def create_access_key(user_id: str, body: Json) -> Json:
    """Create an access key of the caller (`me`). Only this response contains the key.

    Administrators create keys of service accounts of the server, too.

    Requires a code for `bind`, the current password, or a login within the last 10 minutes.
    """
    proof = proof_of_body(body)
    created = get_service(AccessKeyService).create(
        current_identity(), own_id(user_id), request_of_body(body), proof, origin()
    )
    return serialize_new(created)


@blueprint.operation(
    "GET",
    "/users/<user_id>/access-keys",
    access=Access.USER,
    query=PagingQuery,
    returns=collection_schema(AccessKeySchema),
    errors=(errors.Forbidden, errors.NotFound),
)
def list_access_keys(user_id: str, query: dict[str, int]) -> Json:
    """List the access keys of a user, newest first; expired ones for a month.

    For the user and for administrators. The secret of a key is in no list: only the response that
    creates or rotates it has it.
    """
    page = get_service(AccessKeyService).page(current_identity(), own_id(user_id), paging(query))
    return envelope(page, serialize)


@blueprint.operation(
    "GET",
    "/users/<user_id>/access-keys/<key_id>",
    access=Access.USER,
    returns=AccessKeySchema,
    errors=(errors.Forbidden, errors.NotFound),
)
def get_access_key(user_id: str, key_id: str) -> Json:
    """Get an access key of a user, without its secret.

    For the user and for administrators. `lastUsedAt` and `lastUsedFrom` show whether it is still in use.
    """
    return serialize(get_service(AccessKeyService).get(current_identity(), own_id(user_id), key_id))


@blueprint.operation(
    "PATCH",
    "/users/<user_id>/access-keys/<key_id>",
    access=Access.USER,
    body=KeyChangeSchema,
    returns=AccessKeySchema,
    errors=(errors.Forbidden, errors.NotFound),
)
def rename_access_key(user_id: str, key_id: str, body: Json) -> Json:
    """Rename an access key of the caller. For other limits, create another key.

    Administrators rename keys of service accounts of the server, too. The key itself stays valid.
    """
    service = get_service(AccessKeyService)
    renamed = service.rename(current_identity(), own_id(user_id), key_id, body["name"], origin())
    return serialize(renamed)


@blueprint.operation(
    "DELETE",
    "/users/<user_id>/access-keys/<key_id>",
    access=Access.USER,
    returns=DoneSchema,
    errors=(errors.Forbidden, errors.NotFound),
)
def revoke_access_key(user_id: str, key_id: str) -> dict[str, bool]:
    """Revoke an access key. It is refused from the next request on.

    For the user and for administrators. It cannot be restored: create another key instead.
    """
    get_service(AccessKeyService).revoke(current_identity(), own_id(user_id), key_id, origin())
    return DONE


@blueprint.operation(
    "POST",
    "/users/<user_id>/access-keys/<key_id>/rotate",
    access=Access.USER,
    rule=operations.CREATE_KEY,
    body=RotationSchema,
    returns=CreatedKeySchema,
    errors=(errors.Forbidden, errors.NotFound, *PROOF_ERRORS),
)
def rotate_access_key(user_id: str, key_id: str, body: Json) -> Json:
    """Give an access key of the caller a new secret and a new end. The previous secret may overlap.

    Requires the same proof as its creation.
    """
    proof, overlap = proof_of_body(body), body["overlapSeconds"] * 1000
    service = get_service(AccessKeyService)
    rotated = service.rotate(current_identity(), own_id(user_id), key_id, overlap, proof, origin())
    return serialize_new(rotated)


@blueprint.operation(
    "POST",
    "/api/v1/leaked-keys",
    access=Access.PUBLIC,
    body=LeakedKeysSchema,
    returns=RevokedKeysSchema,
    limit="leaked_keys_per_address",
)
def report_leaked_keys(body: dict[str, list[str]]) -> dict[str, int]:
    """Revoke access keys that were found in a public place, and notify their users.

    The whole key is the permission to revoke it, so scanners for secrets need no account.
    """
    return {"revoked": get_service(AccessKeyService).revoke_leaked(body["keys"], origin())}


def proof_of_body(body: Json) -> Proof:
    """Return the proof in a body of ``ProofSchema``."""
    code = body["heldCode"]
    return Proof(VerificationCode(**code) if code else None, body["currentPassword"])


def request_of_body(body: Json, tenant_id: str | None = None) -> KeyRequest:
    """Return the key that a body requests; ``tenant_id`` replaces the tenant of the body."""
    return KeyRequest(
        name=body["name"],
        scopes=frozenset(Scope(scope) for scope in body["scopes"]),
        tenant_id=tenant_id or body.get("tenant_id"),
        folder_id=body["folder_id"],
        expires_at=body["expires_at"],
        addresses=body["addresses"],
    )


def serialize_new(created: NewKey) -> Json:
    """Return the JSON of a new key with its text."""
    return {**serialize(created.key), "key": created.text, "userId": created.key.user_id}


def serialize(key: AccessKey) -> Json:
    """Return the JSON of a key."""
    return {
        "id": key.id,
        "name": key.name,
        "scopes": key.scopes.split(),
        "tenantId": key.tenant_id,
        "fileId": key.folder_id,
        "addresses": key.addresses,
        "createdAt": key.created_at,
        "expiresAt": key.expires_at,
        "lastUsedAt": key.last_used_at,
        "lastUsedFrom": key.last_used_from,
    }
