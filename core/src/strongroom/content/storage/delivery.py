"""How bytes reach a client: local files, internal redirects of a proxy, or signed URLs."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from urllib.parse import quote

from strongroom.content.storage.models import BlobLocation
from strongroom.content.storage.service import BlobService
from strongroom.content.storage.stores import Store
from strongroom.plugin_api.storage import LocalPaths, SignedDownloads


@dataclass(frozen=True, slots=True)
class SignedUrl:
    """A URL of the store that serves the object for a limited time."""

    url: str


@dataclass(frozen=True, slots=True)
class InternalPath:
    """A URL-quoted path for ``X-Accel-Redirect``, which clients cannot request themselves."""

    path: str


Handover = SignedUrl | InternalPath


@dataclass(frozen=True, slots=True)
class DeliveryRoute:
    """How downloads from a storage are delegated.

    Args:
        location: the prefix of internal paths; empty for signed URLs.
        lifetime: the lifetime of signed URLs, in seconds.
    """

    location: str
    lifetime: int


@dataclass(slots=True, eq=False, repr=False)
class Delivery:
    """Delegates downloads.

    Args:
        routes: how downloads are delegated, by storage name; the server itself sends all others.
    """

    _service: BlobService
    _routes: Mapping[str, DeliveryRoute]

    def offer(self, place: BlobLocation, headers: Callable[[], Mapping[str, str]]) -> Handover | None:
        """Return the signed URL or internal path of a blob, or ``None`` if the server must send it.

        Args:
            headers: returns the response headers that the store must send; called only if needed.
        """
        route = self._routes.get(place.storage)
        if route is None:
            return None
        store = self._service.storages[place.storage]
        return _handover(store, place.object_key, route, headers)


def _handover(
    store: Store, object_key: str, route: DeliveryRoute, headers: Callable[[], Mapping[str, str]]
) -> Handover | None:
    if route.location and (local := store.capability(LocalPaths)):
        return InternalPath(quote(f"{route.location}{local.local_path(object_key)}"))
    if signing := store.capability(SignedDownloads):
        return SignedUrl(signing.download_url(object_key, lifetime=route.lifetime, headers=headers()))
    return None
