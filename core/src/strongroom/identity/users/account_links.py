"""Links by which users set a password, within the caller's transaction."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from sqlalchemy import Connection, bindparam, delete

from strongroom.clock import Clock
from strongroom.foundation.database import Database
from strongroom.foundation.database.statements import Statement
from strongroom.foundation.secret_keys import SecretKeys
from strongroom.identity.users.models import account_links
from strongroom.identity.users.one_use_links import LinkTable, OneUseLinks
from strongroom.plugin_api.deactivation import Deactivation
from strongroom.plugin_api.login import Credential


class LinkKind(StrEnum):
    """What a link is for."""

    INVITE = "invite"
    RESET = "reset"


@dataclass(frozen=True, slots=True)
class AccountLink:
    """A row of :data:`account_links`. Times are in milliseconds since the Unix epoch."""

    hash: str
    user_id: str
    kind: str
    contact_kind: str | None
    contact_value: str | None
    created_by: str
    created_at: int
    expires_at: int

    @property
    def contact(self) -> Credential | None:
        """The contact that it was sent to; ``None``: the administrator has passed it on."""
        if self.contact_kind is None or self.contact_value is None:
            return None
        return Credential(self.contact_kind, self.contact_value)


_LINKS: Final = LinkTable(AccountLink, account_links)
_OF_USER: Final = account_links.c.user_id == bindparam("of_user")
_VOID: Final = Statement(delete(account_links).where(_OF_USER))
_VOID_KIND: Final = Statement(
    delete(account_links).where(_OF_USER, account_links.c.kind == bindparam("kind"))
)
_VOID_RESETS: Final = Statement(
    delete(account_links).where(_OF_USER, account_links.c.kind == LinkKind.RESET.value)
)
_VOID_SENT: Final = Statement(
    delete(account_links).where(
        _OF_USER,
        account_links.c.contact_kind == bindparam("contact_kind"),
        account_links.c.contact_value == bindparam("contact_value"),
    )
)


class AccountLinks(OneUseLinks[AccountLink]):
    """Stores links by which users set a password."""

    def __init__(self, database: Database, clock: Clock, keys: SecretKeys) -> None:
        super().__init__(database, clock, keys, _LINKS, "account-link")

    def replace(self, connection: Connection, link: AccountLink) -> None:
        """Store a link; it voids the former ones of its user and kind."""
        _VOID_KIND.execute(connection, {"of_user": link.user_id, "kind": link.kind})
        self.add(connection, link)

    def void(self, connection: Connection, user_id: str) -> None:
        """Void all links of a user."""
        _VOID.execute(connection, {"of_user": user_id})

    def deactivate(self, connection: Connection, ended: Deactivation) -> None:
        """Void all links of a user who can no longer act."""
        if ended.is_of_account:
            self.void(connection, ended.user_id)

    def void_changed(
        self, connection: Connection, user_id: str, former: Iterable[Credential], *, are_all: bool
    ) -> None:
        """Void the links of a user whose login has changed: those that reset the password.

        Args:
            former: contacts that the user has no longer; links that were sent to them are void, too.
            are_all: whether invitations are void, too, because there is another password.
        """
        (_VOID if are_all else _VOID_RESETS).execute(connection, {"of_user": user_id})
        for contact in former:
            sent = {"contact_kind": contact.kind, "contact_value": contact.value}
            _VOID_SENT.execute(connection, {"of_user": user_id, **sent})
