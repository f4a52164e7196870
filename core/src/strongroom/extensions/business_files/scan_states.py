"""The scan states of business files."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from sqlalchemy import Connection, bindparam, literal, select, update

from strongroom.content.scanning.owners import OwnedContent
from strongroom.content.scanning.states import ScanState
from strongroom.extensions.business_files.models import business_files
from strongroom.extensions.business_files.service import BusinessFileService
from strongroom.foundation.caller import Identity, Origin
from strongroom.foundation.database.statements import Statement

_OWNED: Final = Statement(
    select(
        business_files.c.blob_key,
        business_files.c.name.label("id"),
        literal(None).label("tenant_id"),
        business_files.c.name,
        business_files.c.owner_id,
        business_files.c.size,
        business_files.c.content_type,
    ).where(business_files.c.blob_key.in_(bindparam("blob_keys", expanding=True)))
)
_SET: Final = Statement(
    update(business_files)
    .where(
        business_files.c.name == bindparam("of_name"),
        business_files.c.blob_key == bindparam("of_key"),
        business_files.c.scan.is_distinct_from(bindparam("of_scan")),
    )
    .values(scan=bindparam("of_scan"))
)
_UNSCANNED: Final = Statement(
    select(business_files.c.name, business_files.c.blob_key)
    .where(business_files.c.scan.is_(None), business_files.c.name > bindparam("after"))
    .order_by(business_files.c.name)
    .limit(bindparam("limit"))
)


@dataclass(slots=True, eq=False, repr=False)
class BusinessFileContent:
    """Implements :class:`~strongroom.content.scanning.owners.ContentOwner` for business files."""

    kind = "business-file"

    _business_files: BusinessFileService

    def find(self, connection: Connection, blob_keys: Sequence[str]) -> Mapping[str, OwnedContent]:
        rows = _OWNED.all(connection, {"blob_keys": blob_keys})
        return {key: OwnedContent(self.kind, *values) for key, *values in rows}

    def set_state(
        self, connection: Connection, file: OwnedContent, blob_key: str, state: ScanState | None
    ) -> bool:
        values = {"of_name": file.id, "of_key": blob_key, "of_scan": state.value if state else None}
        return _SET.execute(connection, values) == 1

    def unscanned(self, connection: Connection, after: str, limit: int) -> Sequence[tuple[str, str]]:
        rows = _UNSCANNED.all(connection, {"after": after, "limit": limit})
        return [(name, blob_key) for name, blob_key in rows]

    def delete(self, admin: Identity, file: OwnedContent, blob_key: str, origin: Origin) -> None:  # noqa: ARG002  it is never replaced
        self._business_files.delete(admin, file.id, origin)
