"""Files as the caller: ``host.files``.

The methods call the services of the REST API, as the user who sent the current request. So permissions,
quotas, name rules, events, audit records and errors are REST's. They work in routes, in mounted
WSGI applications, and after ``host.acting_as(user_id)`` in jobs and event handlers::

    def newest(tenant_id: str) -> list[FileInfo]:
        page = host.files.list(tenant_id, None)
        return sorted(page.items, key=lambda file: -file.updated_at)[:10]

All methods raise :class:`~strongroom.plugin_api.web.ApiError` with the codes of REST: 401
``error.token-required`` without a caller, 403 ``error.forbidden``, 404 ``error.not-found``, 409
``error.name-conflict``, 507 ``error.storage-full`` and so on. Times are in milliseconds since the Unix
epoch, sizes in bytes.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, Literal

from strongroom.plugin_api.changes import UNCHANGED, Unchanged
from strongroom.plugin_api.paging import ResultPage
from strongroom.plugin_api.storage import ByteSource, ByteStream

OnConflict = Literal["fail", "rename", "replace"]
"""What happens if a name is taken: an error, a free name with a number, or a file replaces a file."""

AttributesOfContent = Callable[[str], Mapping[str, str | None]]
"""Returns changes of attributes for the SHA-256 of a content, in hexadecimal digits."""

Level = Literal["read", "write", "manage"]
"""A permission; each includes the ones before it."""


@dataclass(frozen=True, slots=True)
class Delegation:
    """A user's rights within limits, for a person who has none, such as the visitor of a share link.

    See :meth:`strongroom.plugin_api.host.HostAPI.acting_for`.

    Args:
        user_id: the user whose rights are used. They end with the user's own.
        tenant_id: the tenant.
        file_id: the file, or the folder with everything in it, wherever it is moved within the tenant.
        permission: the highest permission.
        required: what the user must hold on the file or folder itself, at each call.
        content_types: glob patterns of the media types of files that may be created, such as
            ``image/*``; empty: all that the server accepts.
        key_id: the access key, or the grant of a client, by which the user has given the rights. They
            end with it, also when it is revoked, and reach no further than it does; ``None``: the user
            has used none.
    """

    user_id: str
    tenant_id: str
    file_id: str
    permission: Level
    required: Level = "manage"
    content_types: tuple[str, ...] = ()
    key_id: str | None = None


@dataclass(frozen=True, slots=True)
class Tenure:
    """How long the caller manages a file or folder. What the caller lets others do must end with it.

    Args:
        expires_at: when it ends, in milliseconds since the Unix epoch: the end of the caller's grant, or
            of the access key or the client's access if that is earlier; ``None``: no end is known.
        key_id: the access key or the grant of a client that the caller uses, at most 36 characters,
            which may be revoked before; for :attr:`Delegation.key_id`.
    """

    expires_at: int | None
    key_id: str | None


@dataclass(frozen=True, slots=True)
class Sending:
    """The content of a response that is about to be sent.

    Args:
        offset: the position of its first byte in the whole content; 0 for several ranges.
        length: the number of bytes of the body.
        size: the number of bytes of the whole content.
        tag: the entity tag, which identifies the version of the whole content.
        end: the position after the last of its bytes in the whole content, also for several ranges.
    """

    offset: int
    length: int
    size: int
    tag: str
    end: int


BeforeSending = Callable[[Sending], None]
"""Called before the first byte of a response is sent; may raise to refuse the response."""


@dataclass(frozen=True, slots=True)
class FileInfo:
    """A file or folder, and the caller's permission on it.

    Args:
        id: its id, which never changes.
        tenant_id: its tenant.
        parent_id: its folder; ``None`` at the top level of the tenant.
        is_folder: whether it is a folder; folders have size 0, no media type and no checksum.
        name: its name, in Unicode normalization form C.
        size: its size.
        content_type: its media type.
        checksum: its SHA-256 in hexadecimal digits.
        owner_id: the user who created it.
        permission: the caller's permission; ``none`` only after a move that ended the caller's access.
        revision: rises with every change of the file itself.
        created_at: when it was created.
        updated_at: when it was changed.
        path: the names from the topmost folder that the caller can see down to its own; only
            :meth:`FilesAPI.stat` sets it, on demand.
        attributes: what the plugin has stored about it by :meth:`FilesAPI.change_attributes`, by name;
            only on demand.
    """

    id: str
    tenant_id: str
    parent_id: str | None
    is_folder: bool
    name: str
    size: int
    content_type: str | None
    checksum: str | None
    owner_id: str
    permission: str
    revision: int
    created_at: int
    updated_at: int
    path: Sequence[str] = ()
    attributes: Mapping[str, str] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True)
class FileSpace:
    """A tenant as a place of files; several may have the same name."""

    tenant_id: str
    name: str
    created_at: int


@dataclass(frozen=True, slots=True)
class FilePlace:
    """What has a name in a folder.

    Args:
        file: the file or folder; ``None``: the name is free, as far as the caller can see.
        parent: the file or folder that the path before the name leads to, if the name is free; ``None``:
            the caller's top level.
    """

    file: FileInfo | None
    parent: FileInfo | None = None


@dataclass(frozen=True, slots=True)
class FileLock:
    """A write lock of a file or folder (RFC 4918, section 6).

    Args:
        id: what changes present; see :meth:`FilesAPI.presenting`.
        file_id: what is locked, which may be a folder around the file that was requested.
        user_id: the user who holds it. Others cannot use it.
        is_shared: whether there may be other shared locks.
        is_deep: whether a folder is locked with everything in it.
        note: a text of the client.
        locked_at: when it was taken.
        expires_at: when it ends unless it is renewed.
    """

    id: str
    file_id: str
    user_id: str
    is_shared: bool
    is_deep: bool
    note: str
    locked_at: int
    expires_at: int


class FileSink(ABC):
    """A file that is being written, of :meth:`FilesAPI.writing`."""

    @abstractmethod
    def write(self, data: bytes | bytearray | memoryview) -> int:
        """Add bytes to the content, and return their number; wait if the storage is slower.

        Raises:
            ApiError: the content is refused, such as because the tenant has no space left.
            ValueError: these are more bytes than the given ``size``.
        """

    @property
    @abstractmethod
    def file(self) -> FileInfo:
        """The file, after the end of the block.

        Raises:
            RuntimeError: the block has not ended.
        """


class FilesAPI(ABC):
    """The files and folders that the caller can access."""

    @abstractmethod
    def spaces(self, *, page: int = 1, size: int = 100) -> ResultPage[FileSpace]:
        """Return a page of the tenants whose files the caller can access, sorted by name.

        Unlike :meth:`TenantsAPI.list <strongroom.plugin_api.tenants.TenantsAPI.list>`, it needs only
        the scope ``files:read``, which the key of a single folder may have.
        """

    @abstractmethod
    def find_spaces(self, identifier: str) -> Sequence[FileSpace]:
        """Return the tenants of :meth:`spaces` with an id or a whole name, sorted by id."""

    @abstractmethod
    def list(
        self,
        tenant_id: str,
        parent_id: str | None,
        *,
        folders_first: bool = False,
        page: int = 1,
        size: int = 100,
        query: Mapping[str, Any] | None = None,
        with_attributes: bool = False,
    ) -> ResultPage[FileInfo]:
        """Return a page of a folder, or of the caller's top level, sorted by name.

        The top level contains what the caller can see without seeing the folder that it is in.

        Args:
            folders_first: whether all folders are before all files.
            query: the parsed query of a request for a page, in place of ``page`` and ``size``; it may
                have a cursor.
            with_attributes: whether :attr:`FileInfo.attributes` is set, for which another query is
                executed.
        """

    @abstractmethod
    def list_all(
        self, tenant_id: str, parent_id: str | None, *, with_attributes: bool = False
    ) -> Iterator[FileInfo]:
        """Return all files and folders of a folder, or of the caller's top level, sorted by name.

        They are read page by page. Those that are added or removed meanwhile may be missing; each other
        one is returned once.

        Args:
            with_attributes: as for :meth:`list`.

        Raises:
            ApiError: also between two pages, such as after the caller lost the permission.
        """

    @abstractmethod
    def stat(
        self,
        tenant_id: str,
        file_id: str,
        *,
        with_path: bool = False,
        with_attributes: bool = False,
    ) -> FileInfo:
        """Return a file or folder.

        Args:
            with_path: whether :attr:`FileInfo.path` is set, for which another query is executed.
            with_attributes: likewise :attr:`FileInfo.attributes`.
        """

    @abstractmethod
    def search(
        self,
        tenant_id: str,
        text: str,
        *,
        parent_id: str | None = None,
        kind: Literal["file", "folder"] | None = None,
        sort: str = "name",
        page: int = 1,
        size: int = 100,
    ) -> ResultPage[FileInfo]:
        """Return a page of the files and folders that the caller sees and whose names contain a text.

        As ``GET .../search``: the most recently named 1,000 are found, and sorted.

        Args:
            tenant_id: the tenant.
            text: 1 to 255 characters; case and compatible characters do not matter.
            parent_id: the folder that they are in, at any depth; ``None`` is all that the caller sees.
            kind: ``file`` or ``folder``; ``None`` is both.
            sort: ``name``, ``updatedAt``, ``size`` or ``type``, after a ``-`` in descending order.
        """

    @abstractmethod
    def resolve(
        self,
        tenant_id: str,
        path: Sequence[str],
        *,
        start: str | None = None,
        with_attributes: bool = False,
    ) -> FileInfo:
        """Return the file or folder that the names of a path lead to.

        Takes the same number of queries for a path of any length.

        Args:
            tenant_id: the tenant.
            path: the names, such as ``["reports", "2026", "may.pdf"]``; not empty without ``start``.
            start: the folder where the path begins; ``None`` is the caller's top level.
            with_attributes: whether :attr:`FileInfo.attributes` is set, for which another query is
                executed.

        Raises:
            ApiError: ``error.not-found``; also if the caller cannot see a folder of the path.
        """

    @abstractmethod
    def find_place(self, tenant_id: str, path: Sequence[str]) -> FilePlace:
        """Return what a path leads to, or where a file with this path would be. API 2.0.

        Takes the same number of queries as :meth:`resolve`.

        Args:
            tenant_id: the tenant.
            path: the names from the caller's top level, at least one.

        Raises:
            ApiError: ``error.not-found`` if the folder does not exist, or the caller cannot see it.
        """

    @abstractmethod
    def open(
        self, tenant_id: str, file_id: str, start: int = 0, length: int | None = None
    ) -> ByteStream:
        """Open a range of the bytes of a file, for ``with files.open(...) as chunks:``.

        It is recorded as a download by the caller.

        Args:
            tenant_id: the tenant.
            file_id: the file.
            start: the offset of the first byte.
            length: the number of bytes; ``None`` reads to the end.
        """

    @abstractmethod
    def send(
        self,
        tenant_id: str,
        file_id: str,
        *,
        before: BeforeSending | None = None,
    ) -> Any:
        """Return the Flask response with a file: the one of ``GET .../files/{fileId}/download``.

        It respects the conditions and ranges of the current request, protects browsers from active
        content, and lets a proxy or the store send the bytes if that is configured. A WSGI application
        returns ``response(environ, start_response)``.

        Args:
            tenant_id: the tenant.
            file_id: the file.
            before: called if the response has content, before any of it is sent. It may raise to
                refuse the response, which then is no download. With it, the server sends all bytes
                itself: a URL of the store would be valid whatever happens to the caller's permission.
        """

    @abstractmethod
    def make_bundle(self, tenant_id: str, file_ids: Sequence[str], *, name: str | None = None) -> str:
        """Return the id of a bundle, for :meth:`send_bundle_again`, without a response.

        For pages whose form selects files: the response redirects to the bundle, and the browser can
        resume its download, which it cannot after the form itself.

        Args:
            tenant_id: the tenant.
            file_ids: the files and folders.
            name: the file name of the archive.
        """

    @abstractmethod
    def send_bundle(
        self,
        tenant_id: str,
        file_ids: Sequence[str],
        *,
        name: str | None = None,
        location: Callable[[str], str],
        before: BeforeSending | None = None,
    ) -> Any:
        """Return the Flask response with one ZIP archive of files and whole folders, or a range of it.

        Args:
            tenant_id: the tenant.
            file_ids: the files and folders.
            name: the file name of the archive.
            location: returns the path of the route that calls :meth:`send_bundle_again`, for the id of
                the bundle.
            before: see :meth:`send`.
        """

    @abstractmethod
    def send_bundle_again(
        self,
        tenant_id: str,
        bundle_id: str,
        *,
        location: Callable[[str], str],
        before: BeforeSending | None = None,
    ) -> Any:
        """Return the Flask response with a bundle that the caller has requested before."""

    @abstractmethod
    def send_picture(self, tenant_id: str, file_id: str, width: int) -> Any:
        """Return the Flask response with a picture, encoded again without metadata, for display.

        Args:
            tenant_id: the tenant.
            file_id: the file.
            width: the maximum width in pixels; a smaller picture keeps its size.

        Raises:
            ApiError: also ``error.picture-unreadable`` and ``error.picture-too-large``.
        """

    @abstractmethod
    def receive(
        self,
        tenant_id: str,
        parent_id: str | None,
        *,
        name: Callable[[str], str] = str,
        on_conflict: OnConflict = "fail",
        max_bytes: int | None = None,
        relative_path: str | None = None,
        folders: Sequence[str] = (),
    ) -> FileInfo:
        """Store the file in the body of the current request, as ``POST .../files`` does.

        The body is a form with the field ``file``, or the content with its name in
        ``Content-Disposition``. Digests of the client are checked.

        Args:
            tenant_id: the tenant.
            parent_id: the folder; ``None`` is the top level.
            name: changes the name that the client sent.
            on_conflict: what happens if the name is taken.
            max_bytes: the maximum size, if less than the server's.
            relative_path: the path of the file from the folder, such as ``photos/a.jpg``; missing
                folders are created together with the file.
            folders: names of folders below ``parent_id`` that the path begins with.
        """

    @abstractmethod
    def upload(
        self,
        tenant_id: str,
        parent_id: str | None,
        name: str,
        source: ByteSource,
        *,
        size: int | None = None,
        on_conflict: OnConflict = "fail",
        checksum: str | None = None,
        attributes: AttributesOfContent | None = None,
    ) -> FileInfo:
        """Store a file in a folder or at the top level. It is durable when this returns.

        Args:
            tenant_id: the tenant.
            parent_id: the folder; ``None`` is the top level.
            name: the name.
            source: the content; an object with ``read(size)``, such as ``environ["wsgi.input"]``. If it
                raises ``ConnectionError`` or ``TimeoutError``, as a broken body does, the error is
                ``error.upload-incomplete``, and nothing is stored.
            size: the size of the content, if known; a source that ends earlier is refused.
            on_conflict: what happens if the name is taken.
            checksum: the expected SHA-256 in hexadecimal digits.
            attributes: changes of attributes in the same transaction; see :meth:`change_attributes`.
        """

    @abstractmethod
    def replace(
        self,
        tenant_id: str,
        file_id: str,
        source: ByteSource,
        *,
        size: int | None = None,
        checksum: str | None = None,
        revision: int | None = None,
        attributes: AttributesOfContent | None = None,
    ) -> FileInfo:
        """Replace the content of a file; its id, name and grants remain.

        Args:
            tenant_id: the tenant.
            file_id: the file.
            source: the content, as for :meth:`upload`.
            size: the size of the content, if known.
            checksum: the expected SHA-256 in hexadecimal digits.
            revision: the expected revision; another one is an error.
            attributes: as for :meth:`upload`.
        """

    @abstractmethod
    def writing(
        self,
        tenant_id: str,
        parent_id: str | None,
        name: str,
        *,
        size: int | None = None,
        on_conflict: OnConflict = "fail",
        checksum: str | None = None,
    ) -> AbstractContextManager[FileSink]:
        """Store what a block writes as a file; see :meth:`upload`.

        For libraries that write into an object, where :meth:`upload` reads from one::

            with host.files.writing(tenant_id, None, "may.csv") as sink:
                sink.write(b"day,sales")
            file_id = sink.file.id

        At most about 1 MiB is in memory. The file exists, and is durable, when the block has ended; if
        the block raises, nothing is stored. What can be refused without the content, such as a taken
        name, is raised before the block.

        Args:
            tenant_id: the tenant.
            parent_id: the folder; ``None`` is the top level.
            name: the name.
            size: the size of the content, if known; less is refused, and more raises ``ValueError``.
            on_conflict: what happens if the name is taken.
            checksum: the expected SHA-256 in hexadecimal digits.
        """

    @abstractmethod
    def create_folder(
        self,
        tenant_id: str,
        parent_id: str | None,
        name: str,
        *,
        on_conflict: OnConflict = "fail",
        replaces: FileInfo | None = None,
    ) -> FileInfo:
        """Create a folder in a folder or at the top level; ``replace`` is the same as ``fail``.

        Args:
            replaces: as for :meth:`move`.
        """

    @abstractmethod
    def move(
        self,
        tenant_id: str,
        file_id: str,
        parent_id: str | Unchanged | None = UNCHANGED,
        name: str | None = None,
        *,
        on_conflict: OnConflict = "fail",
        revision: int | None = None,
        replaces: FileInfo | None = None,
    ) -> FileInfo:
        """Rename a file or folder, move it into another folder or to the top level, or both.

        Without another ``parent_id``, it is renamed, and needs only the permission to write.

        Args:
            tenant_id: the tenant.
            file_id: the file or folder.
            parent_id: the folder; ``None`` is the top level.
            name: the new name; ``None`` keeps the name.
            on_conflict: what happens if the name is taken.
            revision: the expected revision; another one is an error.
            replaces: a file, or a folder with everything in it, that is deleted in the same transaction
                before, as by :meth:`delete`, unless it has changed since it was read.
        """

    @abstractmethod
    def copy(
        self,
        tenant_id: str,
        file_id: str,
        parent_id: str | None,
        name: str | None = None,
        *,
        on_conflict: OnConflict = "fail",
        replaces: FileInfo | None = None,
    ) -> FileInfo:
        """Copy a file or a whole folder into a folder or to the top level; the caller owns the copy.

        Args:
            replaces: as for :meth:`move`.
        """

    @abstractmethod
    def change_attributes(self, tenant_id: str, file_id: str, changes: Mapping[str, str | None]) -> None:
        """Store texts about a file or folder, which other plugins neither see nor change. API 2.0.

        They follow it into other folders, into the trash and back, are copied with it, are part of the
        owner's exports, and go with it. The revision remains. The caller must be allowed to write.

        Args:
            tenant_id: the tenant.
            file_id: the file or folder.
            changes: the values by names of 1 to 255 characters; ``None`` removes an attribute. A file
                has at most 50 attributes, with 16 KiB of names and values in UTF-8.

        Raises:
            ApiError: also ``error.validation-failed`` beyond these limits, and ``error.file-locked``.
        """

    @property
    @abstractmethod
    def has_trash(self) -> bool:
        """Whether deleted files go to the trash; otherwise their deletion is final."""

    @abstractmethod
    def delete(self, tenant_id: str, file_id: str, *, revision: int | None = None) -> None:
        """Delete a file, or a folder with everything in it; it goes to the trash if there is one."""

    @abstractmethod
    def send_version(self, tenant_id: str, file_id: str, number: int) -> Any:
        """Return the Flask response with an earlier content of a file; see :meth:`send`."""

    @abstractmethod
    def tenure(self, tenant_id: str, file_id: str) -> Tenure:
        """Return how long the caller, who must manage a file or folder, does so."""

    @abstractmethod
    def restored_since(self, tenant_id: str, file_id: str, sequence: int) -> bool:
        """Return whether a file or folder came back from the trash after an event of its tenant.

        It may have been deleted with a folder around it. Changes that are older than the retention
        period of events are not known any more.
        """

    @abstractmethod
    def presenting(self, lock_ids: Collection[str]) -> AbstractContextManager[None]:
        """Present locks for the changes within a block, in addition to those in ``Lock-Token``.

        Without them, the changes of what is locked raise ``error.file-locked``, with the status 423.
        It is bound to the thread.
        """

    @abstractmethod
    def locks(self, tenant_id: str, file_ids: Sequence[str]) -> Mapping[str, Sequence[FileLock]]:
        """Return the locks that cover files and folders, by their ids; without those that have none.

        Locks of the folders around them are included if they are deep. Files that the caller cannot
        read are left out.
        """

    @abstractmethod
    def lock(
        self,
        tenant_id: str,
        file_id: str,
        seconds: int,
        *,
        shared: bool = False,
        deep: bool = True,
        note: str = "",
        lock_id: str | None = None,
    ) -> FileLock:
        """Lock a file or folder for changes by others.

        Args:
            seconds: how long it lasts unless it is renewed, at most seven days.
            shared: whether other users may take shared locks of the same, too.
            deep: whether a folder is locked with everything in it, at any depth.
            note: a text for others, at most 1,024 characters.
            lock_id: a new UUID that the plugin has announced as the id already; ``None``: a new one.

        Raises:
            ApiError: also ``error.file-locked`` and ``error.too-many-locks``.
            ValueError: the duration, the note or the id is invalid.
        """

    @abstractmethod
    def renew_lock(self, tenant_id: str, file_id: str, lock_id: str, seconds: int) -> FileLock:
        """Let a lock of the caller last for a time from now.

        Args:
            file_id: what is locked, or is in what is locked.

        Raises:
            ApiError: also ``error.not-found``, for a lock that does not cover the file or has ended.
            ValueError: the duration is invalid.
        """

    @abstractmethod
    def unlock(self, tenant_id: str, file_id: str, lock_id: str) -> None:
        """End a lock of the caller, or of another user if the caller manages what is locked.

        Raises:
            ApiError: also ``error.not-found``, for a lock that does not cover the file or has ended.
        """
