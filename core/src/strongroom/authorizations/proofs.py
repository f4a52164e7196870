"""Checks of passwords and verification codes for login methods."""

from strongroom.credentials.service import CredentialService
from strongroom.plugin_api.login import Credential, VerificationCode
from strongroom.verification.codes import CodeService, Purpose


class CoreProofs:
    """Implements :class:`strongroom.plugin_api.login.Proofs`."""

    def __init__(self, credentials: CredentialService, codes: CodeService) -> None:
        self._credentials = credentials
        self._codes = codes

    def identify(self, text: str) -> Credential | None:
        return self._credentials.identify(text)

    def check_password(self, username: str, password: str) -> Credential | None:
        return self._credentials.check_password(username, password)

    def spend_code(self, code: VerificationCode, recipient: str, purpose: str) -> Credential | None:
        credential = self._credentials.identify(recipient)
        if credential is None or not self._codes.spend(code, credential, Purpose(purpose)):
            return None
        return credential
