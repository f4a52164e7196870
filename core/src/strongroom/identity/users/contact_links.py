"""Links by which users take back a former contact, within the caller's transaction.

A link is sent to the verified e-mail address or mobile number that was replaced or removed. A person
who has got into the account must not get one: a contact counts as the user's after :data:`LIFETIME`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from sqlalchemy import Connection, bindparam, delete, exists, func, select, update

from strongroom.clock import DAY, Clock
from strongroom.foundation.database import Database
from strongroom.foundation.database.statements import Statement
from strongroom.foundation.secret_keys import SecretKeys
from strongroom.identity.users.credential_changes import SettledChange
from strongroom.identity.users.models import contact_links, credentials, users
from strongroom.identity.users.one_use_links import LinkTable, OneUseLinks
from strongroom.plugin_api.deactivation import Deactivation, DeactivationCause
from strongroom.plugin_api.login import Credential

LIFETIME: Final = 7 * DAY
"""Milliseconds for which links are valid."""

_FIRST_STEPS: Final = DAY // 24
"""Milliseconds after a user's creation for which contacts still count as the new account's."""


@dataclass(frozen=True, slots=True)
class ContactLink:
    """A row of :data:`contact_links`. Times are in milliseconds since the Unix epoch.

    Args:
        current: the contact that replaced the former one; ``None``: it was removed.
        number: the same for all links of one change, and greater for a later change; 0: it is void.
        changed_at: what was added to the account at this time or later may belong to another person.
        bound_at: when the former contact was bound; ``None``: unknown.
    """

    hash: str
    user_id: str
    kind: str
    former: str
    current: str | None
    number: int
    changed_at: int
    created_at: int
    expires_at: int
    written: str | None = None
    bound_at: int | None = None

    @property
    def contact(self) -> Credential:
        """The contact that the user takes back."""
        return Credential(self.kind, self.former, self.written)


_LINKS: Final = LinkTable(ContactLink, contact_links, contact_links.c.number > 0)
_OF_USER: Final = contact_links.c.user_id == bindparam("of_user")
# A void link still shows that the user had an older contact.
_VOID: Final = Statement(update(contact_links).where(_OF_USER).values(number=0))
_ERASE: Final = Statement(delete(contact_links).where(_OF_USER))
_VOID_LATER: Final = Statement(
    delete(contact_links).where(_OF_USER, contact_links.c.number > bindparam("after"))
)
_LAST: Final = Statement(select(func.max(contact_links.c.number)).where(_OF_USER))
_HAD_OLDER: Final = Statement(
    select(
        exists().where(
            _OF_USER,
            contact_links.c.changed_at <= bindparam("bound_at"),
            contact_links.c.expires_at > bindparam("now"),
        )
    )
)
_USER_SINCE: Final = Statement(select(users.c.created_at).where(users.c.id == bindparam("of_user")))
_BOUND: Final = Statement(
    select(credentials.c.kind, credentials.c.value, credentials.c.created_at).where(
        credentials.c.user_id == bindparam("of_user")
    )
)


def trusted_before(user_since: int, now: int) -> int:
    """Return when a contact must have been bound to count as the user's, and not another person's.

    The user has been informed of a newer one for less than :data:`LIFETIME`. What came with the account
    is the user's.

    Args:
        user_since: when the user was created. All times are in milliseconds since the Unix epoch.
    """
    return max(user_since + _FIRST_STEPS, now - LIFETIME)


class ContactLinks(OneUseLinks[ContactLink]):
    """Stores links by which users take back a former contact."""

    def __init__(self, database: Database, clock: Clock, keys: SecretKeys) -> None:
        super().__init__(database, clock, keys, _LINKS, "contact-link")

    def issue(self, connection: Connection, settled: SettledChange) -> Mapping[Credential, str]:
        """Store a link for each contact that a change has taken from its user; return the tokens.

        Without a link: a new contact of a user who had an older one, because another person may have
        added it. The older one has the link, or stays.
        """
        number: int = (_LAST.scalar(connection, {"of_user": settled.user_id}) or 0) + 1
        trusted = [item for item in settled.restorable if self._is_trusted(connection, settled, item)]
        return {contact: self._issue(connection, settled, contact, number) for contact in trusted}

    def consume(self, connection: Connection, link: ContactLink) -> bool:
        """Consume a link, and void the links of later changes; return whether it was valid.

        Another person, who has got into the account, may have made the later changes.
        """
        if not super().consume(connection, link):
            return False
        _VOID_LATER.execute(connection, {"of_user": link.user_id, "after": link.number})
        return True

    def deactivate(self, connection: Connection, ended: Deactivation) -> None:
        """Void all links of a user who can no longer act, or whose rights have changed."""
        # A recovery keeps the links of earlier changes, so that the first contact wins.
        if ended.is_of_account and ended.cause is not DeactivationCause.RECOVERY:
            (_ERASE if ended.is_deletion else _VOID).execute(connection, {"of_user": ended.user_id})

    def _is_trusted(self, connection: Connection, settled: SettledChange, contact: Credential) -> bool:
        bound_at, now = settled.bound_at[contact], self._clock.now()
        user_since: int = _USER_SINCE.scalar(connection, {"of_user": settled.user_id})
        if bound_at < trusted_before(user_since, now):
            return True
        if any(older < bound_at for older in settled.bound_at.values()):
            return False
        named = {"of_user": settled.user_id, "bound_at": bound_at, "now": now}
        return not _HAD_OLDER.scalar(connection, named)

    def _issue(
        self, connection: Connection, settled: SettledChange, contact: Credential, number: int
    ) -> str:
        (token, hashed), now = self.new_token(), self._clock.now()
        link = ContactLink(
            hash=hashed,
            user_id=settled.user_id,
            kind=contact.kind,
            former=contact.value,
            current=settled.successor(contact),
            number=number,
            changed_at=_changed_at(connection, settled, now),
            created_at=now,
            expires_at=now + LIFETIME,
            written=contact.written,
            bound_at=settled.bound_at[contact],
        )
        self.add(connection, link)
        return token


def _changed_at(connection: Connection, settled: SettledChange, now: int) -> int:
    """Return the time of the first new credential of a change, which is a little before ``now``."""
    new = {(change.kind, change.current) for change in settled.changes}
    rows = _BOUND.all(connection, {"of_user": settled.user_id})
    times: list[int] = [created_at for kind, value, created_at in rows if (kind, value) in new]
    return min([now, *times])
