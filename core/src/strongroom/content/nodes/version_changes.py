"""Keeps and removes versions of files, with the usage of their tenants."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection

from strongroom.content.nodes.events import FileAction
from strongroom.content.nodes.models import Node
from strongroom.content.nodes.removal_guard import RemovalGuard
from strongroom.content.nodes.removals import RemovalRecords
from strongroom.content.nodes.versions import Version, VersionRepository
from strongroom.content.storage.models import Released
from strongroom.content.storage.service import BlobService
from strongroom.content.tenants.quota import Quota
from strongroom.foundation.caller import AnyCaller, Override


@dataclass(slots=True, eq=False, repr=False)
class VersionChanges:
    """Adds and removes versions within the caller's transaction."""

    _versions: VersionRepository
    _guard: RemovalGuard
    _quota: Quota
    _blobs: BlobService
    _removals: RemovalRecords

    def archive(self, connection: Connection, user_id: str, replaced: Node, keep: int) -> list[Version]:
        """Keep the content of a file that is replaced as its newest version.

        Args:
            keep: the number of versions of a file that the tenant keeps.

        Returns:
            the versions that were removed for it, whose quota and blobs the caller releases.
        """
        excess = self._versions.add(connection, user_id, replaced, keep)
        return self._remove_rows(connection, self._guard.removable_versions(connection, excess))

    def freed(self, connection: Connection, replaced: Node) -> int:
        """Return how many bytes of the quota the replacement of a file's content frees."""
        rules = self._guard.rules(connection, replaced.tenant_id)
        if not self._guard.archives(connection, rules, replaced):
            return replaced.size
        # The replaced content becomes the newest of the versions that are kept.
        excess = self._versions.excess(connection, replaced, rules.settings.keep_versions - 1)
        return sum(each.size for each in self._guard.removable_versions(connection, excess))

    def remove_version(
        self,
        connection: Connection,
        caller: AnyCaller,
        node: Node,
        version: Version,
        override: Override | None,
    ) -> list[Released]:
        """Remove a version of a file; return its blob if it is no longer referenced.

        Raises:
            FileHeld: a hold covers the file.
            FileRetained: the version is retained, and the override is not permitted.
        """
        self._guard.require_removable_version(connection, node, version, override)
        released = self.remove_versions(connection, [version])
        self._removals.record_version(connection, FileAction.VERSION_PURGED, caller, node, version)
        return released

    def remove_versions(self, connection: Connection, versions: Sequence[Version]) -> list[Released]:
        """Remove versions that the guard permits to remove; return the unreferenced blobs."""
        removed = self._remove_rows(connection, versions)
        sizes: Counter[str] = Counter()
        for version in removed:
            sizes[version.tenant_id] += version.size
        for tenant_id, size in sizes.items():
            self._quota.use(connection, tenant_id, -size)
        return self._blobs.release(connection, [version.blob_key for version in removed])

    def _remove_rows(self, connection: Connection, versions: Sequence[Version]) -> list[Version]:
        return [each for each in versions if self._versions.remove(connection, each)]
