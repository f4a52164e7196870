"""What administrators do with endpoints."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Final

from sqlalchemy import and_, delete, func, insert, select, true, update
from uuid_utils import uuid7

from strongroom.plugin_api.events import SERVER, Event, matches
from strongroom.plugin_api.host import HostAPI
from strongroom.plugin_api.outbound import OutboundClient, OutboundRefused
from strongroom.plugin_api.paging import ResultPage
from strongroom.plugin_api.state import Transaction
from strongroom.plugin_api.web import ApiError, ErrorKind, FieldError
from strongroom_webhooks.errors import (
    DISABLED,
    FORBIDDEN,
    OUTDATED,
    OWNERLESS,
    STREAM_REFUSED,
    TENANT_UNKNOWN,
    TOO_MANY,
    TYPES_UNKNOWN,
    UNKNOWN,
    URL_REFUSED,
)
from strongroom_webhooks.models import Delivery, Endpoint, Outcome, Status, deliveries, endpoints
from strongroom_webhooks.owners import Owners
from strongroom_webhooks.queue import TEST_TYPE, DeliveryQueue, is_wanted
from strongroom_webhooks.signing import SigningKeys

_REPLAYED: Final = 1000
_ADMIN: Final = "ADMIN"
_TENANT_ADMIN: Final = "admin"
_COLUMNS: Final = {
    "url": "url",
    "description": "description",
    "eventTypes": "event_types",
    "ordered": "ordered",
}


@dataclass(slots=True, eq=False, repr=False)
class Endpoints:
    """The endpoints that the caller administers: endpoints of the caller's tenants, or all.

    Args:
        client: checks URLs.
        owners: the rights of the owners of endpoints.
    """

    _host: HostAPI
    _queue: DeliveryQueue
    _client: OutboundClient
    _owners: Owners

    def create(self, body: Mapping[str, Any]) -> tuple[Endpoint, SigningKeys]:
        """Create an endpoint with new keys."""
        tenant_id = body["tenantId"]
        self._require(tenant_id, FORBIDDEN)
        if tenant_id:
            self._require_known(tenant_id)
        self._check(body)
        keys, now = SigningKeys.create(), self._host.clock.now()
        row = {
            "id": str(uuid7()),
            "tenant_id": tenant_id,
            "owner_id": self._host.users.me().id,
            "signing_keys": self._seal([keys]),
            "status": Status.ENABLED,
            "revision": 1,
            "created_at": now,
            "updated_at": now,
            "last_position": 0,
            **_columns(body),
        }
        is_same = endpoints.c.tenant_id == tenant_id if tenant_id else endpoints.c.tenant_id.is_(None)
        # Locked, so that concurrent requests cannot exceed the limit.
        with self._host.database.write(lock=f"endpoints of {tenant_id or SERVER}") as tx:
            if _count(tx, endpoints, is_same) >= self._host.options.endpoints_per_tenant:
                raise ApiError(TOO_MANY)
            tx.execute(insert(endpoints), [row])
            created = _endpoint(tx, row["id"])
        self._owners.record("create", created, eventTypes=" ".join(created.event_types))
        return created, keys

    def list(self, query: Mapping[str, Any]) -> ResultPage[Endpoint]:
        """Return a page of endpoints, the oldest first."""
        tenant_id = query.get("tenantId")
        self._require(tenant_id, FORBIDDEN)
        condition = endpoints.c.tenant_id == tenant_id if tenant_id else true()
        oldest_first = (endpoints.c.created_at, endpoints.c.id)
        with self._host.database.read() as tx:
            page = tx.page(select(endpoints).where(condition).order_by(*oldest_first), query)
        return page.map(Endpoint.of)

    def get(self, endpoint_id: str) -> Endpoint:
        """Return an endpoint."""
        with self._host.database.read() as tx:
            row = tx.first(select(endpoints).where(endpoints.c.id == endpoint_id))
        if row is None:
            raise ApiError(UNKNOWN)
        self._require(row.tenant_id, UNKNOWN)
        return Endpoint.of(row)

    def update(self, endpoint_id: str, body: Mapping[str, Any], revision: int | None = None) -> Endpoint:
        """Change an endpoint. A status ``enabled`` also ends its back-off."""
        known = self.get(endpoint_id)
        self._check(body)
        if body.get("status") == Status.ENABLED and not self._owners.administer(known):
            raise ApiError(OWNERLESS)
        now = self._host.clock.now()
        values = {**_columns(body), "revision": endpoints.c.revision + 1, "updated_at": now}
        if "status" in body:
            values |= {"status": body["status"], "reason": None}
        with self._host.database.write() as tx:
            _require_current(tx, endpoint_id, revision)
            tx.execute(update(endpoints).where(endpoints.c.id == endpoint_id).values(values))
            if body.get("status") == Status.ENABLED:
                _resume(tx, endpoint_id, now)
            updated = _endpoint(tx, endpoint_id)
        self._owners.record("update", updated, changed=" ".join(sorted(body)))
        return updated

    def take_over(self, endpoint_id: str, revision: int | None = None) -> Endpoint:
        """Make the caller the owner of an endpoint; a disabled one stays so, to be checked first."""
        known = self.get(endpoint_id)
        values = {
            "owner_id": self._host.users.me().id,
            "revision": endpoints.c.revision + 1,
            "updated_at": self._host.clock.now(),
        }
        with self._host.database.write() as tx:
            _require_current(tx, endpoint_id, revision)
            tx.execute(update(endpoints).where(endpoints.c.id == endpoint_id).values(values))
            taken = _endpoint(tx, endpoint_id)
        self._owners.record("take-over", taken, formerOwner=known.owner_id)
        return taken

    def delete(self, endpoint_id: str, revision: int | None = None) -> None:
        """Delete an endpoint with its deliveries."""
        known = self.get(endpoint_id)
        with self._host.database.write() as tx:
            _require_current(tx, endpoint_id, revision)
            tx.execute(delete(endpoints).where(endpoints.c.id == endpoint_id))
            tx.execute(delete(deliveries).where(deliveries.c.endpoint_id == endpoint_id))
        self._owners.record("delete", known)

    def rotate(self, endpoint_id: str, overlap: int) -> SigningKeys:
        """Create new keys; messages have the signatures of both for some seconds."""
        known = self.get(endpoint_id)
        keys, now = SigningKeys.create(), self._host.clock.now()
        with self._host.database.write() as tx:
            row = tx.first(select(endpoints).where(endpoints.c.id == endpoint_id).with_for_update())
            if row is None:
                raise ApiError(UNKNOWN)
            kept = [_ending(item, now + overlap * 1000) for item in self._unseal(row.signing_keys)]
            valid = [item for item in kept if item.valid_until is None or item.valid_until > now]
            values = {"signing_keys": self._seal([keys, *valid]), "updated_at": now}
            tx.execute(update(endpoints).where(endpoints.c.id == endpoint_id).values(values))
        self._owners.record("rotate-secret", known)
        return keys

    def public_key(self, endpoint_id: str) -> str:
        """Return the newest public key."""
        with self._host.database.read() as tx:
            row = tx.first(select(endpoints.c.signing_keys).where(endpoints.c.id == endpoint_id))
        if row is None:
            raise ApiError(UNKNOWN)
        return self._unseal(row.signing_keys)[0].shown_public_key

    def test(self, endpoint_id: str) -> Delivery:
        """Queue a test message."""
        endpoint = self.get(endpoint_id)
        now = datetime.fromtimestamp(self._host.clock.now() / 1000, UTC)
        timestamp = now.isoformat(timespec="milliseconds").replace("+00:00", "Z")
        data = {"endpointId": endpoint.id}
        body = {"type": TEST_TYPE, "timestamp": timestamp, "data": data}
        delivery = self._queue.append_test(endpoint_id, json.dumps(body, separators=(",", ":")))
        if delivery is None:
            raise ApiError(DISABLED)
        self._owners.record("test", endpoint)
        return delivery

    def deliveries(self, endpoint_id: str, query: Mapping[str, Any]) -> ResultPage[Delivery]:
        """Return a page of deliveries, the newest first."""
        self.get(endpoint_id)
        condition = deliveries.c.endpoint_id == endpoint_id
        if outcome := query.get("outcome"):
            condition = and_(condition, deliveries.c.outcome == outcome)
        newest = (deliveries.c.created_at.desc(), deliveries.c.position.desc(), deliveries.c.id)
        with self._host.database.read() as tx:
            page = tx.page(select(deliveries).where(condition).order_by(*newest), query)
        return page.map(Delivery.of)

    def redeliver(self, endpoint_id: str, delivery_id: str) -> Delivery:
        """Queue a delivery again."""
        endpoint = self.get(endpoint_id)
        if endpoint.status != Status.ENABLED:
            raise ApiError(DISABLED)
        delivery = self._queue.redeliver(endpoint_id, delivery_id)
        if delivery is None:
            raise ApiError(UNKNOWN)
        self._owners.record("redeliver", endpoint, eventId=delivery.event_id)
        return delivery

    def replay(self, endpoint_id: str, body: Mapping[str, Any]) -> dict[str, int | None]:
        """Queue the events from a sequence on again; at most :data:`_REPLAYED` are read at a time."""
        endpoint = self.get(endpoint_id)
        if endpoint.status != Status.ENABLED:
            raise ApiError(DISABLED)
        stream = _stream(endpoint, body.get("stream"))
        events = self._host.events.read(stream, body["fromSequence"] - 1, _REPLAYED)
        chosen: list[Event] = [event for event in events if is_wanted(endpoint, event)]
        if chosen:
            self._queue.replay(endpoint_id, chosen)
        self._owners.record("replay", endpoint, stream=stream, fromSequence=str(body["fromSequence"]))
        is_full = len(events) == _REPLAYED
        return {
            "count": len(chosen),
            "nextSequence": events[-1].sequence + 1 if is_full else None,
        }

    def _require(self, tenant_id: str | None, kind: ErrorKind) -> None:
        """Accept administrators of the tenant, and of the server."""
        if tenant_id and self._host.tenants.role(tenant_id) == _TENANT_ADMIN:
            return
        if self._host.users.me().type != _ADMIN:
            raise ApiError(kind)

    def _require_known(self, tenant_id: str) -> None:
        """Refuse a tenant that does not exist, which only server administrators can name."""
        try:
            self._host.tenants.usage(tenant_id)
        except ApiError as error:
            details = [FieldError("tenantId", "unknown", "Must be a tenant.")]
            raise ApiError(TENANT_UNKNOWN, details=details) from error

    def _check(self, body: Mapping[str, Any]) -> None:
        if "url" in body:
            try:
                self._client.check(body["url"])
            except OutboundRefused as error:
                raise ApiError(
                    URL_REFUSED, details=[FieldError("url", "refused", f"{error}.")]
                ) from error
        known = self._host.events.types()
        for pattern in body.get("eventTypes", ()):
            if not any(matches([pattern], name) for name in known):
                message = f'No event type matches "{pattern}".'
                raise ApiError(TYPES_UNKNOWN, details=[FieldError("eventTypes", "unknown", message)])

    def _seal(self, keys: Sequence[SigningKeys]) -> str:
        return self._host.secrets.seal(json.dumps([item.json() for item in keys]))

    def _unseal(self, sealed: str) -> Sequence[SigningKeys]:
        return [SigningKeys.from_json(item) for item in json.loads(self._host.secrets.unseal(sealed))]


def _stream(endpoint: Endpoint, requested: str | None) -> str:
    """Return the stream that an endpoint replays."""
    own = endpoint.tenant_id or SERVER
    if endpoint.tenant_id is not None and requested not in (None, own, SERVER):
        details = [FieldError("stream", "refused", f'Must be "{own}" or "{SERVER}".')]
        raise ApiError(STREAM_REFUSED, details=details)
    return requested or own


def _columns(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return the columns of a request body."""
    values = {column: body[name] for name, column in _COLUMNS.items() if name in body}
    if "event_types" in values:
        values["event_types"] = " ".join(values["event_types"])
    return values


def _ending(keys: SigningKeys, at: int) -> SigningKeys:
    """Return the keys with their end, unless they end before."""
    return replace(keys, valid_until=min(at, keys.valid_until or at))


def _require_current(tx: Transaction, endpoint_id: str, revision: int | None) -> None:
    """Lock an endpoint, which must have the expected revision, unless it is ``None``."""
    statement = select(endpoints.c.revision).where(endpoints.c.id == endpoint_id).with_for_update()
    row = tx.first(statement)
    if row is None:
        raise ApiError(UNKNOWN)
    if revision not in (None, row.revision):
        raise ApiError(OUTDATED)


def _resume(tx: Transaction, endpoint_id: str, now: int) -> None:
    waiting = and_(deliveries.c.endpoint_id == endpoint_id, deliveries.c.outcome == Outcome.PENDING)
    count = tx.execute(update(deliveries).where(waiting).values(next_at=now))
    values = {"failing_since": None, "next_at": now if count else None}
    tx.execute(update(endpoints).where(endpoints.c.id == endpoint_id).values(values))


def _endpoint(tx: Transaction, endpoint_id: str) -> Endpoint:
    return Endpoint.of(tx.first(select(endpoints).where(endpoints.c.id == endpoint_id)))


def _count(tx: Transaction, table: Any, condition: Any) -> int:
    return int(tx.scalar(select(func.count()).select_from(table).where(condition)))
