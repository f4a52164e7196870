"""Properties that the server computes: of RFC 4918, section 15, RFC 4331, and of ownCloud's clients."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import formatdate
from http import HTTPStatus
from typing import Final
from urllib.parse import quote
from xml.etree.ElementTree import Element

from strongroom.plugin_api.host import HostAPI
from strongroom.plugin_api.web import ApiError
from strongroom_webdav.dead_properties import read_dead_properties, read_modification_time
from strongroom_webdav.errors import DavError
from strongroom_webdav.requests import Path
from strongroom_webdav.resources import Resource
from strongroom_webdav.xml_text import DAV, OWNCLOUD, element, escape

LOCK_DISCOVERY: Final = f"{{{DAV}}}lockdiscovery"

_MILLISECOND: Final = 1000
_SAFE: Final = "/!$&'()*+,;=:@~-._"
"""Characters of a path that need no encoding (RFC 3986, section 3.3)."""

_SUPPORTED_LOCKS: Final = "".join(
    f"<D:lockentry><D:lockscope><D:{scope}/></D:lockscope><D:locktype><D:write/></D:locktype></D:lockentry>"
    for scope in ("exclusive", "shared")
)


@dataclass(frozen=True, slots=True)
class PropertyRequest:
    """The properties that a PROPFIND requests.

    Args:
        names: their names with namespaces.
        is_all: whether all properties are requested that are cheap, and ``names`` in addition.
        has_values: whether values are requested, or names only.
    """

    names: tuple[str, ...] = ()
    is_all: bool = True
    has_values: bool = True

    def has(self, name: str) -> bool:
        """Return whether the value of a cheap property is requested."""
        return self.has_values and (self.is_all or name in self.names)


def parse_propfind(root: Element | None) -> PropertyRequest:
    """Return what a PROPFIND requests; all properties without a body (RFC 4918, section 9.1).

    Raises:
        DavError: it has another form.
    """
    if root is None:
        return PropertyRequest()
    if root.tag == f"{{{DAV}}}propfind":
        children = {child.tag: child for child in root}
        if (requested := children.get(f"{{{DAV}}}prop")) is not None:
            return PropertyRequest(tuple(dict.fromkeys(child.tag for child in requested)), is_all=False)
        if f"{{{DAV}}}propname" in children:
            return PropertyRequest(has_values=False)
        if f"{{{DAV}}}allprop" in children:
            include = children.get(f"{{{DAV}}}include")
            return PropertyRequest(() if include is None else tuple(child.tag for child in include))
    raise DavError(HTTPStatus.BAD_REQUEST, "The body must be propfind with prop, propname or allprop.")


def make_href(root: str, resource: Resource) -> str:
    """Return the percent-encoded path of a resource as XML; a collection's ends with ``/``."""
    return path_href(root, resource.path, is_collection=resource.is_collection)


def path_href(root: str, path: Path, *, is_collection: bool = False) -> str:
    """Return a path, percent-encoded, as XML."""
    segments = "".join(f"/{quote(name, safe=_SAFE)}" for name in path)
    return escape(quote(root, safe=_SAFE) + segments + ("/" if is_collection else ""))


Property = Callable[[Resource], str | None]
"""Returns the value of a property as XML; ``None``: the resource does not have it."""


class Properties:
    """The live properties, which the server computes, and the dead ones, for one request.

    Args:
        locks: returns the locks that cover a resource, as XML.
    """

    def __init__(self, host: HostAPI, locks: Property) -> None:
        self._host = host
        self._quotas: dict[str, tuple[int, int | None] | None] = {}
        self._cheap: Mapping[str, Property] = {
            f"{{{DAV}}}resourcetype": _resource_type,
            f"{{{DAV}}}displayname": _display_name,
            f"{{{DAV}}}getcontentlength": _content_length,
            f"{{{DAV}}}getcontenttype": _content_type,
            f"{{{DAV}}}getetag": _etag,
            f"{{{DAV}}}getlastmodified": _last_modified,
            f"{{{DAV}}}creationdate": _creation_date,
            f"{{{DAV}}}supportedlock": _supported_lock,
            LOCK_DISCOVERY: locks,
            f"{{{OWNCLOUD}}}checksums": _checksums,
            f"{{{OWNCLOUD}}}fileid": _file_id,
        }
        self._all: Mapping[str, Property] = {
            **self._cheap,
            # RFC 4331, section 3: not returned unless requested by name.
            f"{{{DAV}}}quota-used-bytes": self._used_bytes,
            f"{{{DAV}}}quota-available-bytes": self._available_bytes,
        }

    @property
    def names(self) -> Iterable[str]:
        """The names of the live properties, which no client can set."""
        return self._all.keys()

    def find(self, resource: Resource, request: PropertyRequest) -> Iterator[tuple[str, str | None]]:
        """Return the names of the properties that are requested, and their elements."""
        if request.is_all:
            for name, compute in self._cheap.items():
                if (value := compute(resource)) is not None:
                    yield name, element(name, value)
        dead = read_dead_properties(resource)
        if request.is_all:
            yield from dead.items()
        for name in request.names:
            if not request.is_all or (name not in self._cheap and name not in dead):
                yield name, self._find_one(resource, name, dead)

    def _find_one(self, resource: Resource, name: str, dead: Mapping[str, str]) -> str | None:
        compute = self._all.get(name)
        if compute is None:
            return dead.get(name)
        value = compute(resource)
        return None if value is None else element(name, value)

    def _quota(self, resource: Resource) -> tuple[int, int | None] | None:
        """Return the used and the available bytes of a tenant, if the caller may read them."""
        tenant_id = resource.tenant_id
        if not tenant_id or not resource.is_collection:
            return None
        if tenant_id not in self._quotas:
            self._quotas[tenant_id] = self._read_quota(tenant_id)
        return self._quotas[tenant_id]

    def _read_quota(self, tenant_id: str) -> tuple[int, int | None] | None:
        try:
            usage = self._host.tenants.usage(tenant_id)
        except ApiError:
            return None
        used = usage.used_bytes + usage.reserved_bytes
        available = None if usage.quota_bytes is None else max(0, usage.quota_bytes - used)
        return used, available

    def _used_bytes(self, resource: Resource) -> str | None:
        quota = self._quota(resource)
        return None if quota is None else str(quota[0])

    def _available_bytes(self, resource: Resource) -> str | None:
        quota = self._quota(resource)
        return None if quota is None or quota[1] is None else str(quota[1])


def make_response(
    href: str, properties: Iterable[tuple[str, str | None]], *, has_values: bool = True
) -> str:
    """Return an element ``response`` with properties; those without an element are missing."""
    present, missing = [], []
    for name, text in properties:
        if text is None:
            missing.append(element(name))
        else:
            present.append(text if has_values else element(name))
    parts = [make_propstat(present, HTTPStatus.OK)] if present or not missing else []
    if missing:
        parts.append(make_propstat(missing, HTTPStatus.NOT_FOUND))
    return f"<D:response><D:href>{href}</D:href>{''.join(parts)}</D:response>\n"


def make_propstat(elements: Iterable[str], status: HTTPStatus, condition: str = "") -> str:
    """Return an element ``propstat``.

    Args:
        condition: an element of RFC 4918, section 16, that is not met.
    """
    line = f"HTTP/1.1 {status.value} {status.phrase}"
    prop, error = "".join(elements), f"<D:error>{condition}</D:error>" if condition else ""
    return f"<D:propstat><D:prop>{prop}</D:prop><D:status>{line}</D:status>{error}</D:propstat>"


def _resource_type(resource: Resource) -> str:
    return "<D:collection/>" if resource.is_collection else ""


def _display_name(resource: Resource) -> str:
    if resource.file is not None:
        return escape(resource.file.name)
    return escape(resource.space.name) if resource.space else "Strongroom"


def _content_length(resource: Resource) -> str | None:
    return None if resource.file is None or resource.is_collection else str(resource.file.size)


def _content_type(resource: Resource) -> str | None:
    file = resource.file
    return None if file is None or file.content_type is None else escape(file.content_type)


def _etag(resource: Resource) -> str | None:
    return None if resource.etag is None else escape(resource.etag)


def _last_modified(resource: Resource) -> str | None:
    if resource.file is None:
        return None
    seconds = read_modification_time(resource.file)
    return formatdate(
        resource.file.updated_at // _MILLISECOND if seconds is None else seconds, usegmt=True
    )


def _creation_date(resource: Resource) -> str | None:
    created = resource.file or resource.space
    if created is None:
        return None
    return datetime.fromtimestamp(created.created_at // _MILLISECOND, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _supported_lock(resource: Resource) -> str | None:
    return None if resource.file is None else _SUPPORTED_LOCKS


def _checksums(resource: Resource) -> str | None:
    checksum = resource.file and resource.file.checksum
    return element(f"{{{OWNCLOUD}}}checksum", f"SHA256:{checksum}") if checksum else None


def _file_id(resource: Resource) -> str | None:
    return resource.file.id if resource.file else None
