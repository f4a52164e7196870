"""What users have let clients do."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import ColumnElement, and_, delete, func, insert, select, update

from strongroom.plugin_api.deactivation import Deactivation
from strongroom.plugin_api.host import HostAPI
from strongroom.plugin_api.state import Transaction
from strongroom.plugin_api.times import iso_format
from strongroom.plugin_api.web import ApiError
from strongroom_oidc_provider.consents.folders import Folder
from strongroom_oidc_provider.errors import CONSENT_UNKNOWN
from strongroom_oidc_provider.models import Consent, clients, codes, consents, devices

_NAME: Final = func.coalesce(clients.c.name, consents.c.client_name, "").label("name")


@dataclass(frozen=True, slots=True)
class Given:
    """What a user has consented to; ``folder`` is the only one, or ``None``: all."""

    scopes: frozenset[str]
    folder: Folder | None


@dataclass(slots=True, eq=False, repr=False)
class Consents:
    """The consents of users."""

    _host: HostAPI

    def find(self, user_id: str, client_id: str, resource: str) -> Given | None:
        """Return what a user has consented to for a service; ``None``: nothing.

        Args:
            resource: the URI of the service; empty: the client itself.
        """
        with self._host.database.read() as tx:
            return _find(tx, _is(user_id, client_id, resource))

    def give(
        self,
        user_id: str,
        client_id: str,
        resource: str,
        scopes: Sequence[str],
        folder: Folder | None,
        *,
        name: str | None = None,
    ) -> None:
        """Add scopes to the consent of a user; a consent for another folder is replaced.

        Otherwise the scopes for one folder would be those for another one, which the user never saw.

        Args:
            name: the name of a client that is not registered.
        """
        now, condition = self._host.clock.now(), _is(user_id, client_id, resource)
        with self._host.database.write(lock=f"consents of {user_id}") as tx:
            stored = _find(tx, condition)
            kept = stored.scopes if stored and stored.folder == folder else frozenset()
            ids_of_folder = {
                "tenant_id": folder and folder.tenant_id,
                "file_id": folder and folder.file_id,
            }
            values = {"scopes": sorted({*kept, *scopes}), "updated_at": now, **ids_of_folder}
            values |= {"client_name": name}
            if stored is not None:
                tx.execute(update(consents).where(condition).values(values))
            else:
                ids = {"user_id": user_id, "client_id": client_id, "resource": resource}
                tx.execute(insert(consents), [{**ids, **values, "created_at": now}])
            details = {
                "user": user_id,
                "scopes": " ".join(scopes),
                "resource": resource or None,
                "folder": folder and folder.file_id,
            }
            self._host.audit("consent-give", "client", client_id, details, transaction=tx)

    def withdraw(self, user_id: str, key: str) -> None:
        """Delete the consents of a user to a client, and end its grants.

        Args:
            key: the client, see :attr:`Consent.key`.
        """
        client_id = self._find_client_id(user_id, key)
        ours = and_(consents.c.user_id == user_id, consents.c.client_id == client_id)
        unused = and_(codes.c.user_id == user_id, codes.c.client_id == client_id)
        waiting = and_(devices.c.user_id == user_id, devices.c.client_id == client_id)
        with self._host.database.write() as tx:
            if not tx.execute(delete(consents).where(ours)):
                raise ApiError(CONSENT_UNKNOWN)
            tx.execute(delete(codes).where(unused))
            tx.execute(delete(devices).where(waiting))
            self._host.audit("consent-withdraw", "client", client_id, {"user": user_id}, transaction=tx)
        self._host.grants.end(user_id=user_id, client_id=client_id)

    def _find_client_id(self, user_id: str, key: str) -> str:
        """Return the id of the client that has a key.

        Raises:
            ApiError: the user has not consented to it.
        """
        for consent in self.of_user(user_id):
            if consent.key == key:
                return consent.client_id
        raise ApiError(CONSENT_UNKNOWN)

    def of_user(self, user_id: str) -> Sequence[Consent]:
        """Return the consents of a user, by the names of the clients."""
        statement = (
            select(consents, _NAME)
            .outerjoin(clients, clients.c.id == consents.c.client_id)
            .where(consents.c.user_id == user_id)
            .order_by(_NAME, consents.c.client_id, consents.c.resource)
        )
        with self._host.database.read() as tx:
            return [Consent.from_row(row) for row in tx.all(statement)]

    def last_uses(self, user_id: str) -> Mapping[str, int]:
        """Return when each client last used a grant of a user, in milliseconds since the Unix epoch."""
        uses: dict[str, int] = {}
        for grant in self._host.grants.of_user(user_id):
            uses[grant.client.id] = max(grant.last_seen_at, uses.get(grant.client.id, 0))
        return uses

    def export(self, user_id: str) -> Iterator[dict[str, Any]]:
        """Return the consents of a user, for the archive of the user's data."""
        for consent in self.of_user(user_id):
            yield {
                "clientName": consent.name,
                "resource": consent.resource,
                "scopes": list(consent.scopes),
                "tenantId": consent.tenant_id,
                "fileId": consent.file_id,
                "createdAt": iso_format(consent.created_at),
            }

    def deactivate(self, transaction: Transaction, deactivation: Deactivation) -> None:
        """Delete the codes of a user who can do nothing any more, and the consents of a deleted one."""
        if deactivation.is_of_account:
            for table in (codes, devices):
                transaction.execute(delete(table).where(table.c.user_id == deactivation.user_id))
        if deactivation.is_deletion:
            transaction.execute(delete(consents).where(consents.c.user_id == deactivation.user_id))


def _find(transaction: Any, condition: ColumnElement[bool]) -> Given | None:
    columns = (consents.c.scopes, consents.c.tenant_id, consents.c.file_id)
    row = transaction.first(select(*columns).where(condition))
    if row is None:
        return None
    return Given(frozenset(row.scopes), Folder.from_columns(row.tenant_id, row.file_id))


def _is(user_id: str, client_id: str, resource: str) -> ColumnElement[bool]:
    ours = and_(consents.c.user_id == user_id, consents.c.client_id == client_id)
    return and_(ours, consents.c.resource == resource)
