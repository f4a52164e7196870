"""The routes by which administrators register directories."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from strongroom.plugin_api.authentication import Sensitive
from strongroom.plugin_api.provisioning import DirectoryInfo, ProvisioningAPI
from strongroom.plugin_api.request import current_host
from strongroom.plugin_api.schemas import DoneSchema, PagingQuery, collection_schema
from strongroom.plugin_api.web import Access, ApiError, Blueprint, ErrorKind
from strongroom_scim.errors import FORBIDDEN, SUCCESSOR_UNKNOWN, UNKNOWN
from strongroom_scim.schemas import DirectoryErrorSchema, DirectoryRequestSchema, DirectorySchema

Json = dict[str, Any]

_OF_TENANT: Final = "/api/v1/tenants/<tenant_id>/directories"
_OF_SERVER: Final = "/api/v1/directories"

_KINDS: Final[dict[str, ErrorKind]] = {
    "error.forbidden": FORBIDDEN,
    "error.not-found": UNKNOWN,
    "error.not-a-member": SUCCESSOR_UNKNOWN,
}

routes = Blueprint(
    "directories",
    description="Directories that provision users and groups by SCIM.",
    parameters={"directory_id": "Id of the directory, as in the list of directories"},
)


@routes.operation(
    "POST",
    _OF_TENANT,
    access=Access.USER,
    sensitive=Sensitive.TENANTS,
    body=DirectoryRequestSchema,
    returns=DirectorySchema,
    status=201,
    errors=(FORBIDDEN, SUCCESSOR_UNKNOWN),
)
def register_directory(tenant_id: str, body: Json) -> Any:
    """Let a service account provision users and groups of a tenant.

    For administrators of the tenant. The account is one of the tenant, or of the server.
    """
    return _register(tenant_id, body)


@routes.operation(
    "GET",
    _OF_TENANT,
    access=Access.USER,
    query=PagingQuery,
    returns=collection_schema(DirectorySchema),
    errors=(FORBIDDEN,),
)
def list_directories(tenant_id: str, query: Json) -> Any:
    """List the directories of a tenant, the oldest first.

    For administrators of the tenant.
    """
    return _list(tenant_id, query)


@routes.operation(
    "PUT",
    f"{_OF_TENANT}/<directory_id>",
    access=Access.USER,
    sensitive=Sensitive.TENANTS,
    body=DirectoryRequestSchema,
    returns=DirectorySchema,
    errors=(FORBIDDEN, UNKNOWN, SUCCESSOR_UNKNOWN),
)
def change_directory(tenant_id: str, directory_id: str, body: Json) -> DirectoryInfo:
    """Replace the values of a directory, also its account. What it has created stays its own.

    For administrators of the tenant.
    """
    return _change(tenant_id, directory_id, body)


@routes.operation(
    "DELETE",
    f"{_OF_TENANT}/<directory_id>",
    access=Access.USER,
    sensitive=Sensitive.TENANTS,
    returns=DoneSchema,
    errors=(FORBIDDEN, UNKNOWN),
)
def remove_directory(tenant_id: str, directory_id: str) -> Json:
    """Remove a directory. Its users and groups stay; no directory changes them any more.

    For administrators of the tenant.
    """
    return _remove(tenant_id, directory_id)


@routes.operation(
    "GET",
    f"{_OF_TENANT}/<directory_id>/errors",
    access=Access.USER,
    query=PagingQuery,
    returns=collection_schema(DirectoryErrorSchema),
    errors=(FORBIDDEN, UNKNOWN),
)
def list_directory_errors(tenant_id: str, directory_id: str, query: Json) -> Any:
    """List the users and groups whose last request was refused, the newest first.

    For administrators of the tenant. An error stays until a request about the same user or group
    succeeds, and for 30 days; a directory has at most 1,000.
    """
    return _list_errors(tenant_id, directory_id, query)


@routes.operation(
    "POST",
    _OF_SERVER,
    access=Access.USER,
    sensitive=Sensitive.TENANTS,
    body=DirectoryRequestSchema,
    returns=DirectorySchema,
    status=201,
    errors=(FORBIDDEN, SUCCESSOR_UNKNOWN),
)
def register_server_directory(body: Json) -> Any:
    """Let a service account of the server provision users of the server, who belong to no tenant.

    For administrators of the server.
    """
    return _register(None, body)


@routes.operation(
    "GET",
    _OF_SERVER,
    access=Access.USER,
    query=PagingQuery,
    returns=collection_schema(DirectorySchema),
    errors=(FORBIDDEN,),
)
def list_server_directories(query: Json) -> Any:
    """List the directories of the server, the oldest first.

    For administrators of the server.
    """
    return _list(None, query)


@routes.operation(
    "PUT",
    f"{_OF_SERVER}/<directory_id>",
    access=Access.USER,
    sensitive=Sensitive.TENANTS,
    body=DirectoryRequestSchema,
    returns=DirectorySchema,
    errors=(FORBIDDEN, UNKNOWN, SUCCESSOR_UNKNOWN),
)
def change_server_directory(directory_id: str, body: Json) -> DirectoryInfo:
    """Replace the values of a directory of the server. What it has created stays its own.

    For administrators of the server.
    """
    return _change(None, directory_id, body)


@routes.operation(
    "DELETE",
    f"{_OF_SERVER}/<directory_id>",
    access=Access.USER,
    sensitive=Sensitive.TENANTS,
    returns=DoneSchema,
    errors=(FORBIDDEN, UNKNOWN),
)
def remove_server_directory(directory_id: str) -> Json:
    """Remove a directory of the server. Its users stay; no directory changes them any more.

    For administrators of the server.
    """
    return _remove(None, directory_id)


@routes.operation(
    "GET",
    f"{_OF_SERVER}/<directory_id>/errors",
    access=Access.USER,
    query=PagingQuery,
    returns=collection_schema(DirectoryErrorSchema),
    errors=(FORBIDDEN, UNKNOWN),
)
def list_server_directory_errors(directory_id: str, query: Json) -> Any:
    """List the users whose last request was refused, the newest first.

    For administrators of the server. As `listDirectoryErrors`.
    """
    return _list_errors(None, directory_id, query)


def _register(tenant_id: str | None, body: Json) -> Any:
    with _provisioning() as provisioning:
        directory = provisioning.register_directory(
            tenant_id, body["name"], body["accountId"], **_options(body)
        )
    path = _OF_SERVER if tenant_id is None else _OF_TENANT.replace("<tenant_id>", tenant_id)
    url = f"{current_host().public_url}{path}/{directory.id}"
    return directory, 201, {"Location": url}


def _list(tenant_id: str | None, query: Json) -> Any:
    with _provisioning() as provisioning:
        page = provisioning.directories(tenant_id, query=query)
    return current_host().lists.collection(page, query)


def _list_errors(tenant_id: str | None, directory_id: str, query: Json) -> Any:
    with _provisioning() as provisioning:
        page = provisioning.errors(tenant_id, directory_id, query=query)
    return current_host().lists.collection(page, query)


def _change(tenant_id: str | None, directory_id: str, body: Json) -> DirectoryInfo:
    with _provisioning() as provisioning:
        return provisioning.change_directory(
            tenant_id, directory_id, body["name"], body["accountId"], **_options(body)
        )


def _remove(tenant_id: str | None, directory_id: str) -> Json:
    with _provisioning() as provisioning:
        provisioning.remove_directory(tenant_id, directory_id)
    return {"success": True}


def _options(body: Json) -> Json:
    return {"may_write": body["mayWrite"], "successor_id": body["successorId"]}


@contextmanager
def _provisioning() -> Iterator[ProvisioningAPI]:
    """Yield the methods of the host, whose errors become the ones of these routes."""
    try:
        yield current_host().provisioning
    except ApiError as error:
        kind = _KINDS.get(error.code)
        raise error if kind is None else ApiError(kind) from error
