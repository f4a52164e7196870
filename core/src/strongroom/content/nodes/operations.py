"""The table of operations on the files of tenants: permission on the node, scope of a key, step-up.

The permission is the one on the node that the operation names. Operations without one, such as the
trash's, have their own rule, which their service states.
"""

from dataclasses import dataclass
from typing import Final

from strongroom.content.nodes.models import Permission
from strongroom.foundation.operations import OperationRule
from strongroom.plugin_api.authentication import Scope, Sensitive


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeRule(OperationRule):
    """A row for an operation on one node, with the permission that the caller needs on the node."""

    permission: Permission


_READ, _WRITE, _MANAGE = Permission.READ, Permission.WRITE, Permission.MANAGE

GET: Final = NodeRule("get details", Scope.FILES_READ, permission=_READ)
DOWNLOAD: Final = NodeRule("download content", Scope.FILES_READ, permission=_READ)
DOWNLOAD_BUNDLE: Final = NodeRule("download as an archive", Scope.FILES_READ, permission=_READ)
LIST: Final = NodeRule("list or search a folder", Scope.FILES_READ, permission=_READ)
LIST_CHANGES: Final = NodeRule("list changes", Scope.FILES_READ, permission=_READ)
LIST_EVENTS: Final = OperationRule("list file events", Scope.FILES_READ)

CREATE: Final = NodeRule("upload or create in a folder", Scope.FILES_WRITE, permission=_WRITE)
CONTINUE_UPLOAD: Final = OperationRule("continue or end an upload", Scope.FILES_WRITE)
REPLACE: Final = NodeRule("replace content", Scope.FILES_WRITE, permission=_WRITE)
RENAME: Final = NodeRule("rename", Scope.FILES_WRITE, permission=_WRITE)
COPY: Final = NodeRule("copy", Scope.FILES_WRITE, permission=_READ)
BATCH: Final = OperationRule("change many files", Scope.FILES_WRITE)

MOVE: Final = NodeRule("move to another folder", Scope.FILES_SHARE, permission=_MANAGE)
DELETE: Final = NodeRule("delete", Scope.FILES_SHARE, permission=_MANAGE)
DELETE_PERMANENTLY: Final = NodeRule(
    "delete permanently", Scope.FILES_SHARE, Sensitive.FILES, permission=_MANAGE
)

LIST_TRASH: Final = OperationRule("list the trash", Scope.FILES_READ)
RESTORE: Final = OperationRule("restore from the trash", Scope.FILES_SHARE)
PURGE_TRASH: Final = OperationRule("delete from the trash", None, Sensitive.FILES)

LIST_VERSIONS: Final = NodeRule("list versions", Scope.FILES_READ, permission=_READ)
DOWNLOAD_VERSION: Final = NodeRule("download a version", Scope.FILES_READ, permission=_READ)
RESTORE_VERSION: Final = NodeRule("restore a version", Scope.FILES_WRITE, permission=_WRITE)
CHANGE_VERSION: Final = NodeRule("label or keep a version", Scope.FILES_WRITE, permission=_WRITE)
DELETE_VERSION: Final = NodeRule("delete a version", None, Sensitive.FILES, permission=_MANAGE)

LIST_GRANTS: Final = NodeRule("list grants", Scope.FILES_SHARE, permission=_MANAGE)
GRANT: Final = NodeRule("grant a permission", Scope.FILES_SHARE, permission=_MANAGE)
REVOKE: Final = NodeRule("revoke a permission", Scope.FILES_SHARE, permission=_MANAGE)
EXPLAIN_ACCESS: Final = NodeRule("explain access", Scope.FILES_SHARE, permission=_MANAGE)

SET_ATTRIBUTES: Final = NodeRule("change attributes", Scope.FILES_WRITE, permission=_WRITE)

LIST_LOCKS: Final = NodeRule("list locks", Scope.FILES_READ, permission=_READ)
LOCK: Final = NodeRule("lock", Scope.FILES_WRITE, permission=_WRITE)
UNLOCK: Final = NodeRule("unlock", Scope.FILES_WRITE, permission=_WRITE)
BREAK_LOCK: Final = NodeRule(
    "unlock what another user has locked", Scope.FILES_SHARE, permission=_MANAGE
)

PLACE_HOLD: Final = OperationRule("place a hold")
RELEASE_HOLD: Final = OperationRule("release a hold", None, Sensitive.FILES)
LIST_HOLDS: Final = OperationRule("list holds", Scope.TENANTS_READ)
GET_RETENTION: Final = OperationRule("get retention", Scope.TENANTS_READ)
SET_RETENTION: Final = OperationRule("set retention", None, Sensitive.FILES)
TRANSFER_FILES: Final = OperationRule("transfer files of a member", None, Sensitive.TENANTS)
