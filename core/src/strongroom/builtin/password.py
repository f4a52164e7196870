"""Login with a credential and a password."""

from typing import Any

from strongroom.plugin_api import NoOptions, hookimpl
from strongroom.plugin_api.login import (
    Assurance,
    LoginAttempt,
    LoginMethod,
    LoginRejected,
    VerifiedCredential,
)

API_VERSION = "2.0"


class PasswordLogin(LoginMethod[NoOptions]):
    """Checks attempts with a password. An empty password counts as missing."""

    name = "password"
    # This method accepts no verification codes.
    code_recipients = frozenset()

    def authenticate(self, attempt: LoginAttempt) -> VerifiedCredential | None:
        if not attempt.username or not attempt.password:
            return None
        credential = self.proofs.check_password(attempt.username, attempt.password)
        if credential is None:
            raise LoginRejected("unknown credential or wrong password")
        return VerifiedCredential(credential, assurance=Assurance(("pwd",)))


@hookimpl
def register_login_methods() -> list[type[LoginMethod[Any]]]:
    return [PasswordLogin]
