"""The contacts of a user, and messages to all of them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import tzinfo

from sqlalchemy import Connection

from strongroom.activity.notifications.service import MessageService
from strongroom.foundation.locales import choose_locale
from strongroom.foundation.plugins.selection import CHANNELS
from strongroom.identity.users.credentials import CredentialService
from strongroom.identity.users.service import UserService
from strongroom.plugin_api.login import Credential
from strongroom.plugin_api.times import UTC_ZONE, find_zone


class Contacts(list[Credential]):
    """The e-mail address and the mobile number of a user.

    Args:
        locale: the language that the user has chosen, as a BCP 47 tag.
        zone: the time zone that the user has chosen, or UTC.
        proven: those that are verified. Only a code sent to one of them proves that the caller is the
            user.
    """

    def __init__(
        self,
        contacts: Iterable[Credential] = (),
        locale: str | None = None,
        proven: Iterable[Credential] = (),
        zone: tzinfo = UTC_ZONE,
    ) -> None:
        super().__init__(contacts)
        self.zone = zone
        self.locale = locale
        self.proven = tuple(proven)

    def languages(self, others: Sequence[str] = ()) -> tuple[str, ...]:
        """Return the languages of a message to the user: the chosen one, then some others."""
        return (self.locale, *others) if self.locale else tuple(others)


@dataclass(slots=True, eq=False, repr=False)
class Notices:
    """Sends messages to all e-mail addresses and mobile numbers of a user."""

    _credentials: CredentialService
    _users: UserService
    _messages: MessageService

    def contacts(self, connection: Connection, user_id: str) -> Contacts:
        """Return the contacts of a user.

        Call it before a change and :meth:`notify` afterwards, so that the previous contact is notified.
        """
        held = self._credentials.of_user(connection, user_id)
        contacts = {item.credential: item.is_verified for item in held if item.kind in CHANNELS}
        proven = (contact for contact, is_verified in contacts.items() if is_verified)
        locale = self._users.get_locale(connection, user_id)
        zone = find_zone(self._users.get_zone(connection, user_id)) or UTC_ZONE
        return Contacts(contacts, locale, proven, zone)

    def notify(
        self,
        contacts: Contacts,
        occasion: str,
        languages: Sequence[str] = (),
        parameters: Mapping[str, str] | None = None,
    ) -> None:
        """Send the message of an occasion, in the user's language, or the first one with a template.

        Pass the languages of the request only if the user sent it.
        """
        for contact in contacts:
            self._messages.send(contact, occasion, parameters or {}, contacts.languages(languages))

    def get_locale(self, contacts: Contacts, languages: Sequence[str] = ()) -> str:
        """Return the language of messages to a user, by ``languages`` only if the user caused them."""
        return choose_locale(contacts.languages(languages), self._messages.default_locale)
