"""Counted downloads.

A visitor uses one download when bytes beyond the beginning of the content are about to be sent for the
first time: players and download managers read the beginning first. All further ranges and retries of the
same version belong to it until twice the size of the content has been sent. A visitor is a browser with
the cookie of the share; clients without cookies are recognized by address and User-Agent.

A body takes its bytes in portions, each before it is sent. What it has announced and not sent is still
there for the next range, because a server may notice late, or never, that a connection is lost. Several
bodies together may send more than a download has left; then they use a further one of the share, and
without one the body ends early.
"""

import secrets
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from flask import request
from sqlalchemy import insert, or_, select, update

from strongroom.plugin_api.files import FileInfo, Sending
from strongroom.plugin_api.host import HostAPI
from strongroom.plugin_api.state import Transaction
from strongroom.plugin_api.web import ApiError
from strongroom_share_links.access_log import AccessKind, AccessLog
from strongroom_share_links.cookies import Cookies
from strongroom_share_links.errors import UNAVAILABLE
from strongroom_share_links.links import hash_of
from strongroom_share_links.models import Link, downloads, links, lock

LIFETIME: Final = 60 * 60
"""Seconds after the last range within which a download may be continued."""

_PROBE_BYTES: Final = 64 * 1024

_RENEWAL: Final = LIFETIME * 1000 // 4
"""Milliseconds after which a slow body prolongs its download, which would otherwise expire."""

_PORTION_BYTES: Final = 1024 * 1024

_PORTIONS: Final = 16
"""Portions of a large content: few, because each is a write to the database."""

_COOKIE: Final = "share-download"


@dataclass(frozen=True, slots=True)
class Download:
    """What a visitor downloads; known also after the request, while the body is sent.

    Args:
        size: the bytes of the whole content.
        tag: the entity tag of the whole content.
        cookie_hash: the SHA-256 of the visitor's cookie; ``None`` without one.
        visitor_hash: identifies a visitor without cookies.
        record: the opening that counting it records.
    """

    link: Link
    item: str
    size: int
    tag: str
    cookie_hash: str | None
    visitor_hash: str
    record: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Counted:
    """What a range uses.

    Args:
        download: what is downloaded.
        taken: the bytes that were taken already.
        row: the download that they were taken from; ``None`` for a probe, which takes none.
        cookie: the value with which a new download can be continued; ``None`` without one.
    """

    download: Download
    taken: int = 0
    row: str | None = None
    cookie: str | None = None


@dataclass(slots=True, eq=False, repr=False)
class Downloads:
    """Counts the downloads of shares."""

    _host: HostAPI
    _cookies: Cookies
    _access_log: AccessLog

    def continues(self, secret: str) -> bool:
        """Return whether the current request may continue a counted download of a share."""
        with self._host.database.read() as transaction:
            link_id = transaction.scalar(
                select(links.c.id).where(links.c.secret_hash == hash_of(secret))
            )
            known = self._known(link_id, *self._visitor(link_id)) if link_id else None
            row = None if known is None else transaction.first(select(downloads.c.id).where(known))
        return row is not None

    def count_once(
        self, link: Link, file: FileInfo | None, item: str, sending: Sending, *, at_once: int
    ) -> Counted:
        """Count the download that is about to begin, unless it continues a counted one.

        Args:
            file: the downloaded file; ``None`` for an archive.
            item: identifies the file or archive.
            at_once: the bytes to take now. The body takes the others, see :meth:`metered`.

        Raises:
            ApiError: the share has no download left.
        """
        about = {"file_id": file and file.id, "name": file and file.name, "size": sending.size}
        record = self._access_log.record(link, AccessKind.DOWNLOAD, about)
        visitor = self._visitor(link.id)
        download = Download(link, item, sending.size, sending.tag, *visitor, record)
        return self._count(download, sending.length, at_once, is_free=_is_probe(sending))

    def remember(self, response: Any, link: Link, counted: Counted) -> None:
        """Set the cookie of a download that has begun."""
        if counted.cookie is not None:
            self._cookies.set(response, _COOKIE, link.id, counted.cookie, LIFETIME)

    def metered(self, response: Any, counted: Counted, sending: Sending) -> None:
        """Take the bytes of a response before they are sent, and give back those that are not sent.

        Args:
            response: the response, whose body this server sends.
        """
        if counted.row is not None:
            response.response = _MeteredBody(
                response.response, self, counted, length=sending.length, portion=portion(sending)
            )

    def take(self, download: Download, amount: int) -> str | None:
        """Take bytes for a body; return the row that they were taken from.

        Returns:
            ``None`` without a row: the database is unavailable, which ends no response that has begun.

        Raises:
            ApiError: ``error.share-unavailable``: neither the visitor nor the share has a download left.
        """
        try:
            # Without the lock of the share, which only a new row needs.
            with self._host.database.write() as transaction:
                row = self._continue(transaction, download, amount, amount)
            return row or self._count(download, amount, amount).row
        except ApiError as error:
            if error.code == UNAVAILABLE.code:
                raise
            return None

    def give_back(self, row: str, unsent: int) -> None:
        """Give bytes that were not sent back to a download: players abort most ranges."""
        change = update(downloads).values(remaining=downloads.c.remaining + unsent)
        with self._host.database.write() as transaction:
            transaction.execute(change.where(downloads.c.id == row))

    def now(self) -> int:
        """Return the milliseconds since the Unix epoch."""
        return self._host.clock.now()

    def _known(self, link_id: str, cookie_hash: str | None, visitor_hash: str) -> Any:
        """Return the condition for the current downloads of a visitor."""
        visitor = downloads.c.visitor_hash == visitor_hash
        if cookie_hash is not None:
            visitor = or_(downloads.c.id == cookie_hash, visitor)
        return visitor & (downloads.c.link_id == link_id) & (downloads.c.expires_at > self.now())

    def _visitor(self, link_id: str) -> tuple[str | None, str]:
        """Return the hash of the visitor's cookie, and that of the address and the User-Agent.

        The second has a key, so that the table does not reveal who has downloaded a file.
        """
        agent = request.headers.get("User-Agent", "")
        client = self._host.secrets.keyed_hash(
            f"visitor {link_id} {self._host.limits.client_network} {agent}"
        )
        return self._cookies.hashed(_COOKIE, link_id), client

    def _count(self, download: Download, room: int, taken: int, *, is_free: bool = False) -> Counted:
        """Take bytes from a download of the visitor that has room, or from one that is counted now.

        Args:
            is_free: whether the range uses no download if there is none to continue.

        Raises:
            ApiError: the share has no download left.
        """
        link = download.link
        with self._host.database.write() as transaction:
            # So that parallel ranges of one visitor find the row of the first one.
            lock(transaction, [link.id])
            if (row := self._continue(transaction, download, room, taken)) or is_free:
                return Counted(download, taken, row)
            remaining = or_(links.c.max_downloads.is_(None), links.c.downloads < links.c.max_downloads)
            count = update(links).values(downloads=links.c.downloads + 1)
            # Of concurrent downloads, only as many as remain change the row.
            if not transaction.execute(count.where((links.c.id == link.id) & remaining)):
                raise ApiError(UNAVAILABLE)
            value = self._begin(transaction, download, taken)
            counted = transaction.scalar(select(links.c.downloads).where(links.c.id == link.id))
        if counted == link.max_downloads:
            self._access_log.notify(link, AccessKind.DOWNLOAD)
        return Counted(download, taken, hash_of(value), value)

    def _continue(
        self, transaction: Transaction, download: Download, room: int, taken: int
    ) -> str | None:
        """Take bytes from one of the visitor's downloads; return its id, or ``None`` without one.

        Args:
            room: the bytes that the download must have left.
        """
        visitor = self._known(download.link.id, download.cookie_hash, download.visitor_hash)
        is_same = (downloads.c.item == download.item) & (downloads.c.tag == download.tag)
        has_room = downloads.c.remaining >= room
        # The one with the most room last, so that it keeps it for large ranges.
        found = select(downloads.c.id).where(visitor & is_same & has_room)
        order = (downloads.c.remaining, downloads.c.id)
        values = {
            "remaining": downloads.c.remaining - taken,
            "expires_at": self.now() + LIFETIME * 1000,
        }
        for row in transaction.scalars(found.order_by(*order)):
            # Other bodies take from the same row without the lock of the share.
            change = update(downloads).where((downloads.c.id == row) & has_room)
            if transaction.execute(change.values(values)):
                return str(row)
        return None

    def _begin(self, transaction: Transaction, download: Download, taken: int) -> str:
        value = secrets.token_urlsafe(24)
        row = {
            "id": hash_of(value),
            "visitor_hash": download.visitor_hash,
            "link_id": download.link.id,
            "item": download.item,
            "tag": download.tag,
            # Enough to begin once more after a break. No fixed part: it would be many copies of a small
            # file.
            "remaining": max(0, 2 * download.size - taken),
            "expires_at": self.now() + LIFETIME * 1000,
        }
        transaction.execute(insert(downloads), row)
        self._access_log.add(transaction, download.record)
        return value


def portion(sending: Sending) -> int:
    """Return the bytes that a body takes at once: 1 MiB or a 16th of the content, at most all."""
    return min(sending.length, max(_PORTION_BYTES, sending.size // _PORTIONS))


def _is_probe(sending: Sending) -> bool:
    """Return whether all ranges are within the beginning: 1 % or 64 KiB, at most a tenth of the file."""
    beginning = min(max(sending.size // 100, _PROBE_BYTES), sending.size // 10)
    return sending.end <= beginning


class _MeteredBody:
    """The body of a response.

    It ends early when no download is left. The client detects it, because the body is shorter than its
    Content-Length.

    Args:
        counted: the download, from which the first bytes were taken.
        length: the bytes of the body.
        portion: the bytes to take at once.
    """

    def __init__(
        self,
        body: Iterable[bytes],
        downloads: Downloads,
        counted: Counted,
        *,
        length: int,
        portion: int,
    ) -> None:
        self._body = body
        self._downloads = downloads
        self._download = counted.download
        self._portion = portion
        # The last portion, and the row that it was taken from; None if there was no database.
        self._row, self._last = counted.row, counted.taken
        self._unsent = counted.taken
        self._left = length - counted.taken
        self._taken_at = downloads.now()

    def __iter__(self) -> Iterator[bytes]:
        for chunk in self._body:
            try:
                self._take(len(chunk))
            except ApiError:
                return
            self._unsent -= len(chunk)
            yield chunk

    def close(self) -> None:
        """Close the body, and give the unsent bytes back."""
        close = getattr(self._body, "close", None)
        if close is not None:
            close()
        # Earlier portions may be of another row.
        unsent, self._unsent = min(self._unsent, self._last), 0
        if unsent > 0 and self._row is not None:
            self._downloads.give_back(self._row, unsent)

    def _take(self, size: int) -> None:
        """Take the next portion if a chunk needs it, or if the download would expire.

        Raises:
            ApiError: no download is left.
        """
        now = self._downloads.now()
        if self._left and (self._unsent < size or now >= self._taken_at + _RENEWAL):
            amount = min(max(self._portion, size) - self._unsent, self._left)
            self._row = self._downloads.take(self._download, amount)
            self._last, self._taken_at = amount, now
            self._unsent += amount
            self._left -= amount
