"""Reauthentication: the proof, besides the access token, that changes of an account require.

A stolen token must not be enough to take an account over.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from strongroom.accounts.current_password import CurrentPassword
from strongroom.authorizations.service import AuthorizationService
from strongroom.clock import Clock
from strongroom.credentials.notifications import Notices
from strongroom.credentials.service import CredentialService
from strongroom.database import Database
from strongroom.errors import CodeInvalid, FreshProofRequired, WrongPassword
from strongroom.identity import Identity
from strongroom.plugin_api.login import Credential, VerificationCode
from strongroom.verification.codes import CodeService, Purpose

RECENT_LOGIN: Final = 5 * 60 * 1000
"""Milliseconds after a login in which it proves enough to bind the first credential."""

FRESH_LOGIN: Final = 10 * 60 * 1000
"""Milliseconds after a login in which it counts as a fresh proof."""


@dataclass(frozen=True, slots=True)
class Proof:
    """What a client presents to prove that the user is there.

    Args:
        code: a verification code sent to a contact that the user holds.
        password: the current password.
    """

    code: VerificationCode | None = None
    password: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class ProofFields:
    """The fields or headers of a request that carry a proof, named in errors."""

    code: str = "heldCode"
    password: str = "currentPassword"  # noqa: S105  the name of a field


BODY_FIELDS: Final = ProofFields()


class Reauthentication:
    """Requires a proof from the calling user.

    Args:
        database: stores accounts.
        clock: the time.
        credentials: knows who has a password.
        codes: spends verification codes.
        notices: knows the contacts of users.
        passwords: checks current passwords.
        authorizations: knows when a login was made.
    """

    def __init__(
        self,
        database: Database,
        clock: Clock,
        credentials: CredentialService,
        codes: CodeService,
        notices: Notices,
        passwords: CurrentPassword,
        authorizations: AuthorizationService,
    ) -> None:
        self._database = database
        self._clock = clock
        self._credentials = credentials
        self._codes = codes
        self._notices = notices
        self._passwords = passwords
        self._authorizations = authorizations

    def require(self, identity: Identity, proof: Proof, fields: ProofFields = BODY_FIELDS) -> None:
        """Pass with the strongest proof that the user can give, before a credential is bound.

        That is a code to a contact that the user holds; without contacts, the current password;
        without a password, a login of the last 5 minutes.

        Raises:
            CodeInvalid: the code is missing or wrong.
            WrongPassword: the password is missing or wrong.
            FreshProofRequired: the login is too old.
            TooManyRequests: the password was wrong too often.
        """
        with self._database.read() as connection:
            held = self._notices.contacts(connection, identity.user_id)
            has_password = self._credentials.has_password(connection, identity.user_id)
        if held:
            require_held(self._codes, held, proof.code, Purpose.BIND, fields.code)
        elif has_password:
            self._require_password(identity, proof.password, fields)
        else:
            self._require_login_since(identity, RECENT_LOGIN)

    def require_any(
        self,
        identity: Identity,
        proof: Proof,
        purpose: Purpose,
        *,
        login_age: int,
        fields: ProofFields = BODY_FIELDS,
    ) -> None:
        """Pass with any one proof: a code, the current password, or a recent login.

        Args:
            identity: the caller.
            proof: what the caller presents; a wrong proof is refused even after a recent login.
            purpose: what the code must have been sent for.
            login_age: milliseconds for which a login is a proof.
            fields: where the proof stands in the request.

        Raises:
            CodeInvalid: the code is wrong.
            WrongPassword: the password is wrong.
            FreshProofRequired: there is no proof.
            TooManyRequests: the password was wrong too often.
        """
        if proof.code is not None:
            with self._database.read() as connection:
                held = self._notices.contacts(connection, identity.user_id)
            require_held(self._codes, held, proof.code, purpose, fields.code)
        elif proof.password is not None:
            self._require_password(identity, proof.password, fields)
        else:
            self._require_login_since(identity, login_age)

    def _require_password(self, identity: Identity, password: str | None, fields: ProofFields) -> None:
        if password is None:
            message = "Needs the current password."
            raise WrongPassword.of_field(fields.password, "required", message)
        try:
            self._passwords.verify(identity.user_id, password)
        except WrongPassword as error:
            raise WrongPassword.of_field(fields.password, "wrong", WrongPassword.message) from error

    def _require_login_since(self, identity: Identity, age: int) -> None:
        with self._database.read() as connection:
            began_at = self._authorizations.began_at(connection, identity.authorization_id)
        if began_at is None or self._clock.now() - began_at >= age:
            raise FreshProofRequired


def require_held(
    codes: CodeService,
    held: Sequence[Credential],
    code: VerificationCode | None,
    purpose: Purpose,
    field: str,
) -> None:
    """Use up a code that was sent to any of the contacts that a user holds.

    Raises:
        CodeInvalid: there is none, or it is wrong.
    """
    if code is None:
        message = f"Needs a code of the purpose {purpose.value}, sent to a contact that is held."
        raise CodeInvalid.of_field(field, "required", message)
    recipient = codes.recipients([code]).get(code.id)
    if recipient is None or recipient not in held or not codes.spend(code, recipient, purpose):
        raise CodeInvalid.of_field(field, "wrong", CodeInvalid.message)
