"""The queue of logouts that clients learn of (OpenID Connect Back-Channel Logout 1.0)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import ColumnElement, and_, delete, insert, or_, select, true, update

from strongroom.plugin_api.backoff import Backoff
from strongroom.plugin_api.deactivation import Deactivation
from strongroom.plugin_api.events import Event
from strongroom.plugin_api.host import HostAPI
from strongroom.plugin_api.state import Transaction
from strongroom_oidc_provider.models import Client, clients, logins, logouts

DELAYS: Final = Backoff((10_000, 60_000, 300_000, 1_800_000, 7_200_000, 21_600_000), jitter=0.1)
"""The pauses after failures, in milliseconds; a further failure drops the logout."""

_BATCH: Final = 500
_LEASE: Final = 60 * 1000
"""How long other processes leave a claimed logout alone, in milliseconds."""

_KEPT: Final = 400 * 24 * 60 * 60 * 1000
"""Longer than a login lasts, in milliseconds."""


@dataclass(frozen=True, slots=True)
class PendingLogout:
    """A logout that a client does not know of yet."""

    login_id: str
    client_id: str
    user_id: str
    failures: int
    url: str

    @property
    def condition(self) -> ColumnElement[bool]:
        """The condition of its row."""
        return and_(logouts.c.login_id == self.login_id, logouts.c.client_id == self.client_id)


@dataclass(slots=True, eq=False, repr=False)
class LogoutQueue:
    """Remembers which clients know a login, and queues what they must learn of its end."""

    _host: HostAPI

    def remember(self, login_id: str, user_id: str, client: Client) -> None:
        """Remember that a client got an ID token of a login."""
        if client.backchannel_logout_uri is None:
            return
        ids = {"login_id": login_id, "client_id": client.id}
        ours = and_(logins.c.login_id == login_id, logins.c.client_id == client.id)
        with self._host.database.write(lock=f"login {login_id}") as tx:
            if tx.scalar(select(logins.c.created_at).where(ours)) is None:
                row = {**ids, "user_id": user_id, "created_at": self._host.clock.now()}
                tx.execute(insert(logins), [row])

    def handle(self, event: Event) -> None:
        """Queue the logouts that follow from an event: of a login, of a user, or of all users."""
        ids = ((logins.c.login_id, "authorizationId"), (logins.c.user_id, "userId"))
        criteria = [column == event.data[name] for column, name in ids if event.data.get(name)]
        # A later login is not one that the event has ended.
        condition = and_(logins.c.created_at <= event.occurred_at, *(criteria or [true()]))
        while True:
            with self._host.database.write() as tx:
                if self._enqueue(tx, condition) < _BATCH:
                    return

    def deactivate(self, transaction: Transaction, deactivation: Deactivation) -> None:
        """Queue the logouts of a user who can do nothing any more."""
        if deactivation.is_of_account:
            while self._enqueue(transaction, logins.c.user_id == deactivation.user_id) == _BATCH:
                pass

    def claim(self, limit: int) -> Sequence[PendingLogout]:
        """Return due logouts, which no other process sends in the meantime."""
        now = self._host.clock.now()
        # Most polls find nothing, and must not wait for the writer of SQLite.
        with self._host.database.read() as tx:
            if tx.scalar(select(logouts.c.login_id).where(logouts.c.due_at <= now).limit(1)) is None:
                return []
        due = (
            select(logouts, clients.c.backchannel_logout_uri.label("url"))
            .join(clients, clients.c.id == logouts.c.client_id)
            .where(logouts.c.due_at <= now)
            .order_by(logouts.c.due_at)
            .limit(limit)
            .with_for_update(of=logouts, skip_locked=True)
        )
        with self._host.database.write() as tx:
            pending = [_pending(row) for row in tx.all(due)]
            if pending:
                claimed = or_(*(item.condition for item in pending))
                tx.execute(update(logouts).where(claimed).values(due_at=now + _LEASE))
        return pending

    def finish(self, logout: PendingLogout) -> None:
        """Remove a logout that its client knows of, or that is dropped."""
        with self._host.database.write() as tx:
            tx.execute(delete(logouts).where(logout.condition))

    def postpone(self, logout: PendingLogout) -> bool:
        """Let a logout be sent again later; return ``False`` if it was dropped instead."""
        failures = logout.failures + 1
        if failures > len(DELAYS.delays):
            self.finish(logout)
            return False
        values = {"failures": failures, "due_at": self._host.clock.now() + DELAYS.delay(failures)}
        with self._host.database.write() as tx:
            tx.execute(update(logouts).where(logout.condition).values(values))
        return True

    def prune(self) -> int:
        """Delete logins that ended long ago; return their number."""
        before = self._host.clock.now() - _KEPT
        with self._host.database.write() as tx:
            return tx.execute(delete(logins).where(logins.c.created_at <= before))

    def _enqueue(self, tx: Transaction, condition: ColumnElement[bool]) -> int:
        """Move the rows of logins to the queue, at most a batch; return their number."""
        rows = tx.all(select(logins).where(condition).limit(_BATCH).with_for_update())
        state = {"failures": 0, "due_at": self._host.clock.now()}
        for row in rows:
            ids = {"login_id": row.login_id, "client_id": row.client_id}
            tx.execute(insert(logouts), [{**ids, "user_id": row.user_id, **state}])
            ours = and_(logins.c.login_id == row.login_id, logins.c.client_id == row.client_id)
            tx.execute(delete(logins).where(ours))
        return len(rows)


def _pending(row: Any) -> PendingLogout:
    return PendingLogout(row.login_id, row.client_id, row.user_id, row.failures, row.url or "")
