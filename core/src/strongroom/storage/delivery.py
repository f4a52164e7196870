"""Tells who else can give bytes out: the store by a signed URL, or the web server in front."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from urllib.parse import quote

from strongroom.plugin_api.storage import LocalPaths, SignedDownloads
from strongroom.storage.models import BlobLocation
from strongroom.storage.service import BlobService
from strongroom.storage.stores import Store


@dataclass(frozen=True, slots=True)
class SignedUrl:
    """A URL of the store that gives the bytes for a while."""

    url: str


@dataclass(frozen=True, slots=True)
class InternalPath:
    """A path, quoted, that the web server in front gives the bytes for, and to nobody else."""

    path: str


Handover = SignedUrl | InternalPath


@dataclass(frozen=True, slots=True)
class Route:
    """How the bytes of a storage are given out where the server does not do it itself.

    Args:
        location: what internal paths begin with; empty: by signed URLs.
        lifetime: of signed URLs, in seconds.
    """

    location: str
    lifetime: int


class Delivery:
    """Hands downloads over.

    Args:
        service: knows where bytes are.
        routes: how they are given out, by storage; for others the server does it.
    """

    def __init__(self, service: BlobService, routes: Mapping[str, Route]) -> None:
        self._service = service
        self._routes = routes

    def offer(self, key: str, headers: Mapping[str, str]) -> Handover | None:
        """Return who gives a blob out instead, or ``None`` if nobody does.

        Args:
            key: the blob.
            headers: response headers that the store is to send.
        """
        if not self._routes:
            return None
        return self.offer_at(self._service.place(key), lambda: headers)

    def offer_at(self, place: BlobLocation, headers: Callable[[], Mapping[str, str]]) -> Handover | None:
        """Do as :meth:`offer`, for bytes whose place is known; headers are made if they are needed."""
        route = self._routes.get(place.storage)
        if route is None:
            return None
        store = self._service.storages[place.storage]
        return _handover(store, place.object_key, route, headers)


def _handover(
    store: Store, object_key: str, route: Route, headers: Callable[[], Mapping[str, str]]
) -> Handover | None:
    backend = store.backend
    if route.location and isinstance(backend, LocalPaths):
        return InternalPath(quote(f"{route.location}{backend.local_path(object_key)}"))
    if isinstance(backend, SignedDownloads):
        return SignedUrl(backend.download_url(object_key, lifetime=route.lifetime, headers=headers()))
    return None
