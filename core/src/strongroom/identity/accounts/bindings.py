"""Adds and removes credentials, with codes or from external providers."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Final

from sqlalchemy import Connection

from strongroom.activity.audit.service import FAILURE, AuditEvent, AuditService
from strongroom.foundation.caller import Identity, Origin
from strongroom.foundation.database import Database
from strongroom.foundation.database.paging import Page, Paging, make_page
from strongroom.foundation.errors import CredentialTaken, LastContact, NotFound, StrongroomError
from strongroom.identity.accounts.reauthentication import (
    FRESH_LOGIN,
    RECENT_LOGIN,
    Proof,
    Reauthentication,
    require_contact_code,
)
from strongroom.identity.accounts.registration import identified
from strongroom.identity.sessions.service import AuthorizationService
from strongroom.identity.users.contacts import Contacts, Notices
from strongroom.identity.users.credential_changes import ChangedBy, CredentialChanges
from strongroom.identity.users.credentials import CredentialService
from strongroom.identity.users.models import USERNAME, BoundCredential
from strongroom.identity.users.resolver import IdentityResolver
from strongroom.identity.users.service import UserService
from strongroom.identity.verification.codes import CodeService, Purpose
from strongroom.plugin_api.login import Credential, VerificationCode, VerifiedCredential

CODE_HEADER: Final = "X-Verification-Code"
"""Header for a verification code in requests without a body, as ``{id}.{code}``."""


@dataclass(slots=True, eq=False, repr=False)
class BindingService:
    """Changes to credentials that users make themselves.

    Args:
        notices: knows the contacts of the user.
    """

    _database: Database
    _users: UserService
    _credentials: CredentialService
    _codes: CodeService
    _reauthentication: Reauthentication
    _notices: Notices
    _changes: CredentialChanges
    _authorizations: AuthorizationService

    def page(self, identity: Identity, user_id: str, paging: Paging) -> Page[BoundCredential]:
        """Return a page of a user's credentials, oldest first.

        Raises:
            Forbidden: the caller is neither the user nor an administrator.
            NotFound: there is no such user.
        """
        identity.require_self_or_admin(user_id)
        with self._database.read() as connection:
            self._users.get(connection, user_id)
            held = self._credentials.of_user(connection, user_id)
        # A user has one per kind, and one per app of a platform.
        return make_page(held, paging, lambda item: (item.id,))

    def is_available(self, text: str) -> bool:
        """Return whether the text is a valid credential that no user holds."""
        credential = self._credentials.identify(text)
        if credential is None:
            return False
        with self._database.read() as connection:
            return not self._credentials.find_users(connection, [credential])

    def bind(
        self,
        identity: Identity,
        user_id: str,
        kind: str,
        text: str,
        code: VerificationCode,
        proof: Proof,
        origin: Origin,
    ) -> BoundCredential:
        """Bind an e-mail address or a mobile number. It replaces the previous one of its kind.

        After a login or step-up of the last 10 minutes, the code for the new contact is enough; the
        former contact is informed, and can restore it.

        Raises:
            Forbidden: the caller is another user.
            ValidationFailed: the text is not a credential of this kind.
            CodeInvalid: the code for the new contact, or for a current one, is wrong or missing.
            CredentialTaken: another user holds it.
            StrongroomError: as :meth:`Reauthentication.require`.
        """
        identity.require_self(user_id)
        (credential,) = identified(self._credentials, {kind: text})
        # First, so that the answer does not reveal whether the other code is right.
        self._reauthentication.require_stated(identity, proof, login_age=FRESH_LOGIN)
        self._codes.require(code, credential, Purpose.BIND)
        try:
            self._reauthentication.require(identity, proof, login_age=FRESH_LOGIN)
        except StrongroomError:
            # The user corrects the proof without another code for the new contact.
            self._codes.restore([code])
            raise
        with self._database.write() as connection:
            self._lock(connection, identity)
            # Release first, because a unique index allows one credential of this kind per user.
            self._credentials.release(connection, user_id, kind)
            self._credentials.bind(connection, user_id, credential)
            bound = self._credentials.of_user(connection, user_id)
            self._changes.settle(connection, ChangedBy(user_id, origin))
        return next(item for item in bound if item.kind == kind)

    def unbind(
        self, identity: Identity, user_id: str, kind: str, code: VerificationCode | None, origin: Origin
    ) -> None:
        """Unbind an e-mail address or a mobile number. Requires a code sent to a current contact.

        Raises:
            Forbidden: the caller is another user.
            NotFound: the user has no credential of this kind.
            LastContact: it is the user's last contact.
            CodeInvalid: the code is wrong or missing.
        """
        identity.require_self(user_id)
        with self._database.read() as connection:
            held = self._notices.contacts(connection, user_id)
        _require_another(held, kind)
        require_contact_code(self._codes, held.proven, code, Purpose.UNBIND, CODE_HEADER)
        with self._database.write() as connection:
            # Checked again under the lock: two concurrent requests could otherwise remove both contacts.
            self._lock(connection, identity)
            _require_another(self._notices.contacts(connection, user_id), kind)
            self._credentials.release(connection, user_id, kind)
            self._changes.settle(connection, ChangedBy(user_id, origin))

    def set_username(
        self, identity: Identity, user_id: str, text: str, proof: Proof, origin: Origin
    ) -> BoundCredential:
        """Set the login username.

        A username is no proof of identity, so any one proof is enough.

        Raises:
            Forbidden: the caller is another user.
            ValidationFailed: the text is not a valid username.
            CredentialTaken: another user has it.
            StrongroomError: as :meth:`Reauthentication.require_any`.
        """
        identity.require_self(user_id)
        (credential,) = identified(self._credentials, {USERNAME: text})
        self._reauthentication.require_any(identity, proof, Purpose.BIND, login_age=RECENT_LOGIN)
        with self._database.write() as connection:
            self._lock(connection, identity)
            # Release first, because a unique index allows one username per user.
            self._credentials.release(connection, user_id, USERNAME)
            self._credentials.bind(connection, user_id, credential)
            bound = self._credentials.of_user(connection, user_id)
            self._changes.settle(connection, ChangedBy(user_id, origin))
        return next(item for item in bound if item.kind == USERNAME)

    def _lock(self, connection: Connection, identity: Identity) -> None:
        """Lock the caller's credentials, because two concurrent requests would conflict."""
        self._credentials.lock_user(connection, identity.user_id)
        self._authorizations.require_live(connection, identity)
        self._users.get(connection, identity.user_id)


def _refusal(user_id: str, kind: str, origin: Origin) -> AuditEvent:
    """Return the audit event of a user whose credential belongs to another user."""
    return AuditEvent(
        "credential.bind",
        FAILURE,
        actor_id=user_id,
        target_type="user",
        target_id=user_id,
        origin=origin,
        details={"kind": kind},
    )


def _require_another(held: Sequence[Credential], kind: str) -> None:
    kinds = {credential.kind for credential in held}
    if kind not in kinds:
        raise NotFound
    if not kinds - {kind}:
        raise LastContact


Replaced = Callable[[Sequence[Credential]], Collection[Credential]]


@dataclass(slots=True, eq=False, repr=False)
class ExternalCredentials:
    """Credentials of kinds that login methods define."""

    _database: Database
    _credentials: CredentialService
    _resolver: IdentityResolver
    _codes: CodeService
    _notices: Notices
    _changes: CredentialChanges
    _authorizations: AuthorizationService
    _audit: AuditService

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
        identity.require_self(user_id)
        kind = verified.credential.kind
        try:
            with self._database.write() as connection:
                self._resolver.bind(connection, user_id, verified, replaced)
                # After the lock of the user's credentials.
                self._authorizations.require_live(connection, identity)
                held = self._credentials.of_user(connection, user_id)
                self._changes.settle(connection, ChangedBy(user_id, origin))
        except CredentialTaken:
            # A separate transaction, because the first one was rolled back.
            with self._database.write() as connection:
                self._audit.record(connection, _refusal(user_id, kind, origin))
            raise
        kinds = {kind, *(credential.kind for credential in verified.further)}
        return [item for item in held if item.kind in kinds]

    def unbind(
        self,
        identity: Identity,
        user_id: str,
        kinds: Collection[str],
        code: VerificationCode | None,
        origin: Origin,
        *,
        prefix: str = "",
    ) -> None:
        """Unbind all credentials of some kinds. Requires a code sent to a current contact.

        Args:
            prefix: the beginning of the values of those to unbind.

        Raises:
            Forbidden: the caller is another user.
            NotFound: the user has no credential of these kinds.
            LastContact: the user has no e-mail address or mobile number.
            CodeInvalid: the code is wrong or missing.
        """
        identity.require_self(user_id)
        with self._database.read() as connection:
            self._released(connection, user_id, kinds, prefix)
            contacts = self._contacts(connection, user_id)
        require_contact_code(self._codes, contacts.proven, code, Purpose.UNBIND, CODE_HEADER)
        with self._database.write() as connection:
            # Checked again under the lock: a concurrent request may unbind the last contact.
            self._credentials.lock_user(connection, user_id)
            self._authorizations.require_live(connection, identity)
            self._contacts(connection, user_id)
            for item in self._released(connection, user_id, kinds, prefix):
                self._credentials.release_one(connection, user_id, item.credential)
            self._changes.settle(connection, ChangedBy(user_id, origin))

    def _contacts(self, connection: Connection, user_id: str) -> Contacts:
        contacts = self._notices.contacts(connection, user_id)
        if not contacts:
            raise LastContact
        return contacts

    def _released(
        self, connection: Connection, user_id: str, kinds: Collection[str], prefix: str
    ) -> list[BoundCredential]:
        held = self._credentials.of_user(connection, user_id)
        released = [item for item in held if item.kind in kinds and item.value.startswith(prefix)]
        if not released:
            raise NotFound
        return released
