"""Endpoints of the locks of files and folders."""

from typing import Any

from strongroom.content.nodes import operations
from strongroom.content.nodes.lock_models import Lock
from strongroom.extensions.locks.schemas import LockDurationSchema, LockSchema, NewLockSchema
from strongroom.extensions.locks.service import LockService, WantedLock
from strongroom.foundation import errors
from strongroom.plugin_api.schemas import DoneSchema, PagingQuery, collection_schema
from strongroom.web.http.access import Access, current_identity
from strongroom.web.http.paging import envelope, paging, reference
from strongroom.web.http.parsing import DONE
from strongroom.web.http.request import get_service
from strongroom.web.http.routing import Blueprint

Json = dict[str, Any]

blueprint = Blueprint(
    "locks",
    url_prefix="/api/v1/tenants/<tenant_id>/files/<file_id>/locks",
    description="Locks of files and folders for changes by others.",
    parameters={"lock_id": "`id` of the lock, as in the list of locks"},
)

_ERRORS = (errors.Forbidden, errors.NotFound)


@blueprint.operation(
    "GET",
    "",
    access=Access.USER,
    rule=operations.LIST_LOCKS,
    query=PagingQuery,
    returns=collection_schema(LockSchema),
    compress=True,
    errors=_ERRORS,
)
def list_locks(tenant_id: str, file_id: str, query: dict[str, int]) -> Json:
    """List the locks that cover a file or folder; the last to end is first.

    The caller needs the permission `read`. Locks of the folders around it are included if they are deep.
    """
    service = get_service(LockService)
    page, included = service.page(current_identity(), tenant_id, file_id, paging(query))
    return envelope(page, _serialize, included)


@blueprint.operation(
    "POST",
    "",
    access=Access.USER,
    rule=operations.LOCK,
    body=NewLockSchema,
    returns=LockSchema,
    status=201,
    errors=(*_ERRORS, errors.FileLocked, errors.TooManyLocks),
)
def take_lock(tenant_id: str, file_id: str, body: Json) -> Json:
    """Lock a file or folder for changes by others, until the lock ends or is released.

    The caller needs the permission `write`. All changes of what is locked answer 423
    `error.file-locked`, in every way in which they are made, unless the holder's request presents the
    `id` of the lock in the header `Lock-Token`. A lock of a folder also protects the names in it, and
    `deep` everything below it. Deletion ends the lock; a move and a rename do not.
    """
    request = WantedLock(body["seconds"], body["shared"], body["deep"], body["note"])
    return _serialize(get_service(LockService).take(current_identity(), tenant_id, file_id, request))


@blueprint.operation(
    "PATCH",
    "/<lock_id>",
    access=Access.USER,
    rule=operations.LOCK,
    body=LockDurationSchema,
    returns=LockSchema,
    errors=_ERRORS,
)
def renew_lock(tenant_id: str, file_id: str, lock_id: str, body: Json) -> Json:
    """Renew an own lock: it lasts for a time from now.

    The caller needs the permission `write`, and must hold the lock. One that has ended is not found.
    """
    service = get_service(LockService)
    return _serialize(service.renew(current_identity(), tenant_id, file_id, lock_id, body["seconds"]))


@blueprint.operation(
    "DELETE",
    "/<lock_id>",
    access=Access.USER,
    rule=operations.UNLOCK,
    also={operations.BREAK_LOCK: "another user holds the lock"},
    returns=DoneSchema,
    errors=_ERRORS,
)
def release_lock(tenant_id: str, file_id: str, lock_id: str) -> dict[str, bool]:
    """Release a lock.

    The caller needs the permission `write` for an own lock, and `manage` on what is locked for the lock
    of another user, which is recorded in the audit log.
    """
    get_service(LockService).release(current_identity(), tenant_id, file_id, lock_id)
    return DONE


def _serialize(lock: Lock) -> Json:
    return {**lock._asdict(), "lockedBy": reference(lock.user_id)}
