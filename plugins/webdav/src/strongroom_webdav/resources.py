"""What paths lead to: the list of tenants, tenants, folders and files."""

from collections import Counter
from collections.abc import Iterator
from contextvars import ContextVar
from dataclasses import dataclass
from http import HTTPStatus
from typing import Final

from strongroom.plugin_api.files import FileInfo, FileSpace
from strongroom.plugin_api.host import HostAPI
from strongroom.plugin_api.web import ApiError
from strongroom_webdav.errors import DavError
from strongroom_webdav.requests import Path, split_path

_NOT_FOUND: Final = 404
_PAGE: Final = 200


@dataclass(frozen=True, slots=True)
class Resource:
    """The list of tenants, a tenant, a folder or a file.

    Args:
        path: its path.
        space: its tenant; ``None``: the list of tenants.
        file: the file or folder; ``None``: a tenant, or the list of tenants.
    """

    path: Path
    space: FileSpace | None = None
    file: FileInfo | None = None

    @property
    def is_collection(self) -> bool:
        """Whether it contains others."""
        return self.file is None or self.file.is_folder

    @property
    def etag(self) -> str | None:
        """The entity tag of a file, the same as of the REST API."""
        return f'"{self.file.checksum}"' if self.file and self.file.checksum else None

    @property
    def tenant_id(self) -> str:
        """The id of the tenant, of what is in one."""
        return self.space.tenant_id if self.space else ""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a new file or folder goes.

    Args:
        folder: a folder or a tenant.
    """

    folder: Resource
    name: str

    @property
    def tenant_id(self) -> str:
        """The id of the tenant."""
        return self.folder.tenant_id

    @property
    def parent_id(self) -> str | None:
        """The id of the folder; ``None``: the top level of the tenant."""
        return self.folder.file.id if self.folder.file else None


@dataclass(frozen=True, slots=True)
class Resources:
    """The resources that the caller can see."""

    host: HostAPI

    def find(self, path: Path, *, with_attributes: bool = False) -> Resource | None:
        """Return what a path leads to, or ``None``.

        Args:
            with_attributes: whether the attributes of the file are set.
        """
        if not path:
            return Resource(path)
        space = self._find_space_once(path[0])
        if space is None:
            return None
        if len(path) == 1:
            return Resource(path, space)
        try:
            file = self.host.files.resolve(space.tenant_id, path[1:], with_attributes=with_attributes)
        except ApiError as error:
            if error.status == _NOT_FOUND:
                return None
            raise
        return Resource(path, space, file)

    def find_new(self, path: Path) -> Resource | None:
        """Do the same as :meth:`find`, for a request that creates what does not exist.

        The folder is then known to :meth:`find_folder`.
        """
        space = self._find_space_once(path[0]) if len(path) > 1 else None
        if space is None:
            return self.find(path)
        try:
            place = self.host.files.find_place(space.tenant_id, path[1:])
        except ApiError as error:
            if error.status == _NOT_FOUND:
                _FOLDERS.get()[path[:-1]] = None
                return None
            raise
        if place.file is not None:
            return Resource(path, space, place.file)
        folder = Resource(path[:-1], space, place.parent)
        _FOLDERS.get()[folder.path] = folder if folder.is_collection else None
        return None

    def find_folder(self, path: Path) -> Resource | None:
        """Return the collection that a path leads to, or ``None``; a request looks for each one once."""
        memory = _FOLDERS.get()
        if path not in memory:
            resource = self.find(path)
            memory[path] = resource if resource is not None and resource.is_collection else None
        return memory[path]

    def require(self, path: Path, *, with_attributes: bool = False) -> Resource:
        """Return what a path leads to.

        Raises:
            DavError: 404.
        """
        resource = self.find(path, with_attributes=with_attributes)
        if resource is None:
            raise DavError(HTTPStatus.NOT_FOUND)
        return resource

    def find_place(self, path: Path) -> Place:
        """Return where a new file or folder with a path goes.

        Raises:
            DavError: 403 outside of a tenant, and 409 if the folder does not exist (RFC 4918, section
                9.7.1).
        """
        if len(path) <= 1:
            raise DavError(HTTPStatus.FORBIDDEN, "Files and folders are in a space.")
        folder = self.find_folder(path[:-1])
        if folder is None:
            raise DavError(HTTPStatus.CONFLICT, "The folder does not exist.")
        return Place(folder, path[-1])

    def list_members(self, resource: Resource, *, with_attributes: bool = False) -> Iterator[Resource]:
        """Return what a collection contains."""
        if resource.space is None:
            yield from self._list_spaces()
            return
        parent_id = resource.file.id if resource.file else None
        last = ""
        files = self.host.files.list_all(resource.tenant_id, parent_id, with_attributes=with_attributes)
        for file in files:
            # The top level may have several of one name; the first is the one that the path leads to.
            if file.name != last or parent_id is not None:
                yield Resource((*resource.path, file.name), resource.space, file)
            last = file.name

    def _list_spaces(self) -> Iterator[Resource]:
        page = self.host.files.spaces(size=_PAGE)
        # All pages at once, because two spaces with the same name may be on different pages.
        spaces = [*page.items]
        while page.next is not None:
            page = self.host.files.spaces(page=page.next, size=_PAGE)
            spaces += page.items
        counts = Counter(space.name for space in spaces)
        for space in spaces:
            is_usable = counts[space.name] == 1 and _is_segment(space.name)
            yield Resource((space.name if is_usable else space.tenant_id,), space)

    def _find_space_once(self, segment: str) -> FileSpace | None:
        memory = _SPACES.get()
        if segment not in memory:
            memory[segment] = self._find_space(segment)
        return memory[segment]

    def _find_space(self, segment: str) -> FileSpace | None:
        """Return the tenant that a segment of a path names, by its id or its unique name."""
        spaces = self.host.files.find_spaces(segment)
        if len(spaces) == 1:
            return spaces[0]
        return next((space for space in spaces if space.tenant_id == segment), None)


def _is_segment(name: str) -> bool:
    """Return whether a name is a segment of a path, which leads to the same name."""
    try:
        return split_path(name) == (name,)
    except DavError:
        return False


_SPACES: Final[ContextVar[dict[str, FileSpace | None]]] = ContextVar("webdav-spaces")
_FOLDERS: Final[ContextVar[dict[Path, Resource | None]]] = ContextVar("webdav-folders")


def begin_request() -> None:
    """Forget the spaces and folders of the request before. Each request has a context of its own."""
    _SPACES.set({})
    _FOLDERS.set({})
