"""The login method: a mobile number and a verification code sent to it."""

from strongroom.plugin_api.login import (
    Assurance,
    LoginAttempt,
    LoginMethod,
    LoginRejected,
    VerificationCode,
    VerifiedCredential,
)
from strongroom_login_sms.options import SmsLoginOptions

PURPOSE = "login"


class SmsLogin(LoginMethod[SmsLoginOptions]):
    """Verifies the code sent to a mobile number; an unbound number may register a new user."""

    name = "sms"
    options_type = SmsLoginOptions
    code_recipients = frozenset({"mobile"})

    def authenticate(self, attempt: LoginAttempt) -> VerifiedCredential | None:
        if attempt.password or not attempt.username or not attempt.verification_code:
            return None
        identified = self.proofs.identify(attempt.username)
        if identified is None or identified.kind != "mobile":
            return None
        return self._prove(attempt.username, attempt.verification_code)

    def _prove(self, number: str, code: VerificationCode) -> VerifiedCredential:
        credential = self.proofs.spend_code(code, number, PURPOSE)
        if credential is None:
            raise LoginRejected("the verification code is wrong, used, expired or another number's")
        return VerifiedCredential(
            credential, may_register=self.options.register, assurance=Assurance(("sms",))
        )
