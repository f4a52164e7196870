"""Counted downloads.

A visitor uses one download when bytes beyond the beginning of the content are about to be sent for the
first time: players and download managers read the beginning first. All further ranges and retries of the
same version belong to it until twice the size of the content has been sent. A visitor is a browser with
the cookie of the share; clients without cookies are recognized by address and User-Agent.
"""

import secrets
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from flask import request
from sqlalchemy import insert, or_, select, update

from strongroom.plugin_api.files import FileInfo, Sending
from strongroom.plugin_api.host import HostAPI
from strongroom.plugin_api.state import Transaction
from strongroom.plugin_api.web import ApiError
from strongroom_share_links.cookies import Cookies
from strongroom_share_links.errors import UNAVAILABLE
from strongroom_share_links.links import hash_of
from strongroom_share_links.models import Link, downloads, links
from strongroom_share_links.openings import Opening, Openings

LIFETIME: Final = 60 * 60
"""Seconds after the last range within which a download may be continued."""

_PROBE_BYTES: Final = 64 * 1024

_COOKIE: Final = "share-download"


@dataclass(frozen=True, slots=True)
class Counted:
    """What a range uses.

    Args:
        rows: the downloads that its bytes were taken from; none for a probe.
        cookie: the value with which a new download can be continued; ``None`` without one.
    """

    rows: Collection[str] = ()
    cookie: str | None = None


class Downloads:
    """Counts the downloads of shares."""

    def __init__(self, host: HostAPI, cookies: Cookies, openings: Openings) -> None:
        self._host = host
        self._cookies = cookies
        self._openings = openings

    def continues(self, secret: str) -> bool:
        """Return whether the current request may continue a counted download of a share."""
        with self._host.database.read() as transaction:
            link_id = transaction.scalar(
                select(links.c.id).where(links.c.secret_hash == hash_of(secret))
            )
            known = self._known(link_id) if link_id else None
            row = None if known is None else transaction.first(select(downloads.c.id).where(known))
        return row is not None

    def count_once(self, link: Link, file: FileInfo | None, item: str, sending: Sending) -> Counted:
        """Count the download that is about to begin, unless it continues a counted one.

        Args:
            file: the downloaded file; ``None`` for an archive.
            item: identifies the file or archive.

        Raises:
            ApiError: the share has no download left.
        """
        with self._host.database.write() as transaction:
            # Locks the share, so that parallel ranges of one visitor find the row of the first one.
            lock = update(links).values(downloads=links.c.downloads)
            transaction.execute(lock.where(links.c.id == link.id))
            if (rows := self._continue(transaction, link, item, sending)) or _is_probe(sending):
                return Counted(rows)
            remaining = or_(links.c.max_downloads.is_(None), links.c.downloads < links.c.max_downloads)
            count = update(links).values(downloads=links.c.downloads + 1)
            # Of concurrent downloads, only as many as remain change the row.
            if not transaction.execute(count.where((links.c.id == link.id) & remaining)):
                raise ApiError(UNAVAILABLE)
            value = self._begin(transaction, link, item, sending)
            about = {"file_id": file and file.id, "name": file and file.name, "size": sending.size}
            self._openings.add(transaction, link, Opening.DOWNLOAD, about)
            counted = transaction.scalar(select(links.c.downloads).where(links.c.id == link.id))
        if counted == link.max_downloads:
            self._openings.notify(link, Opening.DOWNLOAD)
        return Counted([hash_of(value)], value)

    def remember(self, response: Any, link: Link, counted: Counted) -> None:
        """Set the cookie of a download that has begun."""
        if counted.cookie is not None:
            self._cookies.set(response, _COOKIE, link.id, counted.cookie, LIFETIME)

    def metered(self, response: Any, counted: Counted, length: int) -> None:
        """Give bytes that are not sent back to the visitor's download: players abort most ranges.

        Args:
            response: the response, whose body this server sends.
            length: the bytes of the body.
        """

        def give_back(unsent: int) -> None:
            change = update(downloads).values(remaining=downloads.c.remaining + unsent)
            with self._host.database.write() as transaction:
                transaction.execute(change.where(downloads.c.id.in_(counted.rows)))

        if counted.rows:
            response.response = _Metered(response.response, length, give_back)

    def _known(self, link_id: str) -> Any:
        """Return the condition for the current downloads of the visitor."""
        hashed = self._cookies.hashed(_COOKIE, link_id)
        visitor = downloads.c.visitor_hash == self._visitor(link_id)
        if hashed is not None:
            visitor = or_(downloads.c.id == hashed, visitor)
        return (
            visitor
            & (downloads.c.link_id == link_id)
            & (downloads.c.expires_at > self._host.clock.now())
        )

    def _visitor(self, link_id: str) -> str:
        """Return the hash of the address and the User-Agent, which identify clients without cookies.

        It has a key, so that the table does not reveal who has downloaded a file.
        """
        agent = request.headers.get("User-Agent", "")
        return self._host.keyed_hash(f"visitor {link_id} {self._host.client_network} {agent}")

    def _continue(self, transaction: Transaction, link: Link, item: str, sending: Sending) -> list[str]:
        """Take the bytes of a range from the visitor's downloads that have room; return their ids."""
        known = self._known(link.id)
        is_same = (downloads.c.item == item) & (downloads.c.tag == sending.tag)
        has_room = downloads.c.remaining >= sending.length
        values = {
            "remaining": downloads.c.remaining - sending.length,
            "expires_at": self._host.clock.now() + LIFETIME * 1000,
        }
        # A visitor may have several rows of one content, of which each has room.
        rows = transaction.all(select(downloads.c.id).where(known & is_same & has_room))
        ids = [row.id for row in rows]
        transaction.execute(update(downloads).where(downloads.c.id.in_(ids)).values(values))
        return ids

    def _begin(self, transaction: Transaction, link: Link, item: str, sending: Sending) -> str:
        value = secrets.token_urlsafe(24)
        row = {
            "id": hash_of(value),
            "visitor_hash": self._visitor(link.id),
            "link_id": link.id,
            "item": item,
            "tag": sending.tag,
            # Enough to begin once more after a break. No fixed part: it would be many copies of a small
            # file.
            "remaining": max(0, 2 * sending.size - sending.length),
            "expires_at": self._host.clock.now() + LIFETIME * 1000,
        }
        transaction.execute(insert(downloads), row)
        return value


def _is_probe(sending: Sending) -> bool:
    """Return whether all ranges are within the beginning: 1 % or 64 KiB, at most a tenth of the file."""
    beginning = min(max(sending.size // 100, _PROBE_BYTES), sending.size // 10)
    return sending.end <= beginning


class _Metered:
    """The body of a response, which reports the bytes that were not sent when it is closed."""

    def __init__(self, body: Iterable[bytes], length: int, give_back: Callable[[int], None]) -> None:
        self._body = body
        self._unsent = length
        self._give_back = give_back

    def __iter__(self) -> Iterator[bytes]:
        for chunk in self._body:
            self._unsent -= len(chunk)
            yield chunk

    def close(self) -> None:
        """Close the body."""
        close = getattr(self._body, "close", None)
        if close is not None:
            close()
        unsent, self._unsent = self._unsent, 0
        if unsent > 0:
            self._give_back(unsent)
