"""Records of what visitors do with a share, and messages to its creator."""

import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from ipaddress import ip_address, ip_network
from typing import Any, Final

from sqlalchemy import insert, select, update

from strongroom.plugin_api.host import HostAPI
from strongroom.plugin_api.paging import ResultPage
from strongroom.plugin_api.state import Transaction
from strongroom_share_links.models import Link, access_log, links


class AccessKind(StrEnum):
    """What a visitor did."""

    OPEN = "open"
    DOWNLOAD = "download"
    UPLOAD = "drop"


_SUBJECTS: Final = {
    AccessKind.OPEN: "Your link was opened",
    AccessKind.DOWNLOAD: "Your link has no downloads left",
    AccessKind.UPLOAD: "You received a file",
}


@dataclass(slots=True, eq=False, repr=False)
class AccessLog:
    """The records of openings."""

    _host: HostAPI

    def record_opening(self, link: Link) -> None:
        """Record that a share was opened, and notify its creator of the first time."""
        never = (links.c.id == link.id) & links.c.opened_at.is_(None)
        with self._host.database.write() as transaction:
            self.add(transaction, self.record(link, AccessKind.OPEN))
            first = update(links).where(never).values(opened_at=self._host.clock.now())
            is_first = transaction.execute(first) == 1
        if is_first:
            self.notify(link, AccessKind.OPEN)

    def record(
        self, link: Link, what: AccessKind, about: Mapping[str, Any] | None = None
    ) -> Mapping[str, Any]:
        """Return the record of an opening by the current request, for :meth:`add`."""
        return {
            "link_id": link.id,
            "what": what.value,
            "address": shortened(self._host.limits.client_network),
            **dict.fromkeys(("file_id", "name", "size", "uploaded_by")),
            **(about or {}),
        }

    def add(self, transaction: Transaction, record: Mapping[str, Any]) -> None:
        """Add a record in a transaction, such as the one that counts a download."""
        row = {"id": str(uuid.uuid4()), "at": self._host.clock.now(), **record}
        transaction.execute(insert(access_log), row)

    def notify(self, link: Link, what: AccessKind, detail: str = "") -> None:
        """Send a message to the creator, if the share requires it."""
        if link.notify:
            label = link.label or link.id
            self._host.notify(link.creator_id, _SUBJECTS[what], f"{_SUBJECTS[what]}: {label}. {detail}")

    def page(self, link: Link, query: Mapping[str, Any]) -> ResultPage[Any]:
        """Return a page of the records of a share, the newest first."""
        condition = access_log.c.link_id == link.id
        if query["what"] is not None:
            condition &= access_log.c.what == query["what"]
        newest = select(access_log).where(condition).order_by(access_log.c.at.desc(), access_log.c.id)
        with self._host.database.read() as transaction:
            return transaction.page(newest, query)


def shortened(address: str) -> str:
    """Return an address without the part that identifies a person: IPv4 /24, IPv6 /48."""
    try:
        ip = ip_address(address.partition("/")[0])
    except ValueError:
        return ""
    return str(ip_network((ip, 24 if ip.version == 4 else 48), strict=False))  # noqa: PLR2004
