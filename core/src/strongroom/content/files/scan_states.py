"""The scan states of tenants' files."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Final

from sqlalchemy import Connection, bindparam, case, exists, select, update

from strongroom.clock import Clock
from strongroom.content.nodes.access import AccessControl
from strongroom.content.nodes.models import NODE, Node, node_versions, nodes
from strongroom.content.nodes.node_removal import NodeRemoval
from strongroom.content.nodes.tree import Tree
from strongroom.content.nodes.versions import VersionRepository
from strongroom.content.scanning.owners import OwnedContent
from strongroom.content.scanning.states import QUARANTINED, ScanState
from strongroom.content.storage.service import BlobService
from strongroom.foundation.caller import Identity, Origin
from strongroom.foundation.database import Database
from strongroom.foundation.database.statements import Statement
from strongroom.foundation.errors import NotFound

_OWNED: Final = Statement(
    select(
        nodes.c.blob_key,
        nodes.c.id,
        nodes.c.tenant_id,
        nodes.c.name,
        nodes.c.owner_id,
        nodes.c.size,
        nodes.c.content_type,
    ).where(nodes.c.blob_key.in_(bindparam("blob_keys", expanding=True)))
)
_OWNED_VERSIONS: Final = Statement(
    select(
        node_versions.c.blob_key,
        nodes.c.id,
        nodes.c.tenant_id,
        nodes.c.name,
        nodes.c.owner_id,
        node_versions.c.size,
        node_versions.c.content_type,
    )
    .join(nodes, nodes.c.id == node_versions.c.node_id)
    .where(node_versions.c.blob_key.in_(bindparam("blob_keys", expanding=True)))
)
_QUARANTINED: Final = [state.value for state in QUARANTINED]
_REVISION: Final = nodes.c.revision
_NOW: Final = bindparam("now", type_=nodes.c.revision.type)
# The JSON of a node has its scan state, so a new state is a new revision. The content is the same, so
# the time of the last change is not set.
_SET: Final = Statement(
    update(nodes)
    .where(
        # Copies of a file have the same blob.
        nodes.c.blob_key == bindparam("of_key"),
        nodes.c.scan.is_distinct_from(bindparam("of_scan")),
    )
    .values(
        scan=bindparam("of_scan"),
        revision=case(
            (nodes.c.revision < bindparam("now"), bindparam("now")), else_=nodes.c.revision + 1
        ),
    )
)
_COPIES: Final = Statement(
    select(nodes).where(
        nodes.c.tenant_id == bindparam("of_tenant"), nodes.c.blob_key == bindparam("of_key")
    ),
    NODE,
)
_EARLIER: Final = nodes.alias("earlier")
_UNSCANNED: Final = Statement(
    select(nodes.c.id, nodes.c.blob_key)
    .where(nodes.c.scan.is_(None), nodes.c.blob_key.is_not(None), nodes.c.id > bindparam("after"))
    # A blob is scanned once for all copies.
    .where(~exists().where(_EARLIER.c.blob_key == nodes.c.blob_key, _EARLIER.c.id < nodes.c.id))
    .order_by(nodes.c.id)
    .limit(bindparam("limit"))
)


@dataclass(slots=True, eq=False, repr=False)
class NodeContent:
    """Implements :class:`~strongroom.content.scanning.owners.ContentOwner` for tenants' files."""

    kind = "file"

    _database: Database
    _clock: Clock
    _access: AccessControl
    _tree: Tree
    _versions: VersionRepository
    _removal: NodeRemoval
    _blobs: BlobService

    def find(self, connection: Connection, blob_keys: Sequence[str]) -> Mapping[str, OwnedContent]:
        parameters = {"blob_keys": blob_keys}
        # A file owns its versions as well; the current content counts if both have the blob.
        rows = (*_OWNED_VERSIONS.all(connection, parameters), *_OWNED.all(connection, parameters))
        return {key: OwnedContent(self.kind, *values) for key, *values in rows}

    def set_state(
        self, connection: Connection, file: OwnedContent, blob_key: str, state: ScanState | None
    ) -> bool:
        self._access.memberships.lock_tenant(connection, str(file.tenant_id))
        values: dict[str, Any] = {
            "of_key": blob_key,
            "of_scan": state.value if state else None,
            "now": self._clock.now(),
        }
        in_versions = self._versions.set_scan(connection, blob_key, values["of_scan"])
        return _SET.execute(connection, values) > 0 or in_versions

    def unscanned(self, connection: Connection, after: str, limit: int) -> Sequence[tuple[str, str]]:
        rows = _UNSCANNED.all(connection, {"after": after, "limit": limit})
        return [(node_id, blob_key) for node_id, blob_key in rows]

    def delete(self, admin: Identity, file: OwnedContent, blob_key: str, origin: Origin) -> None:  # noqa: ARG002  for other kinds of files
        tenant_id = str(file.tenant_id)
        with self._database.write() as connection:
            self._access.memberships.lock_tenant(connection, tenant_id)
            quarantined = self._quarantined(connection, tenant_id, file.id, blob_key)
            # No user can keep malware by a lock.
            released = [
                self._removal.remove(connection, admin, node, heeds_locks=False) for node in quarantined
            ]
        self._blobs.remove(list(chain.from_iterable(released)))

    def _quarantined(
        self, connection: Connection, tenant_id: str, node_id: str, blob_key: str
    ) -> Sequence[Node]:
        """Return a file that has content in quarantine, in the trash or not, with its copies."""
        node = self._tree.find(connection, tenant_id, node_id)
        if node is None:
            raise NotFound
        if node.scan in QUARANTINED and node.blob_key == blob_key:
            return _COPIES.all(connection, {"of_tenant": tenant_id, "of_key": blob_key})
        # The content of an earlier version may be in quarantine alone.
        if not self._versions.has_content(connection, node_id, blob_key, _QUARANTINED):
            raise NotFound
        return [node]
