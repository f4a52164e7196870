"""Operations on authenticator apps. Written by clients/python/generate_client.py from the OpenAPI document."""

from ..models import Done, NewTotp, TotpCode, TotpConfirmed, TotpSecret
from ..operations import UNSET, Operation, Unset, segment


def confirm_totp(
    user_id: str,
    *,
    body: TotpCode,
    x_verification_code: str | Unset = UNSET,
    x_current_password: str | Unset = UNSET,
) -> Operation[TotpConfirmed]:
    """Finish the enrolment with a code of the app; from now on every login requires one.

    A user without recovery codes gets them in this response only; each replaces the app once.
    `createTotp` is the first step.
    """
    return Operation(
        "POST",
        f"/users/{segment(user_id)}/totp/confirmation",
        TotpConfirmed,
        headers={
            "X-Verification-Code": x_verification_code,
            "X-Current-Password": x_current_password,
        },
        body=body,
    )


def create_totp(
    user_id: str,
    *,
    body: NewTotp | Unset = UNSET,
    x_verification_code: str | Unset = UNSET,
    x_current_password: str | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> Operation[TotpSecret]:
    """Get a secret for an authenticator app, with a fresh proof.

    It is in force after `confirmTotp`, within 5 minutes; until then a further call replaces it.
    """
    return Operation(
        "POST",
        f"/users/{segment(user_id)}/totp",
        TotpSecret,
        headers={
            "X-Verification-Code": x_verification_code,
            "X-Current-Password": x_current_password,
            "Idempotency-Key": idempotency_key,
        },
        body=body,
    )


def remove_totp(
    user_id: str,
    *,
    x_verification_code: str | Unset = UNSET,
    x_current_password: str | Unset = UNSET,
) -> Operation[Done]:
    """Remove the authenticator app, with a fresh proof.

    Logins of the user require another second factor from now on, or none if this was the last one.
    """
    return Operation(
        "DELETE",
        f"/users/{segment(user_id)}/totp",
        Done,
        headers={
            "X-Verification-Code": x_verification_code,
            "X-Current-Password": x_current_password,
        },
    )
