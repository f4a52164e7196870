"""The clients, which administrators of the server manage."""

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hmac import compare_digest
from typing import Any, Final

from sqlalchemy import bindparam, delete, func, insert, select, update
from uuid_utils import uuid7

from strongroom.plugin_api.host import HostAPI
from strongroom.plugin_api.outbound import OutboundRefused
from strongroom.plugin_api.paging import ResultPage
from strongroom.plugin_api.state import Transaction
from strongroom.plugin_api.web import ApiError, FieldError
from strongroom_oidc_provider.clients.redirect_uris import find_fault
from strongroom_oidc_provider.clients.service_accounts import require_account
from strongroom_oidc_provider.device_client import find_device_client
from strongroom_oidc_provider.errors import OUTDATED, SECRETLESS, TOO_MANY, UNKNOWN, URI_REFUSED
from strongroom_oidc_provider.models import (
    Client,
    clients,
    codes,
    consents,
    devices,
    logins,
    logos,
    logouts,
)
from strongroom_oidc_provider.options import get_outbound_client

_SECRET_BYTES: Final = 32
_LIVE_SECRETS: Final = 2
_COLUMNS: Final = {
    "name": "name",
    "trusted": "is_trusted",
    "redirectUris": "redirect_uris",
    "scopes": "scopes",
    "resources": "resources",
    "postLogoutRedirectUris": "post_logout_redirect_uris",
    "backchannelLogoutUri": "backchannel_logout_uri",
    "serviceAccountId": "service_account_id",
    "accent": "accent",
    "termsUrl": "terms_url",
    "privacyUrl": "privacy_url",
    "deviceLogin": "has_device_login",
    "claims": "claims",
}
# Built once: each login executes them several times, and constructing them costs more than that.
_ONE: Final = select(clients).where(clients.c.id == bindparam("id"))
_ENABLED: Final = _ONE.where(clients.c.disabled_at.is_(None))
_SECRETS: Final = select(clients.c.secrets).where(clients.c.id == bindparam("id"))

Secrets = Sequence[Mapping[str, Any]]


@dataclass(slots=True, eq=False, repr=False)
class Clients:
    """Creates, changes and finds clients."""

    _host: HostAPI

    def create(
        self, body: Mapping[str, Any], *, is_self_registered: bool = False
    ) -> tuple[Client, str | None]:
        """Create a client; return it with its secret, which a public one has not."""
        self._require_uris(body, is_public=body["public"])
        account = require_account(self._host, body, is_public=body["public"])
        secret = None if body["public"] else secrets.token_urlsafe(_SECRET_BYTES)
        now = self._host.clock.now()
        row = {
            "id": str(uuid7()),
            "is_public": body["public"],
            "is_self_registered": is_self_registered,
            "secrets": [] if secret is None else [self._stored(secret)],
            "revision": 1,
            "created_at": now,
            "updated_at": now,
            **_columns(body),
            **account,
        }
        # Locked, so that concurrent requests cannot exceed the limit.
        with self._host.database.write(lock="clients") as tx:
            self._require_room(tx, is_self_registered=is_self_registered)
            tx.execute(insert(clients), [row])
            client = _get(tx, row["id"])
            _require_use(client)
            self._record(tx, "create", client, public=client.is_public, trusted=client.is_trusted)
        return client, secret

    def list(self, query: Mapping[str, Any]) -> ResultPage[Client]:
        """Return a page of the clients, the oldest first."""
        with self._host.database.read() as tx:
            page = tx.page(select(clients).order_by(clients.c.created_at, clients.c.id), query)
        return page.map(Client.from_row)

    def all(self) -> Sequence[Client]:
        """Return all clients, the oldest first."""
        with self._host.database.read() as tx:
            rows = tx.all(select(clients).order_by(clients.c.created_at, clients.c.id))
        return [Client.from_row(row) for row in rows]

    def find(self, client_id: str) -> Client | None:
        """Return a client that is enabled; ``None`` if there is none."""
        if client := find_device_client(self._host, client_id):
            return client
        with self._host.database.read() as tx:
            row = tx.first(_ENABLED, {"id": client_id})
        return None if row is None else Client.from_row(row)

    def get(self, client_id: str) -> Client:
        """Return a client."""
        with self._host.database.read() as tx:
            return _get(tx, client_id)

    def update(self, client_id: str, body: Mapping[str, Any], revision: int | None = None) -> Client:
        """Change a client."""
        account = require_account(self._host, body, is_public=self.get(client_id).is_public)
        values, now = {**_columns(body), **account}, self._host.clock.now()
        with self._host.database.write() as tx:
            client = require_current(tx, client_id, revision)
            self._require_uris(body, is_public=client.is_public)
            client = write_change(tx, client_id, values, now)
            # A service account can be removed at once; the client may then have no way to tokens.
            if body.keys() & {"redirectUris", "deviceLogin"}:
                _require_use(client)
            changed = " ".join(sorted(_COLUMNS.keys() & body.keys()))
            self._record(tx, "update", client, changed=changed)
        return client

    def rotate(self, client_id: str, overlap: int) -> str:
        """Create a new secret of a client; the former one ends after some seconds."""
        secret, now = secrets.token_urlsafe(_SECRET_BYTES), self._host.clock.now()
        with self._host.database.write() as tx:
            row = _lock(tx, client_id)
            if row.is_public:
                raise ApiError(SECRETLESS)
            ending = [_ending(item, now + overlap * 1000) for item in _live(row.secrets, now)]
            live = _live([self._stored(secret), *ending], now)[:_LIVE_SECRETS]
            values = {"secrets": live, "updated_at": now}
            tx.execute(update(clients).where(clients.c.id == client_id).values(values))
            self._record(tx, "rotate-secret", Client.from_row(row), overlapSeconds=overlap)
        return secret

    def delete(self, client_id: str, revision: int | None = None) -> None:
        """Delete a client, and end its grants."""
        with self._host.database.write() as tx:
            client = require_current(tx, client_id, revision)
            for table in (codes, consents, devices, logins, logos, logouts):
                tx.execute(delete(table).where(table.c.client_id == client_id))
            tx.execute(delete(clients).where(clients.c.id == client_id))
            self._record(tx, "delete", client)
        self._host.grants.end(client_id=client_id)

    def verify_secret(self, client_id: str, secret: str) -> bool:
        """Return whether a secret is a live one of a client."""
        with self._host.database.read() as tx:
            stored = tx.scalar(_SECRETS, {"id": client_id})
        presented = self._host.secrets.keyed_hash(secret)
        live = _live(stored or [], self._host.clock.now())
        return any(compare_digest(item["hash"], presented) for item in live)

    def _require_uris(self, body: Mapping[str, Any], *, is_public: bool) -> None:
        faults = [
            FieldError(f"{field}.{number}", "invalid", fault)
            for field in ("redirectUris", "postLogoutRedirectUris")
            for number, uri in enumerate(body.get(field, ()))
            if (fault := find_fault(uri, is_public=is_public)) is not None
        ]
        try:
            if body.get("backchannelLogoutUri") is not None:
                get_outbound_client(self._host).check(body["backchannelLogoutUri"])
        except OutboundRefused as error:
            faults.append(FieldError("backchannelLogoutUri", "invalid", str(error)))
        if faults:
            raise ApiError(URI_REFUSED, details=faults)

    def _require_room(self, tx: Transaction, *, is_self_registered: bool) -> None:
        """Require that the server has fewer clients than its maximum; each kind has its own."""
        options, is_own = self._host.options, func.coalesce(clients.c.is_self_registered, False)
        limit = options.max_registrations if is_self_registered else options.max_clients
        count = select(func.count()).select_from(clients).where(is_own.is_(is_self_registered))
        if tx.scalar(count) >= limit:
            raise ApiError(TOO_MANY)

    def _stored(self, secret: str) -> dict[str, Any]:
        # A keyed hash and not a slow one: the secret has 256 random bits, so it cannot be guessed.
        return {
            "hash": self._host.secrets.keyed_hash(secret),
            "createdAt": self._host.clock.now(),
            "endsAt": None,
        }

    def _record(self, tx: Transaction, action: str, client: Client, **details: Any) -> None:
        about = {"name": client.name, **details}
        self._host.audit(f"client-{action}", "client", client.id, about, transaction=tx)


def _require_use(client: Client) -> None:
    """Require that a client has a way to tokens; the transaction of the change ends otherwise."""
    if not (client.redirect_uris or client.service_account_id or client.has_device_login):
        fault = "A client without a service account or a device needs a redirect URI."
        raise ApiError(URI_REFUSED, details=[FieldError("redirectUris", "invalid", fault)])


def _columns(body: Mapping[str, Any]) -> dict[str, Any]:
    return {column: body[name] for name, column in _COLUMNS.items() if name in body}


def _get(tx: Transaction, client_id: str) -> Client:
    row = tx.first(_ONE, {"id": client_id})
    if row is None:
        raise ApiError(UNKNOWN)
    return Client.from_row(row)


def _lock(tx: Transaction, client_id: str) -> Any:
    """Return the row of a client, locked until the transaction ends."""
    row = tx.first(select(clients).where(clients.c.id == client_id).with_for_update())
    if row is None:
        raise ApiError(UNKNOWN)
    return row


def require_current(tx: Transaction, client_id: str, revision: int | None) -> Client:
    """Return a client, locked until the transaction ends.

    Args:
        revision: the expected one; ``None``: any.
    """
    row = _lock(tx, client_id)
    if revision is not None and row.revision != revision:
        raise ApiError(OUTDATED)
    return Client.from_row(row)


def write_change(tx: Transaction, client_id: str, values: Mapping[str, Any], now: int) -> Client:
    """Write columns of a client as its next revision; return the client."""
    change = {**values, "revision": clients.c.revision + 1, "updated_at": now}
    tx.execute(update(clients).where(clients.c.id == client_id).values(change))
    return _get(tx, client_id)


def _live(stored: Secrets, now: int) -> list[dict[str, Any]]:
    return [dict(item) for item in stored if item["endsAt"] is None or item["endsAt"] > now]


def _ending(secret: Mapping[str, Any], moment: int) -> dict[str, Any]:
    """Return a secret that ends at a moment, unless it ends before."""
    ends_at = moment if secret["endsAt"] is None else min(secret["endsAt"], moment)
    return {**secret, "endsAt": ends_at}
