"""The login method: an e-mail address and a verification code sent to it."""

from strongroom.plugin_api.code_login import CodeLogin
from strongroom_login_email.options import EmailLoginOptions


class EmailLogin(CodeLogin[EmailLoginOptions]):
    """Verifies the code sent to an e-mail address, or the link in the same message."""

    name = "email_code"
    options_type = EmailLoginOptions
    code_recipients = frozenset({"email"})
    # RFC 8176 has no value for an e-mail address. "otp" is the value for authenticator apps.
    amr = "email"
