"""Endpoint of changes: pages, long polling and server-sent events."""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from strongroom.content.nodes import operations
from strongroom.extensions.changes.feed import ChangeFeed, ChangePage
from strongroom.extensions.changes.schemas import MAX_CURSOR, ChangeCollectionSchema, ChangeQuery
from strongroom.extensions.changes.waiting import CHECK_SECONDS, ChangeWaiter, ChangeWaiters
from strongroom.foundation.caller import Caller
from strongroom.foundation.errors import (
    CursorExpired,
    Forbidden,
    StrongroomError,
    Unavailable,
    ValidationFailed,
)
from strongroom.foundation.json_text import encode_json
from strongroom.web.gateway.exchange import STOPPING, release_slot
from strongroom.web.http.access import Access
from strongroom.web.http.middleware import DRAINING
from strongroom.web.http.request import current_environ, get_service, header
from strongroom.web.http.response import Response
from strongroom.web.http.routing import Blueprint

EVENT_STREAM: Final = "text/event-stream"
HEARTBEAT_SECONDS: Final = 15.0
STREAM_SECONDS: Final = 300.0
"""The longest duration of a stream, so that an access token is not used long after it expires."""

_RECONNECT_MILLISECONDS: Final = 2000
_STREAM_PAGE: Final = 100

blueprint = Blueprint(
    "changes",
    url_prefix="/api/v1/tenants/<tenant_id>/changes",
    description="Changes of tenants' files, for clients that keep a copy.",
)


@blueprint.operation(
    "GET",
    "",
    access=Access.USER,
    rule=operations.LIST_CHANGES,
    query=ChangeQuery,
    returns=ChangeCollectionSchema,
    compress=True,
    errors=(Forbidden, CursorExpired, Unavailable),
    verifies_login=True,
    request_headers=("Last-Event-ID",),
    document={
        "responses": {
            "200": {
                "description": "A page, or with `Accept: text/event-stream` a stream of events",
                "content": {
                    "application/json": {"schema": ChangeCollectionSchema},
                    EVENT_STREAM: {"schema": {"type": "string"}},
                },
            }
        }
    },
)
def list_changes(tenant_id: str, query: dict[str, Any], caller: Caller) -> Any:
    """List the changes of a tenant's files that the caller can see, the oldest first.

    With `wait`, a page that would be empty is sent as soon as there is a change, or when the time is
    over. With `Accept: text/event-stream`, the changes are sent as server-sent events: `change` with a
    record, `reset` if the cursor has expired, and `reconnect` before the server ends the stream.
    """
    if EVENT_STREAM in (header("Accept") or ""):
        return _stream(tenant_id, query, caller)
    feed, cursor, size = get_service(ChangeFeed), query.get("cursor"), query["pageSize"]
    page = feed.page(caller, tenant_id, cursor, size)
    wait = 0 if current_environ()["REQUEST_METHOD"] == "HEAD" else query["wait"]
    if wait and not page.records:
        with get_service(ChangeWaiters).waiting(tenant_id, caller.user_id) as waiter:
            page = _next_page(feed, waiter, caller, page.cursor, size, wait)
    return _envelope(page, size)


def _next_page(
    feed: ChangeFeed, waiter: ChangeWaiter, caller: Caller, cursor: int, size: int, seconds: float
) -> ChangePage:
    """Return the first page that is not empty, or an empty one when the time is over."""
    release_slot()
    ends_at = time.monotonic() + seconds
    while True:
        # Read after the waiter was added, so that no change between the two is missed.
        page = feed.page(caller, waiter.tenant_id, cursor, size)
        left = ends_at - time.monotonic()
        if page.records or left <= 0 or _is_stopping():
            return page
        waiter.wait(min(left, CHECK_SECONDS))


def _envelope(page: ChangePage, size: int) -> dict[str, Any]:
    return {
        "success": True,
        "meta": {"pageSize": size, "cursor": page.cursor, "hasMore": page.has_more},
        "data": page.records,
        "included": {summary["id"]: summary for summary in page.included},
    }


def _stream(tenant_id: str, query: dict[str, Any], caller: Caller) -> Response:
    feed = get_service(ChangeFeed)
    cursor = _last_event_id() if header("Last-Event-ID") else query.get("cursor")
    try:
        # Errors other than an expired cursor have their usual responses.
        start = feed.page(caller, tenant_id, cursor, _STREAM_PAGE)
    except CursorExpired:
        newest = feed.page(caller, tenant_id, None, 1).cursor
        body: Any = [_event("reset", {"cursor": newest}, newest)]
    else:
        waiter = get_service(ChangeWaiters).add(tenant_id, caller.user_id)
        release_slot()
        begin = cursor if cursor is not None else start.cursor
        body = ChangeStream(feed, waiter, caller, begin)
    # Otherwise nginx collects the events in its buffer.
    return Response(body, 200, {"Content-Type": EVENT_STREAM, "X-Accel-Buffering": "no"})


def _last_event_id() -> int:
    text = header("Last-Event-ID") or ""
    if not text.isascii() or not text.isdigit() or int(text) > MAX_CURSOR:
        raise ValidationFailed.of_field("Last-Event-ID", "invalid", "It must be the id of an event.")
    return int(text)


@dataclass(slots=True, eq=False, repr=False)
class ChangeStream:
    """The body of a stream of server-sent events.

    It ends after :data:`STREAM_SECONDS`, when the server stops, and when the caller loses access.

    Args:
        feed: reads the changes.
        waiter: ends the wait for a change; closed at the end.
        caller: the caller, whose login and permissions are verified for each page.
        cursor: the sequence after which the stream begins.
    """

    _feed: ChangeFeed
    _waiter: ChangeWaiter
    _caller: Caller
    _cursor: int

    def __iter__(self) -> Iterator[bytes]:
        # An event without data sets the client's last id, so that a reconnection misses nothing.
        yield f"retry: {_RECONNECT_MILLISECONDS}\nid: {self._cursor}\n\n".encode()
        try:
            yield from self._events()
        except CursorExpired:
            yield _event("reset", {"cursor": None})
        except StrongroomError:
            # The client gets the error as the response to its reconnection.
            pass
        yield _event("reconnect", {"cursor": self._cursor})

    def close(self) -> None:
        """Make room for another waiting request."""
        self._waiter.close()

    def _events(self) -> Iterator[bytes]:
        ends_at = time.monotonic() + STREAM_SECONDS
        silent_since = time.monotonic()
        while time.monotonic() < ends_at and not _is_stopping():
            page = self._feed.page(self._caller, self._waiter.tenant_id, self._cursor, _STREAM_PAGE)
            if page.records:
                self._cursor = page.cursor
                yield b"".join(_event("change", item, item["sequence"]) for item in page.records)
                silent_since = time.monotonic()
            elif time.monotonic() - silent_since >= HEARTBEAT_SECONDS:
                # A comment keeps proxies from closing an idle connection.
                yield b": idle\n\n"
                silent_since = time.monotonic()
            else:
                # Lets the server notice that the client has gone.
                yield b""
            if not page.has_more:
                self._waiter.wait(CHECK_SECONDS)


def _event(kind: str, data: dict[str, Any], event_id: int | None = None) -> bytes:
    identified = "" if event_id is None else f"id: {event_id}\n"
    return f"event: {kind}\n{identified}data: {encode_json(data)}\n\n".encode()


def _is_stopping() -> bool:
    return STOPPING.is_set() or DRAINING.is_set
