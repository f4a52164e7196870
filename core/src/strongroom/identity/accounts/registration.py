"""Creates users together with their credentials."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection

from strongroom.activity.audit.service import AuditEvent, AuditService
from strongroom.foundation import errors
from strongroom.foundation.caller import Origin
from strongroom.foundation.database import Database
from strongroom.identity.users.consents import Consents
from strongroom.identity.users.credentials import CredentialService
from strongroom.identity.users.models import EMAIL, MOBILE, USERNAME, User, UserType
from strongroom.identity.users.password_hashing import StoredPassword
from strongroom.identity.users.passwords import UserPasswords
from strongroom.identity.users.service import UserService, require_open
from strongroom.identity.verification.captchas import CaptchaAnswer, CaptchaService
from strongroom.identity.verification.codes import CodeService, Purpose
from strongroom.plugin_api.login import Credential, VerificationCode


@dataclass(frozen=True, slots=True)
class Registration:
    """The data of a new user. At least one of ``email``, ``mobile`` and ``username`` is required."""

    name: str
    password: str = field(repr=False)
    email: str | None = None
    mobile: str | None = None
    username: str | None = None
    kind: UserType = UserType.USER
    described_hash: Mapping[str, Any] | None = field(default=None, repr=False)
    """The JSON of a hash of another system, instead of the password."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A registration with valid credentials and a hashed password."""

    name: str
    kind: UserType
    credentials: Sequence[Credential]
    password: StoredPassword | None = field(repr=False)
    unverified: frozenset[str] = frozenset()
    """The kinds of the credentials that no proof has verified."""
    change_required: bool = False
    """Whether the user must change the password before a login."""
    external_id: str | None = None


InvitationCheck = Callable[[str, Credential], bool]
"""Returns whether a secret belongs to an open invitation of a contact."""


def _is_never_invited(_secret: str, _contact: Credential) -> bool:
    return False


class RegistrationService:
    """Registers users.

    Args:
        mode: who may register, as in ``[users] registration``.
    """

    def __init__(
        self,
        database: Database,
        users: UserService,
        credentials: CredentialService,
        passwords: UserPasswords,
        codes: CodeService,
        captchas: CaptchaService,
        consents: Consents,
        audit: AuditService,
        mode: str,
    ) -> None:
        self._database = database
        self._users = users
        self._credentials = credentials
        self._passwords = passwords
        self._codes = codes
        self._captchas = captchas
        self._consents = consents
        self._audit = audit
        self._mode = mode
        self._is_invited: InvitationCheck = _is_never_invited

    def set_invitation_check(self, check: InvitationCheck) -> None:
        """Let users with an invitation register if only invited users can."""
        self._is_invited = check

    def register(
        self,
        registration: Registration,
        codes: Sequence[VerificationCode],
        captcha: CaptchaAnswer | None,
        origin: Origin,
        invitation: str | None = None,
        accepted_terms: str | None = None,
    ) -> User:
        """Create a user. The e-mail address and the mobile number each need a code that proves them.

        The secret of an invitation by e-mail proves its address, because only the mailbox has it. A
        registration without address and number needs a captcha. All cheap checks run before the
        password is hashed. Codes stay valid if the registration fails after they were accepted.

        Args:
            accepted_terms: the version of the terms that the user has accepted.

        Raises:
            TermsNotAccepted: the current terms must be accepted, and are not.
            RegistrationClosed: users cannot register themselves.
            InvitationRequired: only invited users can register.
            ValidationFailed: a name is malformed or missing, or the password is weak.
            CaptchaRequired: there is neither a code nor a captcha.
            CaptchaInvalid: the solution of the captcha is wrong.
            CodeInvalid: an address or number has no code, or a wrong one.
            TooManyRequests: too many wrong codes were tried.
            CredentialTaken: another user has one of the names.
            Unavailable: too many hashes are waiting.
        """
        if invitation is None:
            require_open(self._mode)
        self._consents.require(accepted_terms)
        credentials = self._get_credentials(registration)
        self._passwords.require_acceptable(registration.password)
        proven = [credential for credential in credentials if credential.kind != USERNAME]
        invited = self._invited(invitation, proven)
        if not proven:
            self._require_captcha(captcha, origin)
        by_code = [item for item in proven if item not in invited or item.kind != EMAIL]
        with self._spent(by_code, codes, origin):
            # Checked before the expensive hash; add() checks again.
            self.require_free(credentials)
            prepared = self.prepare(registration)
            with self._database.write() as connection:
                user = self.add(connection, prepared, origin)
                self._consents.record(connection, user.id, accepted_terms, origin)
                return user

    def require_available(self, registration: Registration) -> None:
        """Require that the names of a registration are valid and free. Ignores the password.

        Raises:
            ValidationFailed: a name is malformed or missing.
            CredentialTaken: another user has one of the names.
        """
        self.require_free(self._get_credentials(registration))

    def create(self, registration: Registration, origin: Origin) -> User:
        """Create a user without proof of the credentials, as the operator of the server.

        The audit record has no actor: no user has done it.

        Raises:
            HashRejected: the hash of another system is malformed or too expensive.
            ValidationFailed: a name is malformed or missing, or the password is weak.
            CredentialTaken: another user has one of the names.
            Unavailable: too many hashes are waiting.
        """
        prepared = self.prepare(registration)
        with self._database.write() as connection:
            return self.add(connection, prepared, origin, is_own=False)

    def prepare(self, registration: Registration) -> Prepared:
        """Check a registration and hash its password. Slow: call it outside of a transaction.

        Raises:
            HashRejected: the hash of another system is malformed or too expensive.
            ValidationFailed: a name is malformed or missing, or the password is weak.
            Unavailable: too many hashes are waiting.
        """
        credentials = self._get_credentials(registration)
        return Prepared(
            registration.name, registration.kind, credentials, self._hash_password(registration)
        )

    def add(
        self,
        connection: Connection,
        prepared: Prepared,
        origin: Origin,
        *,
        is_own: bool = True,
        actor_id: str | None = None,
    ) -> User:
        """Create a user without proof of the credentials.

        Args:
            is_own: whether the new user is the actor of the audit record.
            actor_id: the actor otherwise; ``None``: the operator of the server.

        Raises:
            CredentialTaken: another user has one of the names, or the external id.
        """
        user = self._users.create(
            connection, prepared.name, prepared.kind, external_id=prepared.external_id
        )
        for credential in prepared.credentials:
            is_verified = credential.kind not in prepared.unverified
            self._credentials.bind(connection, user.id, credential, is_verified=is_verified)
        if prepared.password is not None:
            self._passwords.set_password(
                connection, user.id, prepared.password, change_required=prepared.change_required
            )
        event = AuditEvent(
            "user.create",
            actor_id=user.id if is_own else actor_id,
            target_type="user",
            target_id=user.id,
            origin=origin,
            details={"type": user.type},
        )
        self._audit.record(connection, event)
        return user

    def _invited(self, invitation: str | None, contacts: Sequence[Credential]) -> Sequence[Credential]:
        """Return the contact that an invitation was sent to; none without an open one.

        Raises:
            RegistrationClosed, InvitationRequired: there is an invitation, and it is not enough.
        """
        if invitation is None:
            return ()
        invited = [contact for contact in contacts if self._is_invited(invitation, contact)]
        require_open(self._mode, is_invited=bool(invited))
        return invited

    def _require_captcha(self, captcha: CaptchaAnswer | None, origin: Origin) -> None:
        if captcha is None:
            raise errors.CaptchaRequired
        self._captchas.consume(captcha, origin.address)

    @contextmanager
    def _spent(
        self, proven: Sequence[Credential], codes: Sequence[VerificationCode], origin: Origin
    ) -> Iterator[None]:
        """Consume a code for each credential; restore the codes if the block fails."""
        recipients = self._codes.recipients(codes)
        by_recipient = {recipients[code.id]: code for code in codes if code.id in recipients}
        # Check that all codes are present before using up the first.
        if any(credential not in by_recipient for credential in proven):
            raise errors.CodeInvalid
        spent: list[VerificationCode] = []
        try:
            for credential in proven:
                code = by_recipient[credential]
                self._codes.require(code, credential, Purpose.REGISTER, origin.address)
                spent.append(code)
            yield
        except errors.StrongroomError:
            # The codes were consumed in transactions of their own, so a rollback does not restore them.
            self._codes.restore(spent)
            raise

    def require_free(self, credentials: Sequence[Credential]) -> None:
        """Require that no user has any of the credentials. The unique constraint decides races.

        Raises:
            CredentialTaken: another user has one of them.
        """
        with self._database.read() as connection:
            taken = self._credentials.find_users(connection, credentials)
        for credential in credentials:
            if credential in taken:
                raise errors.CredentialTaken.of_field(
                    credential.kind, "taken", errors.CredentialTaken.message
                )

    def _hash_password(self, registration: Registration) -> StoredPassword:
        if registration.described_hash is None:
            return self._passwords.hash_password(registration.password)
        return self._passwords.imported_password(registration.described_hash)

    def _get_credentials(self, registration: Registration) -> list[Credential]:
        given = {EMAIL: registration.email, MOBILE: registration.mobile, USERNAME: registration.username}
        texts = {kind: text for kind, text in given.items() if text is not None}
        if not texts:
            message = "At least one of email, mobile and username is required."
            raise errors.ValidationFailed.of_field("email", "required", message)
        return identified(self._credentials, texts)


def identified(credentials: CredentialService, texts: Mapping[str, str]) -> list[Credential]:
    """Parse one credential per kind; ``texts`` maps each expected kind to its text.

    Raises:
        ValidationFailed: a text is not a credential of its kind.
    """
    by_kind = {kind: credentials.identify(text) for kind, text in texts.items()}
    wrong = [kind for kind, item in by_kind.items() if not item or item.kind != kind]
    if wrong:
        raise errors.ValidationFailed(
            details=[errors.Detail(kind, "invalid", _EXPECTED[kind]) for kind in wrong]
        )
    return [credential for credential in by_kind.values() if credential is not None]


_EXPECTED: Mapping[str, str] = {
    EMAIL: "Must be an e-mail address.",
    MOBILE: "Must be a mobile number, with country code if it is a foreign one.",
    USERNAME: "Must be 3 to 64 letters, digits, dots, underscores or hyphens; a letter first.",
}
