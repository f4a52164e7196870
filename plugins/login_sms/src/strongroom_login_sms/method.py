"""The login method: a mobile number and a verification code sent to it."""

from strongroom.plugin_api.code_login import CodeLogin
from strongroom_login_sms.options import SmsLoginOptions


class SmsLogin(CodeLogin[SmsLoginOptions]):
    """Verifies the code sent to a mobile number; an unbound number may register a new user."""

    name = "sms"
    options_type = SmsLoginOptions
    code_recipients = frozenset({"mobile"})
    amr = "sms"
