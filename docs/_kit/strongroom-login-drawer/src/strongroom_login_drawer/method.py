"""The login method: whose password it is."""

from strongroom.plugin_api.login import (
    Credential,
    LoginAttempt,
    LoginMethod,
    LoginRejected,
    VerifiedCredential,
)

from strongroom_login_drawer import accounts
from strongroom_login_drawer.options import DrawerOptions


class DrawerLogin(LoginMethod[DrawerOptions]):
    """Checks the password of ``name@domain`` by a file of accounts.

    Every other attempt is left to the methods that are asked later. Ask a directory, say by LDAP,
    where ``accounts`` is asked here, and the rest stays as it is.
    """

    name = "drawer"
    options_type = DrawerOptions

    def authenticate(self, attempt: LoginAttempt) -> VerifiedCredential | None:
        name, _, domain = (attempt.username or "").strip().casefold().rpartition("@")
        if not name or not attempt.password or domain != self.options.domain.casefold():
            return None
        if not accounts.is_right(self.options.accounts, name, attempt.password):
            raise LoginRejected("no such account, or another password")
        # A kind of its own: an e-mail address that nobody has verified must not lead to a user.
        credential = Credential("drawer", f"{name}@{domain}")
        return VerifiedCredential(credential, may_register=True, display_name=name)
