"""Whether a share can be opened now, which is decided at each request."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from sqlalchemy import select, update

from strongroom.plugin_api.deactivation import Deactivation, DeactivationCause
from strongroom.plugin_api.files import Delegation, FileInfo, Level
from strongroom.plugin_api.host import HostAPI
from strongroom.plugin_api.state import Transaction
from strongroom.plugin_api.web import ApiError
from strongroom_share_links.models import Link, links
from strongroom_share_links.policies import Policy

_GONE: Final = (401, 403, 404)
_CHANGES_AT_ONCE: Final = 256
"""How many changes of a tenant are read again at each request, before the share remembers them."""


class State(StrEnum):
    """Whether a share can be opened, and why not. Visitors get none of the reasons."""

    ACTIVE = "active"
    EXPIRED = "expired"
    EXHAUSTED = "exhausted"
    DISABLED = "disabled"  # by the policy of the server or the tenant
    CREATOR_GONE = "maker-gone"  # suspended or deleted
    NOT_MANAGED = "not-managed"  # the creator or its access key no longer manages the file
    FILE_GONE = "file-gone"  # deleted
    # By a user; or because the file was in the trash, the tenant was deleted, or the creator left.
    CLOSED = "closed"


_STATES: Final = {
    "error.user-suspended": State.CREATOR_GONE,
    "error.not-found": State.FILE_GONE,
}


def delegation_of(link: Link, permission: Level = "read") -> Delegation:
    """Return the creator's rights that visitors of a share use; ``write`` for what they upload."""
    return Delegation(
        link.creator_id,
        link.tenant_id,
        link.file_id,
        permission,
        content_types=link.allowed_types,
        key_id=link.key_id,
    )


@dataclass(slots=True, eq=False, repr=False)
class States:
    """Finds the states of shares."""

    _host: HostAPI

    def find(self, link: Link, policy: Policy) -> tuple[State, FileInfo | None]:
        """Return the state of a share, with its file or folder if the creator still manages it.

        The core decides about the creator: active, a member, and managing the file, which exists.
        """
        if not policy.allows(link):
            return State.DISABLED, None
        if link.expires_at is not None and link.expires_at <= self._host.clock.now():
            return State.EXPIRED, None
        if link.closed_at is not None:
            return State.CLOSED, None
        try:
            with self._host.acting_for(delegation_of(link)):
                file = self._host.files.stat(link.tenant_id, link.file_id)
                is_closed = self._was_in_trash(link)
        except ApiError as error:
            if error.status not in _GONE:
                raise
            return _STATES.get(error.code, State.NOT_MANAGED), None
        if is_closed:
            return State.CLOSED, None
        return (State.EXHAUSTED if link.is_exhausted else State.ACTIVE), file

    def newest_change(self, tenant_id: str) -> int:
        """Return the number of the newest change of a tenant's files."""
        return self._host.events.newest(tenant_id)

    def close_restored(self, tenant_id: str) -> None:
        """Close the shares of files that came back from the trash, before their events are deleted."""
        is_open = (links.c.tenant_id == tenant_id) & links.c.closed_at.is_(None)
        with self._host.database.read() as transaction:
            rows = transaction.all(select(links).where(is_open))
        for link in map(Link.from_row, rows):
            try:
                with self._host.acting_for(delegation_of(link)):
                    self._was_in_trash(link)
            except ApiError:
                # Its file, or the creator's rights, are gone: nothing to close yet.
                continue

    def close_of_leaver(self, transaction: Transaction, ended: Deactivation) -> None:
        """Close the shares of a user who is no longer a member of a tenant, in the same transaction.

        So they stay closed when the user becomes a member again. A suspension is no leaving: when it
        ends, the shares are open again.
        """
        if ended.cause is DeactivationCause.MEMBERSHIP_END:
            theirs = (links.c.maker_id == ended.user_id) & (links.c.tenant_id == ended.tenant_id)
            self._close(transaction, theirs)

    def close_tenant(self, tenant_id: str, deleted_at: int) -> None:
        """Close the shares of a deleted tenant, so that they stay closed after its restoration.

        Args:
            deleted_at: milliseconds since the Unix epoch; shares that were changed later stay as they
                are, because the event may arrive after a user has opened them again.
        """
        older = (links.c.tenant_id == tenant_id) & (links.c.updated_at <= deleted_at)
        with self._host.database.write() as transaction:
            self._close(transaction, older)

    def _close(self, transaction: Transaction, condition: Any) -> None:
        is_open = condition & links.c.closed_at.is_(None)
        transaction.execute(update(links).where(is_open).values(closed_at=self._host.clock.now()))

    def begin_checks(self) -> None:
        """Let the checks of shares that are older than these begin with the present change."""
        old = links.c.checked_sequence.is_(None)
        with self._host.database.read() as transaction:
            tenants = transaction.scalars(select(links.c.tenant_id).where(old).distinct())
        for tenant_id in tenants:
            newest = self.newest_change(tenant_id)
            begun = update(links).where(old & (links.c.tenant_id == tenant_id))
            with self._host.database.write() as transaction:
                transaction.execute(begun.values(checked_sequence=newest))

    def _was_in_trash(self, link: Link) -> bool:
        """Return whether the file was restored since the share was opened, and remember it."""
        checked, newest = link.checked_sequence, self.newest_change(link.tenant_id)
        if checked is None or newest <= checked:
            return False
        is_restored = self._host.files.restored_since(link.tenant_id, link.file_id, checked)
        if is_restored:
            self._put(link, closed_at=self._host.clock.now())
        elif newest - checked >= _CHANGES_AT_ONCE:
            self._put(link, checked_sequence=newest)
        return is_restored

    def _put(self, link: Link, **values: int) -> None:
        # Not if the share was opened again meanwhile.
        is_same = (links.c.id == link.id) & (links.c.checked_sequence == link.checked_sequence)
        with self._host.database.write() as transaction:
            transaction.execute(update(links).where(is_same).values(values))
