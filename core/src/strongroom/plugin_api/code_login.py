"""Login by a verification code: the rules that are the same for SMS and e-mail."""

from typing import ClassVar, Final, Protocol, TypeVar

from strongroom.plugin_api.login import (
    Assurance,
    LoginAttempt,
    LoginMethod,
    LoginRejected,
    VerificationCode,
    VerifiedCredential,
)

PURPOSE: Final = "login"
"""The purpose of the codes, for ``POST /verification-codes``."""


class CodeLoginOptions(Protocol):
    """The options of a login by code."""

    @property
    def register(self) -> bool:
        """Whether a login with an unbound contact creates a user."""


CodeOptionsT = TypeVar("CodeOptionsT", bound=CodeLoginOptions)


class CodeLogin(LoginMethod[CodeOptionsT]):
    """Verifies the code sent to a contact; an unbound contact may register a new user.

    A class derives from it with the kind of the contacts in ``code_recipients``.
    """

    amr: ClassVar[str]
    """The proof as an Authentication Method Reference (RFC 8176), such as ``sms``."""

    @classmethod
    def registers(cls, options: CodeOptionsT) -> bool:
        return options.register

    def authenticate(self, attempt: LoginAttempt) -> VerifiedCredential | None:
        if attempt.password or not attempt.username or not attempt.verification_code:
            return None
        contact = self.proofs.identify(attempt.username)
        if contact is None or contact.kind not in (self.code_recipients or ()):
            return None
        return self._prove(attempt, attempt.username, attempt.verification_code)

    def _prove(self, attempt: LoginAttempt, contact: str, code: VerificationCode) -> VerifiedCredential:
        credential = self.proofs.consume_code(code, contact, PURPOSE, client=attempt.client)
        if credential is None:
            raise LoginRejected("the verification code is wrong, used, expired or another contact's")
        return VerifiedCredential(
            credential, may_register=self.options.register, assurance=Assurance((self.amr,))
        )
