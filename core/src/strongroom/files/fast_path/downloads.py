"""Fast path for downloads of a file or one range of it, from a local store or through nginx."""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final

from sqlalchemy import Select

from strongroom.clock import Clock
from strongroom.database.reader import Reader
from strongroom.files.events.recorder import DownloadRecorder
from strongroom.files.fast_path.looking import NodeLookup, look_up
from strongroom.files.models import Node, nodes
from strongroom.files.sending import CACHE_CONTROL, content_of, handover_headers, nothing
from strongroom.identity import Identity
from strongroom.plugin_api.storage import StorageError
from strongroom.storage.delivery import Delivery, FilePieces, InternalPath, local_path
from strongroom.storage.models import BlobLocation
from strongroom.storage.service import BlobService
from strongroom.web.downloads import Content, content_headers, version_headers
from strongroom.web.fast_path import FastRoute, Headers, PlainAnswer, PlainRequest
from strongroom.web.ranges import Span, parse_ranges
from strongroom.web.requests import Network, address_of

IN_ONE_PIECE: Final = 64 * 1024
"""Maximum size, in bytes, of a body that is read before the response starts, as one piece."""


class FastDownloads:
    """Returns the content of a file.

    The ordinary route serves files in remote stores, because their latency outweighs the gain and their
    errors need its handling.

    Args:
        reader: runs the query.
        clock: decides which grants have expired.
        blobs: provides the locations of blobs.
        delivery: hands downloads over to the proxy.
        recorder: records downloads.
        trusted: networks of the proxies whose X-Forwarded-For is trusted.
    """

    def __init__(
        self,
        reader: Reader,
        clock: Clock,
        blobs: BlobService,
        delivery: Delivery,
        recorder: DownloadRecorder,
        trusted: Sequence[Network],
    ) -> None:
        self._lookup = NodeLookup(reader, clock, _look_up_content(blobs))
        self._stores = blobs.storages
        self._delivery = delivery
        self._recorder = recorder
        self._trusted = trusted

    def route(self) -> FastRoute:
        """Return the fast route."""
        return FastRoute("/api/v1/tenants/<tenant_id>/files/<file_id>/download", self._answer)

    def _answer(self, request: PlainRequest) -> PlainAnswer | None:
        if request.query:
            return None
        seen = self._lookup.find(request.claims, request.places, request.places["file_id"])
        known = seen and described(seen.view.node)
        if not seen or not known or seen.more[0] is None:
            return None
        content, headers = known
        place = BlobLocation(*seen.more)
        spans = parse_ranges(request.header("HTTP_RANGE"), content.size)
        # The ordinary route builds multipart/byteranges.
        if spans is not None and len(spans) > 1:
            return None
        handover = self._delivery.offer_at(place, lambda: handover_headers(content))
        if isinstance(handover, InternalPath):
            about: Headers = [("Content-Length", "0"), ("X-Accel-Redirect", handover.path)]
            answer: PlainAnswer | None = PlainAnswer("200 OK", [*about, *headers], [])
        else:
            span = spans[0] if spans else None
            answer = None if handover else self._sent(content, headers, place, span)
        if answer is not None:
            self._record(request, seen.view.node)
        return answer

    def _record(self, request: PlainRequest, node: Node) -> None:
        claims, address = request.claims, address_of(request.header, self._trusted)
        # A download event does not contain the user's type.
        caller = Identity(claims.user_id, "", claims.authorization_id, address)
        self._recorder.record(caller, node)

    def _sent(
        self, content: Content, headers: Headers, place: BlobLocation, span: Span | None
    ) -> PlainAnswer | None:
        path = local_path(self._stores, place)
        if path is None:
            return None
        start, length = (span.start, span.length) if span else (0, content.size)
        try:
            body = _body(FilePieces(path, start, length), length)
        except (OSError, StorageError):
            # The blob may have been moved since the query; the ordinary route retries.
            return None
        about: Headers = [("Content-Length", str(length))]
        if span is not None:
            about.append(("Content-Range", span.content_range(content.size)))
        status = "206 PARTIAL CONTENT" if span else "200 OK"
        return PlainAnswer(status, [*about, *headers], body)


def _look_up_content(blobs: BlobService) -> Select[tuple[object, ...]]:
    place = blobs.location_query()
    query = look_up().add_columns(place.c.storage, place.c.object_key)
    return query.outerjoin(place, place.c.key == nodes.c.blob_key)


@lru_cache(maxsize=2048)
def described(node: Node) -> tuple[Content, Headers] | None:
    """Return a file's content, not opened, and the headers common to full and range responses.

    Cached, because both depend only on the node. ``None`` for a folder.
    """
    content = content_of(node, nothing)
    if content is None:
        return None
    version = version_headers(content.validators, CACHE_CONTROL)
    return content, [("Content-Type", content.content_type), *content_headers(content), *version]


def _body(pieces: FilePieces, length: int) -> Iterable[bytes]:
    if length > IN_ONE_PIECE:
        return pieces
    try:
        return list(pieces)
    finally:
        pieces.close()
