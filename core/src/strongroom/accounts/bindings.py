"""Binds e-mail addresses, mobile numbers and usernames to users, and takes them away again."""

from collections.abc import Sequence

from sqlalchemy import Connection

from strongroom.accounts.registration import identified
from strongroom.audit.service import AuditEvent, AuditService
from strongroom.credentials.models import USERNAME, BoundCredential
from strongroom.credentials.notices import Notices
from strongroom.credentials.service import CredentialService
from strongroom.database import Database
from strongroom.errors import CodeInvalid, Forbidden, LastContact, NotFound
from strongroom.identity import Identity, Origin
from strongroom.plugin_api.login import Credential, VerificationCode
from strongroom.verification.codes import CodeService, Purpose


class BindingService:
    """Credentials of users, as users change them.

    Args:
        database: where they are kept.
        credentials: binds and releases.
        codes: the proofs.
        notices: tells the user, at the address of before too.
        audit: the record of it.
    """

    def __init__(
        self,
        database: Database,
        credentials: CredentialService,
        codes: CodeService,
        notices: Notices,
        audit: AuditService,
    ) -> None:
        self._database = database
        self._credentials = credentials
        self._codes = codes
        self._notices = notices
        self._audit = audit

    def of_user(self, identity: Identity, user_id: str) -> Sequence[BoundCredential]:
        """Return a user's credentials.

        Raises:
            Forbidden: the caller is neither the user nor an administrator.
        """
        identity.require_self_or_admin(user_id)
        with self._database.read() as connection:
            return self._credentials.of_user(connection, user_id)

    def is_available(self, text: str) -> bool:
        """Return whether a text spells a credential that nobody holds."""
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
        held_code: VerificationCode | None,
        origin: Origin,
    ) -> BoundCredential:
        """Bind an e-mail address or a mobile number in the place of the one of before.

        Raises:
            Forbidden: the caller is somebody else.
            ValidationFailed: the text is none of this kind.
            CodeInvalid: the code of the new one, or of one already held, is wrong or missing.
            CredentialTaken: somebody holds it.
        """
        require_self(identity, user_id)
        (credential,) = identified(self._credentials, {kind: text})
        with self._database.read() as connection:
            held = self._notices.contacts(connection, user_id)
        if held:
            require_held(self._codes, held, held_code, Purpose.BIND)
        self._codes.require(code, credential, Purpose.BIND)
        with self._database.write() as connection:
            self._release(connection, user_id, kind)
            self._credentials.bind(connection, user_id, credential)
            self._record(connection, "credential.bind", user_id, kind, origin)
            bound = self._credentials.of_user(connection, user_id)
        self._notices.tell(held, "credential-changed", origin.languages)
        return next(item for item in bound if item.kind == kind)

    def unbind(
        self, identity: Identity, user_id: str, kind: str, code: VerificationCode | None, origin: Origin
    ) -> None:
        """Take an e-mail address or a mobile number away, by a code sent to one that the user holds.

        Raises:
            Forbidden: the caller is somebody else.
            NotFound: the user has none of this kind.
            LastContact: it is the last of the two.
            CodeInvalid: the code is wrong or missing.
        """
        require_self(identity, user_id)
        with self._database.read() as connection:
            held = self._notices.contacts(connection, user_id)
        _require_another(held, kind)
        require_held(self._codes, held, code, Purpose.UNBIND)
        with self._database.write() as connection:
            # Two that race each other must not both find that another remains.
            self._credentials.take_turns(connection, user_id)
            _require_another(self._notices.contacts(connection, user_id), kind)
            self._release(connection, user_id, kind)
            self._record(connection, "credential.unbind", user_id, kind, origin)
        self._notices.tell(held, "credential-changed", origin.languages)

    def set_username(
        self, identity: Identity, user_id: str, text: str, origin: Origin
    ) -> BoundCredential:
        """Set the login username.

        Raises:
            Forbidden: the caller is somebody else.
            ValidationFailed: the text cannot be a username.
            CredentialTaken: somebody has it.
        """
        require_self(identity, user_id)
        (credential,) = identified(self._credentials, {USERNAME: text})
        with self._database.write() as connection:
            self._credentials.release(connection, user_id, USERNAME)
            self._credentials.bind(connection, user_id, credential)
            self._record(connection, "credential.bind", user_id, USERNAME, origin)
            bound = self._credentials.of_user(connection, user_id)
        return next(item for item in bound if item.kind == USERNAME)

    def _release(self, connection: Connection, user_id: str, kind: str) -> None:
        for item in self._credentials.of_user(connection, user_id):
            if item.kind == kind:
                # A link that was sent to the old address must not outlive it.
                self._codes.void(connection, Credential(item.kind, item.value))
        self._credentials.release(connection, user_id, kind)

    def _record(
        self, connection: Connection, action: str, user_id: str, kind: str, origin: Origin
    ) -> None:
        event = AuditEvent(
            action,
            actor_id=user_id,
            target_type="user",
            target_id=user_id,
            origin=origin,
            details={"kind": kind},
        )
        self._audit.record(connection, event)


def require_self(identity: Identity, user_id: str) -> None:
    """Pass if the user is the one named.

    Raises:
        Forbidden: it is another.
    """
    if identity.user_id != user_id:
        raise Forbidden


def require_held(
    codes: CodeService, held: Sequence[Credential], code: VerificationCode | None, purpose: Purpose
) -> None:
    """Use up a code that was sent to any of what a user holds.

    Raises:
        CodeInvalid: there is none, or it is wrong.
    """
    recipients = codes.recipients([code] if code else [])
    recipient = recipients.get(code.id) if code else None
    if recipient is None or recipient not in held:
        raise CodeInvalid
    codes.require(code, recipient, purpose)


def _require_another(held: Sequence[Credential], kind: str) -> None:
    kinds = {credential.kind for credential in held}
    if kind not in kinds:
        raise NotFound
    if not kinds - {kind}:
        raise LastContact
