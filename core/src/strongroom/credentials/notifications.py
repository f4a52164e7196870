"""Notifies users of changes to their accounts."""

from collections.abc import Sequence

from sqlalchemy import Connection

from strongroom.credentials.service import CredentialService
from strongroom.messages.service import CHANNELS, MessageService
from strongroom.plugin_api.login import Credential


class Notices:
    """Sends messages to all e-mail addresses and mobile numbers of a user."""

    def __init__(self, credentials: CredentialService, messages: MessageService) -> None:
        self._credentials = credentials
        self._messages = messages

    def contacts(self, connection: Connection, user_id: str) -> list[Credential]:
        """Return the contacts of a user.

        Call it before a change and :meth:`tell` afterwards, so that the previous contact is notified.
        """
        held = self._credentials.of_user(connection, user_id)
        return [Credential(item.kind, item.value) for item in held if item.kind in CHANNELS]

    def tell(self, contacts: list[Credential], occasion: str, languages: Sequence[str] = ()) -> None:
        """Send the message of an occasion, in the first language that has a template.

        Pass the languages of the request only if the user sent it.
        """
        for contact in contacts:
            self._messages.send(contact, occasion, {}, languages)
