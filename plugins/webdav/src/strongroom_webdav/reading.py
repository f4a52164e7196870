"""OPTIONS, GET, HEAD and PROPFIND."""

from collections.abc import Iterator, Sequence
from http import HTTPStatus
from itertools import islice
from typing import Any, Final

from strongroom.plugin_api.files import FileLock, Sending
from strongroom.plugin_api.host import HostAPI
from strongroom_webdav.errors import DavError
from strongroom_webdav.junk import is_junk
from strongroom_webdav.locking import LockTexts
from strongroom_webdav.locks import Locks
from strongroom_webdav.properties import (
    LOCK_DISCOVERY,
    Properties,
    make_href,
    make_response,
    parse_propfind,
)
from strongroom_webdav.replies import Reply, multistatus
from strongroom_webdav.requests import INFINITY, DavRequest, Path
from strongroom_webdav.resources import Resource, Resources

_BATCH: Final = 200
"""Number of resources whose locks are read at once."""


def send_options(allowed: str) -> Reply:
    """Return the response to OPTIONS (RFC 4918, section 10.1)."""
    # Programs of Microsoft look for the second header.
    headers = {"DAV": "1, 2", "MS-Author-Via": "DAV", "Allow": allowed, "Accept-Ranges": "bytes"}
    return Reply(HTTPStatus.OK, {**headers, "Content-Length": "0"})


def send_file(host: HostAPI, request: DavRequest) -> Any:
    """Return the response to GET or HEAD: the same as of the REST API.

    The server sends all bytes, because many clients do not follow redirects to a store.
    """
    resource = Resources(host).require(request.path)
    if resource.file is None or resource.is_collection:
        raise DavError(HTTPStatus.METHOD_NOT_ALLOWED, "A folder has no content; list it by PROPFIND.")
    return host.files.send(resource.tenant_id, resource.file.id, before=_permit)


def _permit(_sending: Sending) -> None:
    """Permit to send the content."""


def find_properties(host: HostAPI, request: DavRequest) -> Reply:
    """Return the response to PROPFIND (RFC 4918, section 9.1)."""
    if request.depth == INFINITY:
        # Without a Depth, too: a client that does not know how large the tree is could read all of it.
        text = "Depth must be 0 or 1."
        raise DavError(HTTPStatus.FORBIDDEN, text, condition="propfind-finite-depth")
    requested = parse_propfind(request.read_xml())
    resource = Resources(host).require(request.path, with_attributes=True)
    texts, locks = LockTexts(host, request), Locks(host)
    covering: dict[Path, Sequence[FileLock]] = {}
    live = Properties(host, lambda item: texts.describe(item, covering.get(item.path, ())))

    def responses() -> Iterator[str]:
        resources = _walk(host, resource, request.depth)
        while batch := [*islice(resources, _BATCH)]:
            if requested.has(LOCK_DISCOVERY):
                # One call for many, because few of them are locked.
                covering.clear()
                covering.update(locks.find_all(batch))
            for item in batch:
                href = make_href(request.root, item)
                yield make_response(href, live.find(item, requested), has_values=requested.has_values)

    return multistatus(responses())


def _walk(host: HostAPI, resource: Resource, depth: int) -> Iterator[Resource]:
    yield resource
    if depth and resource.is_collection:
        members = Resources(host).list_members(resource, with_attributes=True)
        yield from (item for item in members if not is_junk(host, item.path))
