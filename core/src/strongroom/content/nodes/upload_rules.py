"""Which content may be uploaded: names, sizes, quotas and media types."""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from fnmatch import fnmatch

from sqlalchemy import Connection

from strongroom.content.nodes.destinations import Destinations, OnConflict, Target
from strongroom.content.nodes.models import Node, NodeType
from strongroom.content.nodes.tree import Tree
from strongroom.content.nodes.version_changes import VersionChanges
from strongroom.content.tenants.quota import Quota
from strongroom.foundation import errors
from strongroom.foundation.caller import AnyCaller, DelegatedLimits
from strongroom.foundation.media_types import sniff


@dataclass(slots=True, eq=False, repr=False)
class UploadRules:
    """Checks uploads before their content is received.

    Args:
        max_file_bytes: maximum size of a file, in bytes.
        allowed_types: glob patterns of accepted media types; empty accepts all.
    """

    _destinations: Destinations
    _tree: Tree
    _quota: Quota
    _versions: VersionChanges
    _: KW_ONLY
    max_file_bytes: int
    allowed_types: Sequence[str] = ()

    def check(self, connection: Connection, caller: AnyCaller, target: Target, size: int) -> None:
        """Check an upload before its content is received. ``FileWriter.commit`` repeats the checks.

        Args:
            connection: the caller's transaction.
            target: destination of the file.
            size: size of the content in bytes as far as known, 0 if unknown.

        Raises:
            Forbidden: the caller is not a member of the tenant, or may not write to the folder.
            NotFound: the folder does not exist.
            NotAFolder: the parent is a file.
            NameConflict: the name is taken.
            FileLocked: a lock forbids it.
            PayloadTooLarge: the file is larger than allowed.
            StorageFull: the tenant's quota would be exceeded.
        """
        target, access = self._destinations.find_parent(connection, caller, target)
        taken_type, taken_id, has_lock, used, quota = access.more
        if target.folders or (taken_type and self._destinations.is_hidden(connection, caller, target)):
            # The file will be in a folder that does not exist, and whose names are all free, or gets a
            # number.
            taken_type = None
        if taken_type is not None and not _resolves_conflict(taken_type, target.on_conflict):
            raise errors.NameConflict.of_taken_name()
        if size > self.max_file_bytes:
            raise errors.PayloadTooLarge
        replaces = taken_type is not None and target.on_conflict is OnConflict.REPLACE
        if has_lock:
            changed = taken_id if replaces else target.folder_id
            self._tree.locks.require(connection, caller, target.tenant_id, [changed])
        # Most content fits in any case; only otherwise are the replaced file and its rules read.
        if replaces and not self._quota.fits(used, quota, size):
            size -= self._freed_by_name(connection, target)
        self._quota.check(target.tenant_id, used, quota, size)

    def require_space(
        self, connection: Connection, caller: AnyCaller, replaced: Node, size: int
    ) -> None:
        """Check that a file may get new content. ``FileWriter.replace`` repeats the check.

        Args:
            connection: the caller's transaction.
            size: size of the content in bytes as far as known, 0 if unknown.

        Raises:
            FileLocked: a lock forbids it.
            FileHeld, FileRetained: the content is in quarantine, and must be kept nevertheless.
            StorageFull: the tenant's quota would be exceeded.
        """
        self._tree.locks.require(connection, caller, replaced.tenant_id, [replaced.id])
        tenant = self._quota.find(connection, replaced.tenant_id)
        used = tenant.used_bytes + tenant.reserved_bytes
        if not self._quota.fits(used, tenant.quota_bytes, size):
            size -= self._versions.freed(connection, replaced)
        self._quota.check(tenant.id, used, tenant.quota_bytes, size)

    def detect_type(self, head: bytes, name: str) -> str:
        """Detect the media type of content from its first bytes and its name.

        Raises:
            UnsupportedMediaType: files of the type are not accepted.
        """
        media_type = sniff(head, name)
        # Parameters, such as the charset, are no part of the accepted types.
        essence = media_type.partition(";")[0]
        if self.allowed_types and not any(fnmatch(essence, item) for item in self.allowed_types):
            raise errors.UnsupportedMediaType(f"Files of the type {essence} are not accepted.")
        return media_type

    def _freed_by_name(self, connection: Connection, target: Target) -> int:
        replaced = self._tree.find_child(connection, target.folder_id, target.name)
        return 0 if replaced is None else self._versions.freed(connection, replaced)


def require_allowed_type(caller: AnyCaller, media_type: str) -> None:
    """Check that a caller with delegated rights may create files of a type.

    Raises:
        UnsupportedMediaType: the caller may not.
    """
    allowed = caller.key.content_types if isinstance(caller.key, DelegatedLimits) else ()
    essence = media_type.partition(";")[0]
    if allowed and not any(fnmatch(essence, item) for item in allowed):
        raise errors.UnsupportedMediaType(f"Must be one of: {', '.join(allowed)}; detected {essence}.")


def _resolves_conflict(taken_type: str, on_conflict: OnConflict) -> bool:
    """Return whether the conflict rule allows a file although a node of this type has its name."""
    if on_conflict is OnConflict.REPLACE:
        return taken_type == NodeType.FILE
    return on_conflict is OnConflict.RENAME
