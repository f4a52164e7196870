"""Operations on credentials. Written by clients/python/generate_client.py from the OpenAPI document."""

from ..models import (
    Availability,
    BoundCredential,
    BoundCredentialCollection,
    Done,
    NewEmail,
    NewMobile,
    Password,
    PasswordChange,
    PasswordReset,
    Strength,
    Username,
)
from ..operations import UNSET, Operation, Unset, segment


def bind_email(
    user_id: str,
    *,
    body: NewEmail,
    idempotency_key: str | Unset = UNSET,
) -> Operation[BoundCredential]:
    """Bind an e-mail address. It replaces the previous one.

    Requires a login or step-up within the last 10 minutes. After that, requires a code sent to a
    current contact; without contacts, the current password.
    """
    return Operation(
        "POST",
        f"/users/{segment(user_id)}/emails",
        BoundCredential,
        headers={
            "Idempotency-Key": idempotency_key,
        },
        body=body,
    )


def bind_mobile(
    user_id: str,
    *,
    body: NewMobile,
    idempotency_key: str | Unset = UNSET,
) -> Operation[BoundCredential]:
    """Bind a mobile number. It replaces the previous one. Requires the proofs of `bind_email`.

    The number is in the body with a code for `bind` that was sent to it.
    """
    return Operation(
        "POST",
        f"/users/{segment(user_id)}/mobiles",
        BoundCredential,
        headers={
            "Idempotency-Key": idempotency_key,
        },
        body=body,
    )


def change_password(
    user_id: str,
    *,
    body: PasswordChange,
) -> Operation[Strength]:
    """Change the password; requires the old one. Revokes all other tokens of the user immediately.

    A user without a password sets the first one, with a code sent to a current contact; without
    contacts, with a login within the last 5 minutes.
    """
    return Operation(
        "PUT",
        f"/users/{segment(user_id)}/password",
        Strength,
        body=body,
    )


def check_credential_available(
    credential: str,
    *,
    x_captcha: str | Unset = UNSET,
) -> Operation[Availability]:
    """Check whether a credential can be used for registration. Frequent checks need captchas.

    `available` is also `false` for a text that is no valid credential. After many checks from an
    address, the header X-Captcha is required.
    """
    return Operation(
        "GET",
        f"/credentials/{segment(credential)}/available",
        Availability,
        headers={
            "X-Captcha": x_captcha,
        },
    )


def judge_password(
    *,
    body: Password,
) -> Operation[Strength]:
    """Estimate how hard a password is to guess.

    For forms that show the strength while a user types. It says nothing about the rules that a new
    password must meet.
    """
    return Operation(
        "POST",
        "/password-strength",
        Strength,
        body=body,
    )


def list_credentials(
    user_id: str,
    *,
    page_size: int | Unset = UNSET,
    page_number: int | Unset = UNSET,
    cursor: None | str | Unset = UNSET,
) -> Operation[BoundCredentialCollection]:
    """List the credentials of a user, oldest first. Passwords are not included.

    For the user and for administrators. Accounts of other platforms that the user logs in with are among
    them.
    """
    return Operation(
        "GET",
        f"/users/{segment(user_id)}/credentials",
        BoundCredentialCollection,
        query={
            "pageSize": page_size,
            "pageNumber": page_number,
            "cursor": cursor,
        },
    )


def reset_password(
    credential: str,
    *,
    body: PasswordReset,
) -> Operation[Done]:
    """Set a new password with a reset code. Revokes all tokens of the user immediately.

    The code, for `reset-password`, was sent to the credential in the path. The error for a wrong code is
    the same whether or not a user has the credential.
    """
    return Operation(
        "POST",
        f"/users/{segment(credential)}/reset-password",
        Done,
        body=body,
    )


def set_username(
    user_id: str,
    *,
    body: Username,
) -> Operation[BoundCredential]:
    """Set the login username. Limited per day, because each attempt reveals whether a name is taken.

    Requires one proof: a code sent to a current contact, the current password, or a login within the
    last 5 minutes.
    """
    return Operation(
        "PUT",
        f"/users/{segment(user_id)}/username",
        BoundCredential,
        body=body,
    )


def unbind_email(
    user_id: str,
    *,
    x_verification_code: str,
) -> Operation[Done]:
    """Unbind the e-mail address. The user must have a mobile number.

    Requires a code for `unbind`, sent to a contact of the user, in X-Verification-Code.
    """
    return Operation(
        "DELETE",
        f"/users/{segment(user_id)}/emails",
        Done,
        headers={
            "X-Verification-Code": x_verification_code,
        },
    )


def unbind_mobile(
    user_id: str,
    *,
    x_verification_code: str,
) -> Operation[Done]:
    """Unbind the mobile number. The user must have an e-mail address.

    Requires a code for `unbind`, sent to a contact of the user, in X-Verification-Code.
    """
    return Operation(
        "DELETE",
        f"/users/{segment(user_id)}/mobiles",
        Done,
        headers={
            "X-Verification-Code": x_verification_code,
        },
    )
