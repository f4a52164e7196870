"""Operations on locks. Written by clients/python/generate_client.py from the OpenAPI document."""

from ..models import Done, Lock, LockCollection, LockDuration, NewLock
from ..operations import UNSET, Operation, Unset, segment


def list_locks(
    tenant_id: str,
    file_id: str,
    *,
    page_size: int | Unset = UNSET,
    page_number: int | Unset = UNSET,
    cursor: None | str | Unset = UNSET,
) -> Operation[LockCollection]:
    """List the locks that cover a file or folder; the last to end is first.

    The caller needs the permission `read`. Locks of the folders around it are included if they are deep.
    """
    return Operation(
        "GET",
        f"/api/v1/tenants/{segment(tenant_id)}/files/{segment(file_id)}/locks",
        LockCollection,
        query={
            "pageSize": page_size,
            "pageNumber": page_number,
            "cursor": cursor,
        },
    )


def release_lock(
    tenant_id: str,
    file_id: str,
    lock_id: str,
) -> Operation[Done]:
    """Release a lock.

    The caller needs the permission `write` for an own lock, and `manage` on what is locked for the lock
    of another user, which is recorded in the audit log.
    """
    return Operation(
        "DELETE",
        f"/api/v1/tenants/{segment(tenant_id)}/files/{segment(file_id)}/locks/{segment(lock_id)}",
        Done,
    )


def renew_lock(
    tenant_id: str,
    file_id: str,
    lock_id: str,
    *,
    body: LockDuration | Unset = UNSET,
) -> Operation[Lock]:
    """Renew an own lock: it lasts for a time from now.

    The caller needs the permission `write`, and must hold the lock. One that has ended is not found.
    """
    return Operation(
        "PATCH",
        f"/api/v1/tenants/{segment(tenant_id)}/files/{segment(file_id)}/locks/{segment(lock_id)}",
        Lock,
        body=body,
    )


def take_lock(
    tenant_id: str,
    file_id: str,
    *,
    body: NewLock | Unset = UNSET,
    lock_token: str | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> Operation[Lock]:
    """Lock a file or folder for changes by others, until the lock ends or is released.

    The caller needs the permission `write`. All changes of what is locked answer 423
    `error.file-locked`, in every way in which they are made, unless the holder's request presents the
    `id` of the lock in the header `Lock-Token`. A lock of a folder also protects the names in it, and
    `deep` everything below it. Deletion ends the lock; a move and a rename do not.
    """
    return Operation(
        "POST",
        f"/api/v1/tenants/{segment(tenant_id)}/files/{segment(file_id)}/locks",
        Lock,
        headers={
            "Lock-Token": lock_token,
            "Idempotency-Key": idempotency_key,
        },
        body=body,
    )
