"""The shares of a user, for the archive that users can have of their data."""

from collections.abc import Iterator
from typing import Any, Final

from sqlalchemy import select

from strongroom.plugin_api.exports import UserExport
from strongroom.plugin_api.host import HostAPI
from strongroom.plugin_api.times import iso_format
from strongroom_share_links.models import links

_AT_ONCE: Final = 500
_COLUMNS: Final = select(
    links.c.id,
    links.c.tenant_id,
    links.c.file_id,
    links.c.kind,
    links.c.label,
    links.c.audience,
    links.c.downloads,
    links.c.created_at,
    links.c.expires_at,
)


def share_exports(host: HostAPI) -> list[UserExport]:
    """Return the file of the shares, without their secrets."""

    def read(user_id: str) -> Iterator[dict[str, Any]]:
        last = ""
        query = _COLUMNS.where(links.c.maker_id == user_id).order_by(links.c.id).limit(_AT_ONCE)
        while True:
            with host.database.read() as transaction:
                rows = transaction.all(query.where(links.c.id > last))
            yield from map(_json, rows)
            if len(rows) < _AT_ONCE:
                return
            last = rows[-1].id

    return [UserExport("shares", "Links by which you share files, and drop boxes", read)]


def _json(row: Any) -> dict[str, Any]:
    return {
        "id": row.id,
        "tenantId": row.tenant_id,
        "fileId": row.file_id,
        "kind": row.kind,
        "label": row.label,
        "audience": row.audience,
        "downloads": row.downloads,
        "createdAt": iso_format(row.created_at),
        "expiresAt": None if row.expires_at is None else iso_format(row.expires_at),
    }
