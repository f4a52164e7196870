"""Clients that are disabled, and who uses a client."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import delete, func, select

from strongroom.plugin_api.host import HostAPI
from strongroom.plugin_api.web import ApiError
from strongroom_oidc_provider.clients.clients import require_current, write_change
from strongroom_oidc_provider.errors import UNKNOWN
from strongroom_oidc_provider.models import Client, clients, codes, consents, devices


@dataclass(slots=True, eq=False, repr=False)
class ClientStates:
    """Disables and enables clients, and counts their users."""

    _host: HostAPI

    def disable(self, client_id: str, revision: int | None = None) -> Client:
        """End the grants of a client, which can log no user in until it is enabled.

        The consents of its users remain.
        """
        client = self._set(client_id, "disable", self._host.clock.now(), revision)
        self._host.grants.end(client_id=client_id)
        return client

    def enable(self, client_id: str, revision: int | None = None) -> Client:
        """Let a client log its users in again."""
        return self._set(client_id, "enable", None, revision)

    def get_usage(self, client_id: str) -> Mapping[str, Any]:
        """Return how many users have consented to a client, its last use, and its live secrets."""
        now = self._host.clock.now()
        users = select(func.count(consents.c.user_id.distinct())).where(
            consents.c.client_id == client_id
        )
        with self._host.database.read() as tx:
            row = tx.first(select(clients.c.secrets).where(clients.c.id == client_id))
            if row is None:
                raise ApiError(UNKNOWN)
            count = tx.scalar(users)
        live = [item for item in row.secrets if item["endsAt"] is None or item["endsAt"] > now]
        return {
            "users": count,
            "last_used_at": self._host.grants.find_last_use(client_id),
            "secrets": [
                {"created_at": item.get("createdAt"), "ends_at": item["endsAt"]} for item in live
            ],
        }

    def _set(self, client_id: str, action: str, disabled_at: int | None, revision: int | None) -> Client:
        now = self._host.clock.now()
        with self._host.database.write() as tx:
            client = require_current(tx, client_id, revision)
            if (client.disabled_at is None) is (disabled_at is None):
                return client
            for table in (codes, devices):
                tx.execute(delete(table).where(table.c.client_id == client_id))
            about = {"name": client.name}
            self._host.audit(f"client-{action}", "client", client_id, about, transaction=tx)
            return write_change(tx, client_id, {"disabled_at": disabled_at}, now)
