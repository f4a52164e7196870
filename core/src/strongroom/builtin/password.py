"""Login by a credential and a password."""

from typing import Any

from strongroom.plugin_api import NoOptions, hookimpl
from strongroom.plugin_api.login import LoginAttempt, LoginMethod, LoginRejected, VerifiedCredential

API_VERSION = "1.0"


class PasswordLogin(LoginMethod[NoOptions]):
    """Takes attempts that carry a password; an empty one is none."""

    name = "password"
    code_recipients = frozenset()

    def authenticate(self, attempt: LoginAttempt) -> VerifiedCredential | None:
        if not attempt.username or not attempt.password:
            return None
        credential = self.proofs.check_password(attempt.username, attempt.password)
        if credential is None:
            raise LoginRejected("no such credential, or another password")
        return VerifiedCredential(credential)


@hookimpl
def register_login_methods() -> list[type[LoginMethod[Any]]]:
    return [PasswordLogin]
