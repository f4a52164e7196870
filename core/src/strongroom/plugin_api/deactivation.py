"""The end of what a user can do, in the whole server or in one tenant.

The server ends logins, access keys, codes, links and uploads of a user who is suspended or deleted,
whose type is changed, who takes the account back from another person, or who is no longer a member of a
tenant. A plugin that stores secrets of users ends them in the same transaction::

    @hookimpl
    def register_deactivations(host: HostAPI) -> list[Deactivate]:
        return [end_codes]

    def end_codes(transaction: Transaction, ended: Deactivation) -> None:
        if ended.is_of_account:
            transaction.execute(delete(codes).where(codes.c.user_id == ended.user_id))
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from strongroom.plugin_api.state import Transaction


class DeactivationCause(StrEnum):
    """The change that ends what the user could do."""

    SUSPENSION = "suspension"
    DELETION = "deletion"
    TYPE_CHANGE = "type-change"
    MEMBERSHIP_END = "membership-end"
    RECOVERY = "recovery"
    """The user has taken the account back from another person."""


@dataclass(frozen=True, slots=True)
class Deactivation:
    """What ends.

    Args:
        tenant_id: the tenant in which the user can no longer act; ``None``: everywhere.
    """

    user_id: str
    cause: DeactivationCause
    tenant_id: str | None = None

    @property
    def is_of_account(self) -> bool:
        """Whether everything of the user ends, and not only what concerns one tenant."""
        return self.tenant_id is None

    @property
    def is_deletion(self) -> bool:
        """Whether the user was deleted, so that the data about the user are erased, too."""
        return self.cause is DeactivationCause.DELETION


Deactivate = Callable[[Transaction, Deactivation], None]
"""Ends what a plugin stores for a user. If it raises, the change of the user fails and is undone."""
