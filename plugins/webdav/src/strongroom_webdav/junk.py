"""Files that operating systems store next to files of people: taken, kept for minutes, and not stored.

macOS fails without its ``._*`` and ``.DS_Store``, and Windows stores ``Thumbs.db`` and ``desktop.ini``.
"""

import hashlib
import re
from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Any, Final
from uuid import uuid4

from strongroom.plugin_api.files import FileInfo
from strongroom.plugin_api.host import HostAPI
from strongroom_webdav.errors import DavError
from strongroom_webdav.locks import make_token
from strongroom_webdav.properties import Properties, make_href, make_response, parse_propfind
from strongroom_webdav.replies import Reply, multistatus, xml_reply
from strongroom_webdav.requests import DavRequest, Path
from strongroom_webdav.resources import Resource, Resources

KEPT_BYTES: Final = 32 * 1024
"""The largest content that is kept, in bytes; of a larger one, only the beginning."""

_KEPT_MILLISECONDS: Final = 5 * 60 * 1000
_NAMES: Final = re.compile(r"\._.*|\.DS_Store|Thumbs\.db|desktop\.ini", re.IGNORECASE | re.DOTALL)


def is_junk(host: HostAPI, path: Path) -> bool:
    """Return whether a path in a space has a name that is hidden."""
    return bool(host.options.hide_junk and len(path) > 1 and _NAMES.fullmatch(path[-1]))


class JunkFiles:
    """Answers the requests about such files of the caller."""

    def __init__(self, host: HostAPI) -> None:
        self._host = host
        self._methods: Mapping[str, Callable[[DavRequest], Reply]] = {
            "PUT": self._put,
            "GET": self._get,
            "HEAD": self._get,
            "PROPFIND": self._find_properties,
            "PROPPATCH": lambda _: multistatus(iter(())),
            "DELETE": self._delete,
            "COPY": self._transfer,
            "MOVE": self._transfer,
            "LOCK": self._lock,
            "UNLOCK": lambda _: Reply(HTTPStatus.NO_CONTENT),
        }

    def answer(self, request: DavRequest) -> Any:
        """Return the response to a request.

        Raises:
            DavError: the file is unknown, or the method is not supported.
        """
        handle = self._methods.get(request.method)
        if handle is None:
            raise DavError(HTTPStatus.METHOD_NOT_ALLOWED)
        return handle(request)

    def _put(self, request: DavRequest) -> Reply:
        Resources(self._host).find_place(request.path)
        source: Any = request.environ["wsgi.input"]
        try:
            content = source.read(KEPT_BYTES)
        except (ConnectionError, TimeoutError) as error:
            raise DavError(HTTPStatus.BAD_REQUEST, "The body is incomplete.") from error
        is_new = self._read(request.path) is None
        self._store(request.path, content)
        return Reply(HTTPStatus.CREATED if is_new else HTTPStatus.NO_CONTENT)

    def _get(self, request: DavRequest) -> Reply:
        content = self._require(request.path)
        headers = {
            "Content-Type": "application/octet-stream",
            "Content-Disposition": "attachment",
            "Content-Length": str(len(content)),
        }
        return Reply(HTTPStatus.OK, headers, [content])

    def _find_properties(self, request: DavRequest) -> Reply:
        requested = parse_propfind(request.read_xml())
        content, now = self._require(request.path), self._host.clock.now()
        file = FileInfo(
            id="",
            tenant_id="",
            parent_id=None,
            is_folder=False,
            name=request.path[-1],
            size=len(content),
            content_type="application/octet-stream",
            checksum=hashlib.sha256(content).hexdigest(),
            owner_id="",
            permission="write",
            revision=0,
            created_at=now,
            updated_at=now,
        )
        resource = Resource(request.path, None, file)
        properties = Properties(self._host, lambda _: "").find(resource, requested)
        href = make_href(request.root, resource)
        return multistatus(iter([make_response(href, properties, has_values=requested.has_values)]))

    def _delete(self, request: DavRequest) -> Reply:
        self._require(request.path)
        self._host.values.delete(self._key(request.path))
        return Reply(HTTPStatus.NO_CONTENT)

    def _transfer(self, request: DavRequest) -> Reply:
        content = self._require(request.path)
        if not is_junk(self._host, request.destination):
            raise DavError(HTTPStatus.FORBIDDEN, "The file cannot become visible.")
        self._store(request.destination, content)
        if request.method == "MOVE" and self._key(request.path) != self._key(request.destination):
            self._host.values.delete(self._key(request.path))
        return Reply(HTTPStatus.CREATED)

    def _lock(self, _request: DavRequest) -> Reply:
        # The file is the caller's alone, so no lock needs to be remembered.
        text = '<D:prop xmlns:D="DAV:"><D:lockdiscovery/></D:prop>\n'
        return xml_reply(text, HTTPStatus.OK, {"Lock-Token": f"<{make_token(str(uuid4()))}>"})

    def _require(self, path: Path) -> bytes:
        content = self._read(path)
        if content is None:
            raise DavError(HTTPStatus.NOT_FOUND)
        return content

    def _read(self, path: Path) -> bytes | None:
        value = self._host.values.get(self._key(path))
        return b64decode(value["content"]) if value and value["path"] == [*path] else None

    def _store(self, path: Path, content: bytes) -> None:
        value = {"path": [*path], "content": b64encode(content).decode()}
        expires_at = self._host.clock.now() + _KEPT_MILLISECONDS
        self._host.values.put(self._key(path), value, expires_at=expires_at)

    def _key(self, path: Path) -> str:
        """Return one of 256 keys of the caller, so that what a user can store is bounded."""
        caller = self._host.caller
        slot = hashlib.sha256("/".join(path).encode()).hexdigest()[:2]
        return f"junk:{caller.user_id if caller else ''}:{slot}"
