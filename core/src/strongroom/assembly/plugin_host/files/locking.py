"""The calls of ``host.files`` about locks."""

from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Final
from uuid import UUID

from strongroom.assembly.plugin_host.caller import AsCaller
from strongroom.content.nodes import operations
from strongroom.content.nodes.lock_models import MAX_NOTE, Lock
from strongroom.extensions.locks.schemas import MAX_SECONDS
from strongroom.extensions.locks.service import LockService, WantedLock
from strongroom.plugin_api import files as api
from strongroom.web.http.parsing import is_unstorable
from strongroom.web.http.request import presenting_locks

_CANONICAL_LENGTH: Final = 36


class FileLocking(AsCaller, api.FilesAPI):
    """Takes, renews, lists and releases locks."""

    def presenting(self, lock_ids: Collection[str]) -> AbstractContextManager[None]:
        return presenting_locks(lock_ids)

    def locks(self, tenant_id: str, file_ids: Sequence[str]) -> Mapping[str, Sequence[api.FileLock]]:
        caller = self._caller(operations.LIST_LOCKS, tenant_id, *file_ids)
        locks = self._get(LockService).covering(caller, tenant_id, file_ids)
        return {file_id: [*map(_file_lock, items)] for file_id, items in locks.items()}

    def lock(
        self,
        tenant_id: str,
        file_id: str,
        seconds: int,
        *,
        shared: bool = False,
        deep: bool = True,
        note: str = "",
        lock_id: str | None = None,
    ) -> api.FileLock:
        if len(note) > MAX_NOTE or is_unstorable(note):
            raise ValueError(f"a note has at most {MAX_NOTE} characters, and no null character")
        if lock_id is not None and (len(lock_id) != _CANONICAL_LENGTH or str(UUID(lock_id)) != lock_id):
            raise ValueError("the id of a lock is a UUID in lower case")
        request = WantedLock(_duration(seconds), shared, deep, note, lock_id)
        caller = self._caller(operations.LOCK, tenant_id, file_id)
        return _file_lock(self._get(LockService).take(caller, tenant_id, file_id, request))

    def renew_lock(self, tenant_id: str, file_id: str, lock_id: str, seconds: int) -> api.FileLock:
        caller = self._caller(operations.LOCK, tenant_id, file_id, lock_id)
        service = self._get(LockService)
        return _file_lock(service.renew(caller, tenant_id, file_id, lock_id, _duration(seconds)))

    def unlock(self, tenant_id: str, file_id: str, lock_id: str) -> None:
        caller = self._caller(operations.UNLOCK, tenant_id, file_id, lock_id)
        self._get(LockService).release(caller, tenant_id, file_id, lock_id)


def _duration(seconds: int) -> int:
    if not 1 <= seconds <= MAX_SECONDS:
        raise ValueError(f"a lock lasts 1 to {MAX_SECONDS} seconds")
    return seconds


def _file_lock(lock: Lock) -> api.FileLock:
    return api.FileLock(
        lock.id,
        lock.node_id,
        lock.user_id,
        lock.is_shared,
        lock.is_deep,
        lock.note,
        lock.locked_at,
        lock.expires_at,
    )
