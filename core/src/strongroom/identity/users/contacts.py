"""The contacts of a user, and messages to all of them."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import tzinfo
from typing import Final

from sqlalchemy import Connection

from strongroom.activity.notifications.service import MessageService
from strongroom.clock import Clock
from strongroom.foundation.caller import Origin
from strongroom.foundation.locales import choose_locale
from strongroom.foundation.plugins.selection import CHANNELS
from strongroom.identity.users.credentials import CredentialService
from strongroom.identity.users.service import UserService
from strongroom.plugin_api.login import Client, Credential
from strongroom.plugin_api.times import UTC_ZONE, find_zone, named_moment
from strongroom.plugin_api.user_agents import device_name

_UNKNOWN_DEVICE: Final = "an unknown device"


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


def describe_device(origin: Origin | Client, translate: Callable[[str], str]) -> str:
    """Return the browser, the system and the address of a request."""
    names = [name for name in device_name(origin.user_agent or "") if name]
    device = ", ".join(names) or translate(_UNKNOWN_DEVICE)
    return f"{device}, {origin.address}" if origin.address else device


@dataclass(slots=True, eq=False, repr=False)
class Notices:
    """Sends messages to all e-mail addresses and mobile numbers of a user."""

    _clock: Clock
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
        *,
        origin: Origin | None = None,
    ) -> None:
        """Send the message of an occasion, in the user's language, or the first one with a template.

        Pass the languages of the request only if the user sent it. Messages with the time have the
        present one, unless ``parameters`` has another.

        Args:
            origin: the request that the message names.
        """
        values = {"time": named_moment(self._clock.now(), contacts.zone), **(parameters or {})}
        if origin is not None:
            locale = self.get_locale(contacts, languages)
            values["source"] = describe_device(
                origin, lambda text: self._messages.translate(text, locale)
            )
        for contact in contacts:
            self._messages.send(contact, occasion, values, contacts.languages(languages))

    def get_locale(self, contacts: Contacts, languages: Sequence[str] = ()) -> str:
        """Return the language of messages to a user, by ``languages`` only if the user caused them."""
        return choose_locale(contacts.languages(languages), self._messages.default_locale)
