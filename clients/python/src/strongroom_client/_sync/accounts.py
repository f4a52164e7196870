"""What users do with their own account."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias

import msgspec

from ..api import credentials, managed_users, passkeys, users, verification
from ..concurrency import in_thread
from ..models import (
    CodeRequest,
    CodeRequestPurpose,
    ContactLink,
    ContactRestoration,
    Factor,
    LoginPasskeyNewChallenge,
    NewPasskey,
    NewUser,
    PasskeyName,
    PasswordReset,
    RestorableContact,
    SentCode,
    User,
    VerificationCode,
)
from ..operations import UNSET
from .captchas import Captchas
from .sending import PAGE_SIZE, Sender
from .session import Session

Authenticator: TypeAlias = Callable[[dict[str, Any]], Mapping[str, Any]]
"""Creates or uses a passkey: takes the options as JSON, and returns the JSON of the credential (WebAuthn
Level 3, sections 5.1.8 and 5.1.9). Python has no authenticator; a program has one of its own."""


class Accounts:
    """Registers users, resets passwords, restores contacts, and changes passkeys.

    Args:
        sender: sends operations of the user.
        session: sends operations without a login.
        captchas: solve the captchas that codes and registrations need.
    """

    def __init__(self, sender: Sender, session: Session, captchas: Captchas) -> None:
        self._sender = sender
        self._session = session
        self._captchas = captchas

    def register(self, new: NewUser) -> User:
        """Create a user, without a login.

        An e-mail address or a mobile number needs the code that was sent to it, in
        ``verification_codes``; a user with a username only needs a captcha.

        Raises:
            ValidationFailed: ``details`` has the error of each field.
            CaptchaRequired: a captcha is needed, and the client has no hook for it.
            CredentialTaken: another user has the username.
        """
        captcha = None if new.verification_codes else self._captchas.solve()
        body = msgspec.structs.replace(new, captcha=captcha or new.captcha)
        return self._session.send(users.create_user(body=body), is_anonymous=True)

    def send_code(self, recipient: str, purpose: CodeRequestPurpose) -> SentCode:
        """Send a code to an e-mail address or a mobile number. The result has the id of the code.

        The result is the same whether or not a user has the recipient.

        Raises:
            CaptchaRequired: the client has no hook for captchas.
            TooManyRequests: ``retry_after`` has the seconds until another code can be sent.
        """
        captcha = self._captchas.solve()
        body = CodeRequest(recipient=recipient, purpose=purpose, captcha=captcha or UNSET)
        return self._sender.send(verification.send_verification_code(body=body))

    def reset_password(self, credential: str, code: VerificationCode, new_password: str) -> None:
        """Set a new password with a code of the purpose ``reset-password``. All logins end.

        Args:
            credential: the e-mail address or the mobile number that got the code.

        Raises:
            CodeInvalid: the code is wrong, used or expired.
        """
        body = PasswordReset(verification_code=code, new_password=new_password)
        operation = credentials.reset_password(credential, body=body)
        self._session.send(operation, is_anonymous=True)

    def preview_restoration(self, token: str) -> RestorableContact:
        """Return what the link in the notice of a changed contact does. Nothing changes.

        Args:
            token: the end of the link, as in ``/account/restore/{token}``.

        Raises:
            ContactLinkInvalid: the link is unknown, used or expired.
        """
        operation = managed_users.preview_contact_restoration(body=ContactLink(token=token))
        return self._session.send(operation, is_anonymous=True)

    def restore_contact(self, token: str, new_password: str) -> None:
        """Undo the change of a contact by such a link. All logins and access keys end.

        Raises:
            ContactLinkInvalid: the link is unknown, used or expired.
            CredentialTaken: another user has the contact meanwhile.
        """
        body = ContactRestoration(token=token, new_password=new_password)
        operation = managed_users.restore_contact(body=body)
        self._session.send(operation, is_anonymous=True)

    def passkeys(self) -> Iterator[Factor]:
        """Iterate over the passkeys of the user, oldest first."""
        return self._sender.iterate(passkeys.list_passkeys("me", page_size=PAGE_SIZE))

    def add_passkey(self, authenticator: Authenticator, name: str = "") -> Factor:
        """Add a passkey to the user, on a server with the plugin ``login_passkey``.

        Raises:
            StepUpRequired: a recent proof of the login is needed; see :meth:`Client.step_up`.
        """
        challenge = self._sender.send(passkeys.create_passkey_challenge("me"))
        credential = in_thread(authenticator, challenge.public_key)
        body = NewPasskey(challenge_id=challenge.id, credential=dict(credential), name=name)
        return self._sender.send(passkeys.add_passkey("me", body=body))

    def rename_passkey(self, passkey_id: str, name: str) -> Factor:
        """Rename a passkey."""
        operation = passkeys.rename_passkey("me", passkey_id, body=PasskeyName(name=name))
        return self._sender.send(operation)

    def remove_passkey(self, passkey_id: str) -> None:
        """Remove a passkey.

        Raises:
            StepUpRequired: a recent proof of the login is needed; see :meth:`Client.step_up`.
        """
        self._sender.send(passkeys.remove_passkey("me", passkey_id))

    def passkey_proof(self, authenticator: Authenticator) -> dict[str, Any]:
        """Return the proof of a passkey, for a login."""
        operation = passkeys.create_login_challenge(body=LoginPasskeyNewChallenge())
        challenge = self._session.send(operation, is_anonymous=True)
        credential = in_thread(authenticator, challenge.public_key)
        return {"id": challenge.id, "passkey": dict(credential)}
