"""Removal of a plugin's rows about tenants and files that no longer exist.

The rows about users are removed by :mod:`strongroom.plugin_api.deactivation`, when ``is_deletion``.

A plugin removes its rows about a file in the transaction that removes the file, also if the file was in
a folder that is removed::

    @hookimpl
    def register_file_erasers(host: HostAPI) -> list[FileEraser]:
        return [erase_notes]

    def erase_notes(transaction: Transaction, removed: RemovedFiles) -> None:
        transaction.execute(delete(notes).where(notes.c.file_id.in_(removed.ids)))

It removes its other rows about a tenant when the tenant is purged, after the grace period::

    @hookimpl
    def register_tenant_erasers(host: HostAPI) -> list[TenantEraser]:
        return [partial(erase_settings, host)]

    def erase_settings(host: HostAPI, tenant_id: str) -> None:
        with host.database.write() as transaction:
            transaction.execute(delete(settings).where(settings.c.tenant_id == tenant_id))
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from strongroom.plugin_api.state import Transaction

TenantEraser = Callable[[str], object]
"""Removes what a plugin stores for the tenant of an id, in its own transactions. API 2.0.

It is called after the grace period, and must be repeatable. If it raises, the error is logged, the other
erasers run, and the next purge calls it again: until it succeeds, the server keeps the tenant's id.
"""


@dataclass(frozen=True, slots=True)
class RemovedFiles:
    """Files and folders that are removed permanently. API 2.0.

    Args:
        ids: at most 500 ids. A larger folder is several calls.
    """

    tenant_id: str
    ids: Sequence[str]


FileEraser = Callable[[Transaction, RemovedFiles], None]
"""Removes what a plugin stores about files, in the transaction that removes them. API 2.0.

It is called when files leave the trash permanently, are deleted without a trash, or are purged with
their tenant. It must be short, because other changes of the tenant's files wait for it, and repeatable.
If it raises, its own changes are undone and the error is logged. The files are removed nevertheless, and
the job ``core.prune`` calls it again until it succeeds.
"""
