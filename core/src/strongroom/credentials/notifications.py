"""Tells users what has happened to their accounts."""

from collections.abc import Sequence

from sqlalchemy import Connection

from strongroom.credentials.service import CredentialService
from strongroom.messages.service import CHANNELS, MessageService
from strongroom.plugin_api.login import Credential


class Notices:
    """Messages to every address and number that a user holds."""

    def __init__(self, credentials: CredentialService, messages: MessageService) -> None:
        self._credentials = credentials
        self._messages = messages

    def contacts(self, connection: Connection, user_id: str) -> list[Credential]:
        """Return where a user can be reached; ask before the change, tell after it."""
        held = self._credentials.of_user(connection, user_id)
        return [Credential(item.kind, item.value) for item in held if item.kind in CHANNELS]

    def tell(self, contacts: list[Credential], occasion: str, languages: Sequence[str] = ()) -> None:
        """Send the message of an occasion, in the first of the languages that there is a text in.

        Give the languages of the request only if the user has sent it.
        """
        for contact in contacts:
            self._messages.send(contact, occasion, {}, languages)
