"""Binds and unbinds credentials proven by login methods, such as user ids on other platforms."""

from collections.abc import Callable, Collection, Sequence

from sqlalchemy import Connection

from strongroom.accounts.bindings import CODE_HEADER, require_self
from strongroom.accounts.reauthentication import require_held
from strongroom.audit.service import FAILURE, SUCCESS, AuditEvent, AuditService
from strongroom.database import Database
from strongroom.errors import CredentialTaken, LastContact, NotFound
from strongroom.identity import Identity, Origin
from strongroom.notifications.service import Notices
from strongroom.plugin_api.login import Credential, VerificationCode, VerifiedCredential
from strongroom.users.credentials import CredentialService
from strongroom.users.models import BoundCredential
from strongroom.users.resolver import IdentityResolver
from strongroom.verification.codes import CodeService, Purpose

Replaced = Callable[[Sequence[Credential]], Collection[Credential]]


class ExternalCredentials:
    """Credentials of kinds that login methods define.

    Args:
        database: stores credentials.
        credentials: lists and releases credentials.
        resolver: binds verified credentials.
        codes: checks the codes that unbinding requires.
        notices: notifies the user.
        audit: records the changes.
    """

    def __init__(
        self,
        database: Database,
        credentials: CredentialService,
        resolver: IdentityResolver,
        codes: CodeService,
        notices: Notices,
        audit: AuditService,
    ) -> None:
        self._database = database
        self._credentials = credentials
        self._resolver = resolver
        self._codes = codes
        self._notices = notices
        self._audit = audit

    def bind(
        self,
        identity: Identity,
        user_id: str,
        verified: VerifiedCredential,
        replaced: Replaced,
        origin: Origin,
    ) -> Sequence[BoundCredential]:
        """Bind verified credentials to a user; return all the user's credentials of these kinds.

        Raises:
            Forbidden: the caller is another user.
            CredentialTaken: another user holds one of them.
        """
        require_self(identity, user_id)
        kind = verified.credential.kind
        try:
            with self._database.write() as connection:
                contacts = self._notices.contacts(connection, user_id)
                self._resolver.bind(connection, user_id, verified, replaced)
                held = self._credentials.of_user(connection, user_id)
                self._record(connection, "credential.bind", user_id, kind, origin)
        except CredentialTaken:
            # A separate transaction, because the first one was rolled back.
            with self._database.write() as connection:
                self._record(connection, "credential.bind", user_id, kind, origin, FAILURE)
            raise
        self._notices.notify(contacts, "credential-changed", origin.languages)
        kinds = {kind, *(credential.kind for credential in verified.also)}
        return [item for item in held if item.kind in kinds]

    def unbind(
        self,
        identity: Identity,
        user_id: str,
        kinds: Collection[str],
        code: VerificationCode | None,
        origin: Origin,
    ) -> None:
        """Unbind all credentials of some kinds. Requires a code sent to a current contact.

        Raises:
            Forbidden: the caller is another user.
            NotFound: the user has no credential of these kinds.
            LastContact: the user has no e-mail address or mobile number.
            CodeInvalid: the code is wrong or missing.
        """
        require_self(identity, user_id)
        with self._database.read() as connection:
            self._released(connection, user_id, kinds)
            contacts = self._contacts(connection, user_id)
        require_held(self._codes, contacts, code, Purpose.UNBIND, CODE_HEADER)
        with self._database.write() as connection:
            # Checked again under the lock: a concurrent request may unbind the last contact.
            self._credentials.lock_user(connection, user_id)
            self._contacts(connection, user_id)
            released = self._released(connection, user_id, kinds)
            for kind in released:
                self._credentials.release(connection, user_id, kind)
            self._record(connection, "credential.unbind", user_id, released[0], origin)
        self._notices.notify(contacts, "credential-changed", origin.languages)

    def _contacts(self, connection: Connection, user_id: str) -> list[Credential]:
        contacts = self._notices.contacts(connection, user_id)
        if not contacts:
            raise LastContact
        return contacts

    def _released(self, connection: Connection, user_id: str, kinds: Collection[str]) -> list[str]:
        held = {item.kind for item in self._credentials.of_user(connection, user_id)}
        if held.isdisjoint(kinds):
            raise NotFound
        return sorted(held.intersection(kinds))

    def _record(
        self,
        connection: Connection,
        action: str,
        user_id: str,
        kind: str,
        origin: Origin,
        outcome: str = SUCCESS,
    ) -> None:
        event = AuditEvent(
            action,
            outcome,
            actor_id=user_id,
            target_type="user",
            target_id=user_id,
            origin=origin,
            details={"kind": kind},
        )
        self._audit.record(connection, event)
