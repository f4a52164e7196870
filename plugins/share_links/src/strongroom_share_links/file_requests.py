"""Files that visitors upload: their limits, their folders, and who sent them.

The room of a drop box is reserved before bytes are received, so that parallel uploads cannot exceed it.
A resumable upload reserves none before its first bytes, so that announcements do not close a drop box.
"""

import re
import unicodedata
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

from flask import request
from sqlalchemy import case, delete, insert, or_, select, update

from strongroom.plugin_api.files import FileInfo
from strongroom.plugin_api.host import HostAPI
from strongroom.plugin_api.state import Transaction
from strongroom.plugin_api.uploads import UploadInfo
from strongroom.plugin_api.web import ApiError, FieldError
from strongroom_share_links.access_log import AccessKind, AccessLog
from strongroom_share_links.errors import (
    FULL,
    LENGTH_REQUIRED,
    NAME_REQUIRED,
    TOO_LARGE,
    UNAVAILABLE,
)
from strongroom_share_links.models import Layout, Link, folders, links, lock, uploads, upsert
from strongroom_share_links.share_opener import OpenedShare, ShareOpener
from strongroom_share_links.states import delegation_of

_UNNAMED: Final = "?"
_UNPRINTABLE: Final = ("Cc", "Cf", "Cs", "Zl", "Zp")
# Schemes, paths, addresses, and dots within words.
_LINKING: Final = re.compile(r"[:/\\@<>\[\]()]|(?<=\w)\.(?=\w)")
_REFUSALS: Final = {kind.code: kind for kind in (FULL, TOO_LARGE)}
_MAX_NAME: Final = 100
# More than a form adds to the file in it. How much it adds is known only at its end.
_FORM_BYTES: Final = 8192


@dataclass(frozen=True, slots=True)
class ReceivedFile:
    """A file that a visitor has uploaded."""

    id: str
    name: str
    size: int


@dataclass(slots=True, eq=False, repr=False)
class FileRequests:
    """Receives files of visitors, whole or resumable."""

    _host: HostAPI
    _opener: ShareOpener
    _access_log: AccessLog

    def receive(
        self, opened: OpenedShare, parent_id: str, uploaded_by: str | None, path: str | None = None
    ) -> ReceivedFile:
        """Store the file in the body of the request, with a free name; ``path`` creates folders.

        Raises:
            ApiError: the drop box has no room, or the core refuses the file.
        """
        sender, length = _sender(opened.link, uploaded_by), request.content_length
        if length is None and opened.link.max_bytes is not None:
            raise ApiError(LENGTH_REQUIRED)
        reserved = length or 0
        room = self._reserve(opened.link, reserved, _excess())
        try:
            with self._opener.acting(opened, "write"):
                place = self._place(opened.link, parent_id, sender)
                file = self._host.files.receive(
                    opened.link.tenant_id,
                    place.folder_id,
                    on_conflict="rename",
                    max_bytes=room,
                    relative_path=path,
                    folders=place.missing,
                )
        except BaseException:
            self._release(opened.link, 1, reserved)
            raise
        # A form is longer than the file in it.
        self._release(opened.link, 0, reserved - file.size)
        self._record(opened, file, sender)
        return ReceivedFile(file.id, file.name, file.size)

    def begin(
        self,
        opened: OpenedShare,
        parent_id: str,
        uploaded_by: str | None,
        location: Callable[[str], str],
    ) -> Any:
        """Create a resumable upload, and return the response of tus."""
        link, sender = opened.link, _sender(opened.link, uploaded_by)
        _, size = self._host.uploads.announced()
        self._require_room(link, size)
        # An empty file is complete without further requests.
        count, first = _arriving(size) if size else (1, 0)
        if count:
            self._reserve(link, first)
        try:
            with self._opener.acting(opened, "write"):
                place = self._place(link, parent_id, sender)
                response, info = self._host.uploads.create(
                    link.tenant_id,
                    place.folder_id,
                    on_conflict="rename",
                    location=location,
                    creates_folders=True,
                    folders=place.missing,
                )
        except BaseException:
            self._release(link, count, first)
            raise
        row = {"id": info.id, "link_id": link.id, "size": first, "uploaded_by": sender, "file_id": None}
        with self._host.database.write() as transaction:
            transaction.execute(insert(uploads), {**row, "created_at": self._host.clock.now()})
        self._finish(opened, info)
        self._free_rest(link, info, first)
        return response

    def state(self, opened: OpenedShare, upload_id: str) -> Any:
        """Return the response of tus with the offset of an upload."""
        self._require_own(opened.link, upload_id)
        with self._opener.acting(opened, "write"):
            return self._host.uploads.state(opened.link.tenant_id, upload_id)[0]

    def append(self, opened: OpenedShare, upload_id: str) -> Any:
        """Append the body of the request to an upload, and return the response of tus."""
        link = opened.link
        self._require_own(link, upload_id)
        with self._opener.acting(opened, "write"):
            upload = self._host.uploads.info(link.tenant_id, upload_id)
            before, held = self._hold(link, upload)
            try:
                response, info = self._host.uploads.append(link.tenant_id, upload_id)
            except BaseException:
                # Another request may be writing, so only what this one has reserved is freed.
                self._shrink(link, upload_id, held, before)
                raise
        self._finish(opened, info)
        self._free_rest(link, info, held)
        return response

    def terminate(self, opened: OpenedShare, upload_id: str) -> Any:
        """Delete an upload, and free its room."""
        self._require_own(opened.link, upload_id)
        with self._opener.acting(opened, "write"):
            response = self._host.uploads.terminate(opened.link.tenant_id, upload_id)
        self._forget(opened.link, upload_id)
        return response

    def settle(self, before: int) -> int:
        """Free the room of uploads that have expired, begun before a time; return their number."""
        unfinished = uploads.c.file_id.is_(None) & (uploads.c.created_at < before)
        columns = (uploads.c.id.label("upload_id"), links)
        with self._host.database.read() as transaction:
            rows = transaction.all(
                select(*columns).join(links, links.c.id == uploads.c.link_id).where(unfinished)
            )
        begun = [(row.upload_id, Link.from_row(row)) for row in rows]
        expired = [(upload_id, link) for upload_id, link in begun if self._is_gone(upload_id, link)]
        for upload_id, link in expired:
            self._forget(link, upload_id)
        return len(expired)

    def _hold(self, link: Link, upload: UploadInfo) -> tuple[int, int]:
        """Reserve room for the bytes of the request; return the upload's bytes before and after.

        Raises:
            ApiError: the drop box has no room.
        """
        _, arriving = _arriving(upload.size - upload.offset)
        end = upload.offset + arriving
        unfinished = (uploads.c.id == upload.id) & uploads.c.file_id.is_(None)
        with self._host.database.write() as transaction:
            # So that concurrent requests for one upload reserve room once.
            lock(transaction, [link.id])
            held: int | None = transaction.scalar(select(uploads.c.size).where(unfinished))
            if held is None or end <= held:
                return held or 0, held or 0
            files = 0 if held else 1
            if not self._take(transaction, link, end - held, files=files):
                raise self._refusal(transaction, link, files)
            transaction.execute(update(uploads).where(unfinished).values(size=end))
        return held, end

    def _free_rest(self, link: Link, upload: UploadInfo, held: int) -> None:
        """Free the room that a request reserved for bytes which did not arrive."""
        self._shrink(link, upload.id, held, upload.offset)

    def _shrink(self, link: Link, upload_id: str, held: int, size: int) -> None:
        if size >= held:
            return
        same = (uploads.c.id == upload_id) & uploads.c.file_id.is_(None) & (uploads.c.size == held)
        with self._host.database.write() as transaction:
            is_same = transaction.execute(update(uploads).where(same).values(size=size)) == 1
        if is_same:
            self._release(link, 0 if size else 1, held - size)

    def _is_gone(self, upload_id: str, link: Link) -> bool:
        try:
            with self._host.acting_for(delegation_of(link, "write")):
                self._host.uploads.info(link.tenant_id, upload_id)
        except ApiError:
            return True
        return False

    def _reserve(self, link: Link, size: int, excess: int = 0) -> int | None:
        """Reserve room for one file, and return the maximum size of the file; None: unlimited.

        Args:
            size: bytes to reserve.
            excess: how many of them may be beyond the room of the drop box.
        """
        with self._host.database.write() as transaction:
            if not self._take(transaction, link, size, excess=excess):
                raise self._refusal(transaction, link)
            # The row is locked until the end of the transaction.
            left = links.c.max_bytes - links.c.dropped_bytes + size
            most: int | None = transaction.scalar(select(left).where(links.c.id == link.id))
            return None if most is None else max(0, min(size, most))

    def _require_room(self, link: Link, size: int) -> None:
        """Require room for a file of an announced size, without reserving it."""
        has_room = (links.c.id == link.id) & _has_files(1) & _has_bytes(size, 0)
        with self._host.database.read() as transaction:
            if transaction.scalar(select(links.c.id).where(has_room)) is None:
                raise self._refusal(transaction, link)

    def _take(
        self, transaction: Transaction, link: Link, size: int, *, files: int = 1, excess: int = 0
    ) -> bool:
        room = (links.c.id == link.id) & _has_files(files) & _has_bytes(size, excess)
        values = {
            "dropped_files": links.c.dropped_files + files,
            "dropped_bytes": links.c.dropped_bytes + size,
        }
        return transaction.execute(update(links).where(room).values(values)) == 1

    def _refusal(self, transaction: Transaction, link: Link, files: int = 1) -> ApiError:
        is_full = links.c.dropped_bytes >= links.c.max_bytes
        kinds = case((~_has_files(files), UNAVAILABLE.code), (is_full, FULL.code), else_=TOO_LARGE.code)
        code = transaction.scalar(select(kinds).where(links.c.id == link.id))
        return ApiError(_REFUSALS.get(code, UNAVAILABLE))

    def _add(self, transaction: Transaction, link: Link, files: int, size: int) -> None:
        """Count what a finished upload takes beyond its reservation, if requests for it overlapped."""
        values = {
            "dropped_files": links.c.dropped_files + files,
            "dropped_bytes": links.c.dropped_bytes + size,
        }
        if files or size:
            transaction.execute(update(links).where(links.c.id == link.id).values(values))

    def _release(self, link: Link, files: int, size: int) -> None:
        values = {
            "dropped_files": _less(links.c.dropped_files, files),
            "dropped_bytes": _less(links.c.dropped_bytes, size),
        }
        with self._host.database.write() as transaction:
            transaction.execute(update(links).where(links.c.id == link.id).values(values))

    def _forget(self, link: Link, upload_id: str) -> None:
        unfinished = (uploads.c.id == upload_id) & uploads.c.file_id.is_(None)
        with self._host.database.write() as transaction:
            size = transaction.scalar(select(uploads.c.size).where(unfinished))
            is_first = transaction.execute(delete(uploads).where(unfinished)) == 1
        # An announcement without bytes has reserved nothing.
        if is_first and size:
            self._release(link, 1, size)

    def _finish(self, opened: OpenedShare, info: UploadInfo) -> None:
        """Record the file of a complete upload, once."""
        if info.file_id is None:
            return
        unfinished = (uploads.c.id == info.id) & uploads.c.file_id.is_(None)
        with self._host.database.write() as transaction:
            lock(transaction, [opened.link.id])
            held = transaction.scalar(select(uploads.c.size).where(unfinished)) or 0
            change = update(uploads).where(unfinished).values(file_id=info.file_id, size=info.size)
            is_first = transaction.execute(change) == 1
            if is_first:
                self._add(transaction, opened.link, 0 if held else 1, info.size - held)
            of_id = uploads.c.id == info.id
            sender = transaction.scalar(select(uploads.c.uploaded_by).where(of_id))
        if is_first:
            with self._opener.acting(opened):
                file = self._host.files.stat(opened.link.tenant_id, info.file_id)
            self._record(opened, file, sender)

    def _record(self, opened: OpenedShare, file: FileInfo, sender: str | None) -> None:
        link = opened.link
        if link.layout == Layout.BY_VISITOR:
            self._remember_folder(opened, file, sender or _UNNAMED)
        about = {"file_id": file.id, "name": file.name, "size": file.size, "uploaded_by": sender}
        with self._host.database.write() as transaction:
            record = self._access_log.record(link, AccessKind.UPLOAD, about)
            self._access_log.add(transaction, record)
        name, by = _unlinked(file.name), _unlinked(sender or _UNNAMED)
        self._access_log.notify(link, AccessKind.UPLOAD, f"{name}, {file.size} bytes, from {by}")

    def _require_own(self, link: Link, upload_id: str) -> None:
        """Check that an upload was begun by a visitor of this share."""
        ours = (uploads.c.id == upload_id) & (uploads.c.link_id == link.id)
        with self._host.database.read() as transaction:
            upload = transaction.first(select(uploads.c.id).where(ours))
        if upload is None:
            raise ApiError(UNAVAILABLE)

    def _place(self, link: Link, parent_id: str, sender: str | None) -> "_Place":
        """Return the place for a visitor's file; within the block of :meth:`ShareOpener.acting`."""
        if link.layout != Layout.BY_VISITOR:
            return _Place(parent_id)
        visitor = sender or _UNNAMED
        known = (folders.c.link_id == link.id) & (folders.c.visitor == visitor)
        with self._host.database.read() as transaction:
            folder_id: str | None = transaction.scalar(select(folders.c.folder_id).where(known))
        if folder_id is not None:
            # The creator may have moved or deleted it.
            with suppress(ApiError):
                return _Place(self._host.files.stat(link.tenant_id, folder_id).id)
        return _Place(parent_id, (visitor.strip(". ").replace("/", "_").replace("\\", "_") or "_",))

    def _remember_folder(self, opened: OpenedShare, file: FileInfo, visitor: str) -> None:
        """Remember the folder of a visitor that the first accepted file has created."""
        link, base_id = opened.link, opened.file.id
        if file.parent_id in (None, base_id):
            return
        with self._opener.acting(opened):
            folder = self._host.files.stat(link.tenant_id, file.parent_id)
        # A file with a path lies deeper.
        if folder.parent_id == base_id:
            row = {"link_id": link.id, "visitor": visitor, "folder_id": folder.id}
            with self._host.database.write() as transaction:
                upsert(transaction, folders, row)


@dataclass(frozen=True, slots=True)
class _Place:
    """A folder, and the names of folders in it that are created together with a file."""

    folder_id: str
    missing: tuple[str, ...] = ()


def _has_files(count: int) -> Any:
    return or_(links.c.max_files.is_(None), links.c.dropped_files + count <= links.c.max_files)


def _has_bytes(size: int, excess: int) -> Any:
    end = links.c.dropped_bytes + size
    return or_(links.c.max_bytes.is_(None), end <= links.c.max_bytes + excess)


def _arriving(rest: int) -> tuple[int, int]:
    """Return how many files (0 or 1) and bytes of an upload the request begins to send, at most."""
    length = request.content_length
    if length is None:
        length = rest if request.headers.get("Transfer-Encoding") else 0
    size = min(length, rest)
    return (1 if size else 0), size


def _excess() -> int:
    """Return how much longer than the file in it the body of the request may be."""
    return _FORM_BYTES if request.mimetype == "multipart/form-data" else 0


def _sender(link: Link, uploaded_by: str | None) -> str | None:
    name = _one_line(uploaded_by or "")[:_MAX_NAME].strip() or None
    if name is None and link.require_name:
        missing = FieldError("uploadedBy", "required", "The name of the sender is required.")
        raise ApiError(NAME_REQUIRED, details=[missing])
    return name


def _one_line(text: str) -> str:
    """Return a text without line breaks, control and format characters."""
    printable = (" " if unicodedata.category(char) in _UNPRINTABLE else char for char in text)
    return " ".join("".join(printable).split())


def _unlinked(text: str) -> str:
    """Return a text of a visitor for a message, in which no program finds a link to follow."""
    return " ".join(_LINKING.sub(" ", text).split())


def _less(column: Any, amount: int) -> Any:
    return case((column > amount, column - amount), else_=0)
