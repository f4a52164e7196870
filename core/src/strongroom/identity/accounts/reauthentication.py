"""Reauthentication: the proof, in addition to the access token, that account changes require.

A stolen token must not be enough to take an account over.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from sqlalchemy import Connection

from strongroom.activity.audit.service import FAILURE, AuditEvent, AuditService
from strongroom.clock import Clock
from strongroom.foundation.assurance import Demand
from strongroom.foundation.caller import Identity, Origin
from strongroom.foundation.database import Database
from strongroom.foundation.errors import (
    ChallengeInvalid,
    CodeInvalid,
    FreshProofRequired,
    SecondFactorRequired,
    StrongroomError,
    WrongPassword,
)
from strongroom.identity.accounts.change_password import CurrentPassword
from strongroom.identity.sessions.factor_verification import ChallengeAnswer, SecondFactors
from strongroom.identity.sessions.service import AuthorizationService, RenewedToken
from strongroom.identity.users.contacts import Notices
from strongroom.identity.users.credentials import CredentialService
from strongroom.identity.users.enrolled_factors import EnrolledFactors
from strongroom.identity.users.passwords import UserPasswords
from strongroom.identity.verification.codes import CodeService, Purpose
from strongroom.plugin_api.login import MULTI_FACTOR, Assurance, Credential, VerificationCode

RECENT_LOGIN: Final = 5 * 60 * 1000
"""Milliseconds after a login during which it is enough proof to bind the first credential."""

FRESH_LOGIN: Final = 10 * 60 * 1000
"""Milliseconds after a login during which it counts as a fresh proof."""

_STEP_UP: Final = "step-up"
"""The purpose of challenges that renew the proof of a login."""

_PROVEN_LATELY: Final = Demand(MULTI_FACTOR, FRESH_LOGIN // 1000)


@dataclass(frozen=True, slots=True)
class Proof:
    """The proof that a client presents for its user.

    Args:
        code: a verification code sent to a contact that the user holds.
    """

    code: VerificationCode | None = None
    password: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class ProofFields:
    """Names of the request fields or headers that carry a proof, for error details."""

    code: str = "heldCode"
    password: str = "currentPassword"  # noqa: S105  the name of a field


BODY_FIELDS: Final = ProofFields()


@dataclass(slots=True, eq=False, repr=False)
class Reauthentication:
    """Requires a proof from the calling user."""

    _database: Database
    _clock: Clock
    _credentials: CredentialService
    _passwords: UserPasswords
    _codes: CodeService
    _notices: Notices
    _current: CurrentPassword
    _authorizations: AuthorizationService
    _enrolled: EnrolledFactors

    def require(
        self,
        identity: Identity,
        proof: Proof,
        fields: ProofFields = BODY_FIELDS,
        *,
        login_age: int | None = None,
    ) -> None:
        """Require the strongest proof available to the user, before a credential is bound.

        That is a code sent to a verified contact; without one, the current password; without a
        password, a login within the last 5 minutes.

        Args:
            login_age: milliseconds for which a login or step-up takes the place of code and password;
                ``None``: it does not. A wrong code or password is refused all the same.

        Raises:
            CodeInvalid: the code is missing or wrong.
            WrongPassword: the password is missing or wrong.
            FreshProofRequired: the login is too old.
            StepUpRequired: the user has a second factor, and has not proven it lately.
            TooManyRequests: too many wrong passwords.
        """
        self.require_factor(identity)
        if login_age is not None and proof == Proof() and self._has_login_since(identity, login_age):
            return
        held, has_password = self._proofs(identity)
        if held:
            require_contact_code(self._codes, held, proof.code, Purpose.BIND, fields.code)
        elif has_password:
            self._require_password(identity, proof.password, fields)
        else:
            self._require_login_since(identity, RECENT_LOGIN)

    def require_stated(
        self,
        identity: Identity,
        proof: Proof,
        fields: ProofFields = BODY_FIELDS,
        *,
        login_age: int | None = None,
    ) -> None:
        """Require that a request has the proof of :meth:`require`, right or wrong.

        Call it before other codes of the request are checked, so that the answer to a request without
        the proof does not depend on them.

        Args:
            login_age: as for :meth:`require`.

        Raises:
            CodeInvalid: the code is missing.
            WrongPassword: the password is missing.
            FreshProofRequired: the login is too old.
            StepUpRequired: the user has a second factor, and has not proven it lately.
        """
        self.require_factor(identity)
        if login_age is not None and proof == Proof() and self._has_login_since(identity, login_age):
            return
        held, has_password = self._proofs(identity)
        if held:
            _require_code(proof.code, Purpose.BIND, fields.code)
        elif has_password:
            _require_stated_password(proof.password, fields)
        else:
            self._require_login_since(identity, RECENT_LOGIN)

    def _proofs(self, identity: Identity) -> tuple[Sequence[Credential], bool]:
        """Return the verified contacts of the calling user, and whether there is a password."""
        with self._database.read() as connection:
            held = self._notices.contacts(connection, identity.user_id).proven
            return held, self._passwords.has_password(connection, identity.user_id)

    def require_any(
        self,
        identity: Identity,
        proof: Proof,
        purpose: Purpose,
        *,
        login_age: int,
        fields: ProofFields = BODY_FIELDS,
    ) -> None:
        """Require any one proof: a code, the current password, or a recent login.

        Args:
            proof: the caller's proof; a wrong proof is refused even after a recent login.
            login_age: milliseconds for which a login is a proof.
            fields: the request fields of the proof, named in errors.

        Raises:
            CodeInvalid: the code is wrong.
            WrongPassword: the password is wrong.
            FreshProofRequired: there is no proof, and the login is too old.
            StepUpRequired: the user has a second factor, and has not proven it lately.
            TooManyRequests: too many wrong passwords.
        """
        self.require_factor(identity)
        if proof.code is not None:
            with self._database.read() as connection:
                held = self._notices.contacts(connection, identity.user_id).proven
            require_contact_code(self._codes, held, proof.code, purpose, fields.code)
        elif proof.password is not None:
            self._require_password(identity, proof.password, fields)
        else:
            self._require_login_since(identity, login_age)

    def _require_password(self, identity: Identity, password: str | None, fields: ProofFields) -> None:
        stated = _require_stated_password(password, fields)
        try:
            self._current.verify(identity.user_id, stated)
        except WrongPassword as error:
            raise WrongPassword.of_field(fields.password, "wrong", WrongPassword.message) from error

    def _require_login_since(self, identity: Identity, age: int) -> None:
        if not self._has_login_since(identity, age):
            raise FreshProofRequired

    def _has_login_since(self, identity: Identity, age: int) -> bool:
        # A client's grant states when its user has logged in, which proves nothing of the client.
        if identity.key is not None:
            return False
        with self._database.read() as connection:
            login = self._authorizations.find(connection, identity.authorization_id)
        return login is not None and self._clock.now() - login.auth_time < age

    def require_live(self, connection: Connection, identity: Identity) -> None:
        """Require in the transaction of a change that the caller's login has not ended meanwhile.

        Raises:
            TokenInvalid: the login has ended.
        """
        self._authorizations.require_live(connection, identity)

    def require_factor(self, identity: Identity) -> None:
        """Require that a user with a second factor has proven it within :data:`FRESH_LOGIN`.

        Raises:
            StepUpRequired: the user has a second factor, and has not proven it lately.
            KeyNotAccepted: the same for an access key, which proves none.
        """
        # The operator has configured the plugin to act; there is no login that could prove anything.
        if identity.plugin is not None and identity.key is None:
            return
        if _PROVEN_LATELY.is_met(identity, self._clock.now()):
            return
        with self._database.read() as connection:
            has_factor = bool(self._enrolled.of_user(connection, identity.user_id))
        if has_factor:
            raise _PROVEN_LATELY.refusal(identity)


def require_contact_code(
    codes: CodeService,
    held: Sequence[Credential],
    code: VerificationCode | None,
    purpose: Purpose,
    field: str,
) -> None:
    """Consume a code that was sent to one of the user's verified contacts.

    Raises:
        CodeInvalid: the code is missing or wrong.
    """
    code = _require_code(code, purpose, field)
    # The client sends no recipient with the code, so look it up and require one of the user's contacts.
    recipient = codes.recipients([code]).get(code.id)
    if recipient is None or recipient not in held or not codes.consume(code, recipient, purpose):
        raise CodeInvalid.of_field(field, "wrong", CodeInvalid.message)


def _require_code(code: VerificationCode | None, purpose: Purpose, field: str) -> VerificationCode:
    if code is None:
        message = f"Requires a code for {purpose.value}, sent to one of the user's contacts."
        raise CodeInvalid.of_field(field, "required", message)
    return code


def _require_stated_password(password: str | None, fields: ProofFields) -> str:
    if password is None:
        message = "The current password is required."
        raise WrongPassword.of_field(fields.password, "required", message)
    return password


@dataclass(slots=True, eq=False, repr=False)
class StepUp:
    """Renews the proof of a login (RFC 9470)."""

    _database: Database
    _factors: SecondFactors
    _enrolled: EnrolledFactors
    _authorizations: AuthorizationService
    _reauthentication: Reauthentication
    _audit: AuditService

    def renew(
        self, identity: Identity, proof: Proof, answer: ChallengeAnswer | None, origin: Origin
    ) -> RenewedToken:
        """Renew the proof of the caller's login, and return an access token that states it (RFC 9470).

        A user with a second factor proves it; without an answer, the error has the challenge. Others
        prove a code or the current password.

        Raises:
            SecondFactorRequired: the user has a second factor, and there is no answer.
            ChallengeInvalid: the challenge is unknown, expired, consumed, or of another login.
            InvalidCredentials: the answer is wrong.
            StrongroomError: as :meth:`Reauthentication.require_any`.
        """
        if answer is not None:
            return self._prove_factor(identity, answer, origin)
        with self._database.read() as connection:
            has_factor = bool(self._enrolled.of_user(connection, identity.user_id))
        if has_factor:
            context = {"authorization_id": identity.authorization_id}
            with self._database.write() as connection:
                challenge = self._factors.issue(connection, identity.user_id, _STEP_UP, context)
            raise SecondFactorRequired(challenge.json())
        self._reauthentication.require_any(identity, proof, Purpose.BIND, login_age=0)
        amr = ("pwd",) if proof.code is None else ("otp",)
        with self._database.write() as connection:
            return self._authorizations.strengthen(connection, identity, Assurance(amr), origin)

    def _prove_factor(self, identity: Identity, answer: ChallengeAnswer, origin: Origin) -> RenewedToken:
        try:
            met = self._factors.check(answer, _STEP_UP, origin)
            if met.context["authorization_id"] != identity.authorization_id:
                raise ChallengeInvalid
            with self._database.write() as connection:
                self._factors.consume(connection, met)
                assurance = met.proof.assurance
                renewed = self._authorizations.strengthen(
                    connection, identity, assurance, origin, is_second=True
                )
            self._factors.notify_of_backup(met, origin)
            return renewed
        except StrongroomError as error:
            with self._database.write() as connection:
                details = {"code": error.code}
                event = AuditEvent(
                    "authorization.step-up",
                    FAILURE,
                    actor_id=identity.user_id,
                    target_type="authorization",
                    target_id=identity.authorization_id,
                    origin=origin,
                    details=details,
                )
                self._audit.record(connection, event)
            raise
