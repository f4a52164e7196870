"""Counted downloads.

A download is counted when the first bytes of a full response, or of any range that continues no counted
download, are about to be sent. The visitor's browser then has a cookie with which it may continue with
later ranges of the same version, up to twice the size of the content in total.
"""

import secrets
from typing import Any, Final

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

_COOKIE: Final = "share-download"


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

    def count_once(self, link: Link, file: FileInfo | None, item: str, sending: Sending) -> str | None:
        """Count the download that is about to begin, unless it continues a counted one.

        Args:
            file: the downloaded file; ``None`` for an archive.
            item: identifies the file or archive.

        Returns:
            The value of the cookie with which it can be continued; ``None`` if it continues one.

        Raises:
            ApiError: the share has no download left.
        """
        with self._host.database.write() as transaction:
            if sending.offset and self._continue(transaction, link, item, sending):
                return None
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
        return value

    def remember(self, response: Any, link: Link, value: str | None) -> Any:
        """Set the cookie of a download that has begun."""
        if value is not None:
            self._cookies.set(response, _COOKIE, link.id, value, LIFETIME)
        return response

    def _known(self, link_id: str) -> Any:
        hashed = self._cookies.hashed(_COOKIE, link_id)
        if hashed is None:
            return None
        is_current = downloads.c.expires_at > self._host.clock.now()
        return (downloads.c.id == hashed) & (downloads.c.link_id == link_id) & is_current

    def _continue(self, transaction: Transaction, link: Link, item: str, sending: Sending) -> bool:
        known = self._known(link.id)
        if known is None:
            return False
        is_same = (downloads.c.item == item) & (downloads.c.tag == sending.tag)
        has_room = downloads.c.remaining >= sending.length
        values = {
            "remaining": downloads.c.remaining - sending.length,
            "expires_at": self._host.clock.now() + LIFETIME * 1000,
        }
        change = update(downloads).where(known & is_same & has_room).values(values)
        return transaction.execute(change) == 1

    def _begin(self, transaction: Transaction, link: Link, item: str, sending: Sending) -> str:
        value = secrets.token_urlsafe(24)
        row = {
            "id": hash_of(value),
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
