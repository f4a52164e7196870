"""LOCK and UNLOCK (RFC 4918, sections 9.10 and 9.11), and the property lockdiscovery."""

import re
from collections.abc import Iterable
from http import HTTPStatus
from typing import Final
from xml.etree.ElementTree import Element

from strongroom.plugin_api.files import FileLock
from strongroom.plugin_api.host import HostAPI
from strongroom.plugin_api.web import ApiError
from strongroom_webdav.conditions import parse_if
from strongroom_webdav.errors import DavError
from strongroom_webdav.locks import (
    MAX_NOTE,
    LockRequest,
    Locks,
    Reservation,
    find_lock_ids,
    make_token,
)
from strongroom_webdav.properties import make_href, path_href
from strongroom_webdav.replies import Reply, xml_reply
from strongroom_webdav.requests import INFINITY, DavRequest
from strongroom_webdav.resources import Place, Resource, Resources
from strongroom_webdav.xml_text import DAV, escape

DEFAULT_SECONDS: Final = 600
"""How long a lock lasts if the client states nothing."""

_SECOND: Final = 1000
_TIMEOUT: Final = re.compile(
    r"\s*(?:Second-(?P<seconds>[0-9]{1,10})|(?P<infinite>Infinite))\s*", re.IGNORECASE
)
_MATCHES_URI: Final = "lock-token-matches-request-uri"


class LockTexts:
    """Locks as XML, for one request."""

    def __init__(self, host: HostAPI, request: DavRequest) -> None:
        self._host = host
        self._root = request.root
        self._roots: dict[str, str] = {}

    def describe(self, resource: Resource, locks: Iterable[FileLock]) -> str:
        """Return the elements ``activelock`` of the locks that cover a resource."""
        return "".join(
            self._active(
                lock.id,
                lock.note,
                lock.expires_at,
                self._find_root(resource, lock),
                is_shared=lock.is_shared,
                is_deep=lock.is_deep,
            )
            for lock in locks
        )

    def describe_reservation(self, href: str, reservation: Reservation) -> str:
        """Return the element ``activelock`` of a reservation."""
        return self._active(
            reservation.id,
            reservation.owner,
            reservation.expires_at,
            href,
            is_shared=reservation.is_shared,
            is_deep=reservation.is_deep,
        )

    def _active(
        self, lock_id: str, owner: str, expires_at: int, root: str, *, is_shared: bool, is_deep: bool
    ) -> str:
        seconds = max(0, (expires_at - self._host.clock.now()) // _SECOND)
        scope = "shared" if is_shared else "exclusive"
        return (
            f"<D:activelock><D:locktype><D:write/></D:locktype><D:lockscope><D:{scope}/></D:lockscope>"
            f"<D:depth>{'infinity' if is_deep else '0'}</D:depth>"
            f"<D:owner>{escape(owner)}</D:owner><D:timeout>Second-{seconds}</D:timeout>"
            f"<D:locktoken><D:href>{make_token(lock_id)}</D:href></D:locktoken>"
            f"<D:lockroot><D:href>{root}</D:href></D:lockroot></D:activelock>"
        )

    def _find_root(self, resource: Resource, lock: FileLock) -> str:
        """Return the path of what a lock is of: the resource, or a folder around it."""
        if resource.file is not None and resource.file.id == lock.file_id:
            return make_href(self._root, resource)
        if lock.file_id not in self._roots:
            self._roots[lock.file_id] = self._find_folder(resource, lock)
        return self._roots[lock.file_id]

    def _find_folder(self, resource: Resource, lock: FileLock) -> str:
        try:
            folder = self._host.files.stat(resource.tenant_id, lock.file_id, with_path=True)
        except ApiError:
            # A folder that the caller cannot see has no path.
            return path_href(self._root, resource.path[:1], is_collection=True)
        return path_href(self._root, (resource.path[0], *folder.path), is_collection=True)


def lock(host: HostAPI, request: DavRequest, resource: Resource | None) -> Reply:
    """Take a lock, or renew one."""
    root = request.read_xml()
    if root is None:
        return _renew(host, request, resource)
    terms = _parse_request(host, request, root)
    if resource is None:
        return _reserve(host, request, terms)
    if resource.file is None:
        raise DavError(HTTPStatus.FORBIDDEN, "A space cannot be locked.")
    try:
        taken = host.files.lock(
            resource.tenant_id,
            resource.file.id,
            terms.seconds,
            shared=terms.is_shared,
            deep=terms.is_deep,
            note=terms.owner,
        )
    except ApiError as error:
        if error.status == HTTPStatus.LOCKED:
            condition = "no-conflicting-lock"
            raise DavError(HTTPStatus.LOCKED, str(error), condition=condition) from error
        raise
    return _describe(host, request, resource, taken.id)


def unlock(host: HostAPI, request: DavRequest, resource: Resource | None) -> Reply:
    """Release a lock."""
    sent = (request.header("Lock-Token") or "").strip()
    if not (sent.startswith("<") and sent.endswith(">")):
        raise DavError(HTTPStatus.BAD_REQUEST, "The header Lock-Token is missing or malformed.")
    ids, locks = find_lock_ids([sent[1:-1]]), Locks(host)
    if resource is None:
        place = Resources(host).find_place(request.path)
        reservation = locks.find_reservation(place)
        if reservation is None or reservation.id not in ids:
            raise DavError(HTTPStatus.CONFLICT, condition=_MATCHES_URI)
        locks.cancel(place, reservation)
        return Reply(HTTPStatus.NO_CONTENT)
    if resource.file is None or not ids:
        raise DavError(HTTPStatus.CONFLICT, condition=_MATCHES_URI)
    try:
        host.files.unlock(resource.tenant_id, resource.file.id, *ids)
    except ApiError as error:
        if error.status == HTTPStatus.NOT_FOUND:
            raise DavError(HTTPStatus.CONFLICT, condition=_MATCHES_URI) from error
        raise
    return Reply(HTTPStatus.NO_CONTENT)


def _renew(host: HostAPI, request: DavRequest, resource: Resource | None) -> Reply:
    ids, locks = find_lock_ids(parse_if(request).tokens), Locks(host)
    seconds = _parse_duration(host, request)
    if resource is None:
        place = Resources(host).find_place(request.path)
        reservation = locks.find_reservation(place)
        if reservation is None or reservation.id not in ids:
            raise DavError(HTTPStatus.PRECONDITION_FAILED, "No lock has the token.")
        renewed = locks.renew_reservation(place, reservation, seconds)
        return _describe_reservation(host, request, renewed, HTTPStatus.OK)
    for one in locks.find(resource):
        if one.id in ids:
            host.files.renew_lock(resource.tenant_id, one.file_id, one.id, seconds)
            return _describe(host, request, resource, None)
    raise DavError(HTTPStatus.PRECONDITION_FAILED, "No lock has the token.")


def _reserve(host: HostAPI, request: DavRequest, terms: LockRequest) -> Reply:
    place: Place = Resources(host).find_place(request.path)
    reservation = Locks(host).reserve(place, terms)
    return _describe_reservation(host, request, reservation, HTTPStatus.CREATED)


def _describe(host: HostAPI, request: DavRequest, resource: Resource, new_id: str | None) -> Reply:
    text = LockTexts(host, request).describe(resource, Locks(host).find(resource))
    headers = {} if new_id is None else {"Lock-Token": f"<{make_token(new_id)}>"}
    return xml_reply(_discovery(text), HTTPStatus.OK, headers)


def _describe_reservation(
    host: HostAPI, request: DavRequest, reservation: Reservation, status: HTTPStatus
) -> Reply:
    href = path_href(request.root, request.path)
    text = LockTexts(host, request).describe_reservation(href, reservation)
    headers = {"Lock-Token": f"<{make_token(reservation.id)}>"}
    return xml_reply(_discovery(text), status, headers if status == HTTPStatus.CREATED else {})


def _discovery(text: str) -> str:
    return f'<D:prop xmlns:D="DAV:"><D:lockdiscovery>{text}</D:lockdiscovery></D:prop>\n'


def _parse_request(host: HostAPI, request: DavRequest, root: Element) -> LockRequest:
    if request.depth not in (0, INFINITY):
        raise DavError(HTTPStatus.BAD_REQUEST, "Depth must be 0 or infinity.")
    scopes = [child.tag for child in root.findall(f"{{{DAV}}}lockscope/*")]
    kinds = [child.tag for child in root.findall(f"{{{DAV}}}locktype/*")]
    is_shared_by_scope = {f"{{{DAV}}}exclusive": False, f"{{{DAV}}}shared": True}
    is_well_formed = (
        root.tag == f"{{{DAV}}}lockinfo" and len(scopes) == 1 and scopes[0] in is_shared_by_scope
    )
    if not is_well_formed or kinds != [f"{{{DAV}}}write"]:
        raise DavError(HTTPStatus.BAD_REQUEST, "The body must be lockinfo of a write lock.")
    owner = root.find(f"{{{DAV}}}owner")
    text = "" if owner is None else " ".join("".join(owner.itertext()).split())
    return LockRequest(
        _parse_duration(host, request),
        is_shared_by_scope[scopes[0]],
        request.depth == INFINITY,
        text[:MAX_NOTE],
    )


def _parse_duration(host: HostAPI, request: DavRequest) -> int:
    """Return how long a lock lasts, in seconds: the first choice of the header Timeout, if possible."""
    longest: int = host.options.max_lock_seconds
    for choice in (request.header("Timeout") or "").split(","):
        if match := _TIMEOUT.fullmatch(choice):
            return longest if match["infinite"] else max(1, min(int(match["seconds"]), longest))
    return min(DEFAULT_SECONDS, longest)
