"""The enabled login methods, and what the core proves for them."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from strongroom.foundation.errors import InvalidCredentials, Unavailable
from strongroom.foundation.plugins.hook_calls import require_result
from strongroom.identity.users.credentials import CredentialService
from strongroom.identity.users.passwords import UserPasswords
from strongroom.identity.verification.codes import CodeService, Purpose
from strongroom.identity.verification.service import get_device
from strongroom.plugin_api.login import (
    Client,
    Credential,
    LoginAttempt,
    LoginMethod,
    LoginRejected,
    LoginUnavailable,
    LogoutRequest,
    NewLogin,
    VerificationCode,
    VerifiedCredential,
)
from strongroom.plugin_api.web import ApiError, ErrorKind

logger = logging.getLogger(__name__)


@dataclass(slots=True, eq=False, repr=False)
class CoreProofs:
    """Implements :class:`strongroom.plugin_api.login.Proofs`."""

    _credentials: CredentialService
    _passwords: UserPasswords
    _codes: CodeService

    def identify(self, text: str) -> Credential | None:
        return self._credentials.identify(text)

    def check_password(self, username: str, password: str) -> Credential | None:
        return self._passwords.check_password(username, password)

    def consume_code(
        self,
        code: VerificationCode,
        recipient: str,
        purpose: str,
        *,
        client: Client | None = None,
    ) -> Credential | None:
        credential = self._credentials.identify(recipient)
        device = get_device(client) if client else None
        if credential is None or not self._codes.consume(
            code, credential, Purpose(purpose), device=device
        ):
            return None
        return credential


class LoginMethods:
    """The enabled login methods.

    Args:
        methods: the methods in the order in which they are tried.
        refusals: the error kinds that plugins have registered, by code.
    """

    def __init__(
        self, methods: Sequence[LoginMethod[object]], refusals: Mapping[str, ErrorKind]
    ) -> None:
        self.methods = tuple(methods)
        self._refusals = refusals

    def prove(self, attempt: LoginAttempt) -> tuple[str, VerifiedCredential]:
        """Return the name of the method that accepts the attempt, and the verified credentials.

        Raises:
            InvalidCredentials: no method accepts the attempt.
            ApiError: a method rejects the attempt with its own error.
            Unavailable: a method cannot check the attempt now.
        """
        for method in self.methods:
            if attempt.method in (None, method.name):
                verified = self._authenticate(method, attempt)
                if verified is not None:
                    return method.name, verified
        raise InvalidCredentials

    def logged_in(self, name: str, login: NewLogin) -> None:
        """Report a login to its method. A failure there does not fail the login."""
        method = self._named(name)
        if method is None:
            return
        try:
            method.logged_in(login)
        except Exception:
            logger.exception("Login method %s failed after a login", name)

    def logout_url(self, name: str, logout: LogoutRequest) -> str | None:
        """Return the page of the platform for a logout, if the method of the login has one."""
        method = self._named(name)
        try:
            return None if method is None else method.logout_url(logout)
        except Exception:
            logger.exception("Login method %s has no page for a logout", name)
            return None

    def _named(self, name: str) -> LoginMethod[object] | None:
        for method in self.methods:
            if method.name == name:
                return method
        return None

    def _authenticate(
        self, method: LoginMethod[object], attempt: LoginAttempt
    ) -> VerifiedCredential | None:
        try:
            verified = method.authenticate(attempt)
        except LoginRejected as rejected:
            kind = self._refusals.get(rejected.code)
            raise (ApiError(kind) if kind else InvalidCredentials()) from rejected
        except LoginUnavailable as error:
            level = logging.ERROR if error.misconfigured else logging.WARNING
            logger.log(level, "Login method %s is unavailable: %s", method.name, error)
            raise Unavailable(retry_after=error.retry_after) from error
        if verified is None:
            return None
        return require_result(method, "authenticate", verified, VerifiedCredential)
