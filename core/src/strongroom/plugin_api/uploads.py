"""Resumable uploads as the caller: ``host.uploads``; see ``plugin_api.files``."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from strongroom.plugin_api.files import OnConflict


@dataclass(frozen=True, slots=True)
class UploadInfo:
    """A resumable upload. ``file_id`` is the created file, ``None`` until the upload is complete."""

    id: str
    name: str
    size: int
    offset: int
    file_id: str | None


class UploadsAPI(ABC):
    """Resumable uploads of the caller, by tus 1.0, on routes of the plugin.

    The methods read the headers and the body of the current request, and return the Flask response. A
    plugin whose callers share a user, as with :meth:`~strongroom.plugin_api.host.HostAPI.acting_for`,
    must know itself which of them began which upload. The errors of all methods are
    :attr:`HostErrors.UPLOADS <strongroom.plugin_api.web.HostErrors.UPLOADS>`.
    """

    @abstractmethod
    def finish(self, response: Any) -> Any:
        """Add the headers of tus to a response, errors included: a hook for ``after_request``."""

    @abstractmethod
    def describe(self) -> Any:
        """Return the response to OPTIONS: the version, the extensions and the maximum size."""

    @abstractmethod
    def announced(self) -> tuple[str, int]:
        """Return the file name and the size of the upload that the current request would create.

        Raises:
            ApiError: ``error.validation-failed``.
        """

    @abstractmethod
    def create(
        self,
        tenant_id: str,
        parent_id: str | None,
        *,
        name: str | None = None,
        on_conflict: OnConflict = "fail",
        location: Callable[[str], str],
        creates_folders: bool = False,
        folders: Sequence[str] = (),
    ) -> tuple[Any, UploadInfo]:
        """Create an upload into a folder, whatever destination its metadata name.

        Args:
            tenant_id: the tenant.
            parent_id: the folder; ``None`` is the top level.
            name: the name of the file; ``None``: the one in the metadata.
            on_conflict: what happens if the name is taken.
            location: returns the URL of the upload for its id.
            creates_folders: whether the metadata may name a path from the folder by ``relativePath``,
                whose missing folders are created together with the file.
            folders: names of folders below ``parent_id`` that the path begins with.
        """

    @abstractmethod
    def state(self, tenant_id: str, upload_id: str) -> tuple[Any, UploadInfo]:
        """Return the response to HEAD, with the offset."""

    @abstractmethod
    def info(self, tenant_id: str, upload_id: str) -> UploadInfo:
        """Return an upload; needs no request.

        Raises:
            ApiError: ``error.not-found`` after the upload has expired or was deleted.
        """

    @abstractmethod
    def append(self, tenant_id: str, upload_id: str) -> tuple[Any, UploadInfo]:
        """Append the body of the request; the last byte creates the file."""

    @abstractmethod
    def terminate(self, tenant_id: str, upload_id: str) -> Any:
        """Delete an upload; a file that was created from it remains."""
