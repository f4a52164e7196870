"""Fast path for small uploads, which are received completely and passed to the ordinary service."""

from collections.abc import Sequence
from typing import Final

from sqlalchemy import select

from strongroom.clock import Clock
from strongroom.database.reader import Reader
from strongroom.files.fast_path.rendering import as_json, rendered
from strongroom.files.filing import OnConflict
from strongroom.files.service import FileService
from strongroom.identity import Identity
from strongroom.sessions.store import good_authorization, was_seen_lately
from strongroom.web.fast_path import FastRoute, PlainAnswer, PlainRequest
from strongroom.web.requests import Network, address_of
from strongroom.web.uploads import plain_upload

MAX_BYTES: Final = 64 * 1024
"""Maximum size of a request, in bytes. The ordinary route's overhead is negligible for larger ones."""

_TOP: Final = "/api/v1/tenants/<tenant_id>/files"
_INSIDE: Final = "/api/v1/tenants/<tenant_id>/files/<parent_id>/files"


class FastUploads:
    """Creates files from small requests.

    Args:
        reader: looks up the caller.
        clock: decides whether the token's last use must be updated.
        files: checks and stores the upload.
        root: public URL of the server, including the base path.
        trusted: networks of the proxies whose X-Forwarded-For is trusted.
    """

    def __init__(
        self,
        reader: Reader,
        clock: Clock,
        files: FileService,
        root: str,
        trusted: Sequence[Network],
    ) -> None:
        self._reader = reader
        self._clock = clock
        self._files = files
        self._root = root
        self._trusted = trusted
        self._caller = reader.prepare(select(good_authorization()))

    def routes(self) -> list[FastRoute]:
        """Return the fast routes."""
        return [
            FastRoute(rule, self._answer, method="POST", max_content=MAX_BYTES)
            for rule in (_TOP, _INSIDE)
        ]

    def _answer(self, request: PlainRequest) -> PlainAnswer | None:
        caller = None if request.query else self._identify(request)
        if caller is None:
            return None
        content_type = request.header("CONTENT_TYPE") or ""
        disposition = request.header("HTTP_CONTENT_DISPOSITION")
        upload = plain_upload(request.content, content_type, disposition)
        if upload is None:
            return None
        tenant_id, parent_id = request.places["tenant_id"], request.places.get("parent_id")
        # Errors of the service become the same responses as on the ordinary route.
        view = self._files.upload(caller, tenant_id, parent_id, upload, OnConflict.FAIL)
        location = f"{self._root}/api/v1/tenants/{tenant_id}/files/{view.node.id}"
        return as_json(rendered(view), [("Location", location)], status="201 CREATED")

    def _identify(self, request: PlainRequest) -> Identity | None:
        """Return the caller, or ``None`` if the token is invalid or its last use must be updated."""
        claims = request.claims
        named = {"user_id": claims.user_id, "authorization_id": claims.authorization_id}
        rows = self._reader.run(self._caller, named)
        if not rows or not was_seen_lately(rows[0][0], self._clock.now()):
            return None
        address = address_of(request.header, self._trusted)
        return Identity(claims.user_id, rows[0][1], claims.authorization_id, address)
