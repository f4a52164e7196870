"""Operations on own data. Written by clients/python/generate_client.py from the OpenAPI document."""

from ..models import Done, ScheduledDeletion
from ..operations import UNSET, Operation, Unset, segment


def cancel_deletion(
    user_id: str,
) -> Operation[Done]:
    """Cancel the scheduled deletion of the caller (`me`).

    404 if none is scheduled. The user is notified, and can schedule a deletion again.
    """
    return Operation(
        "DELETE",
        f"/users/{segment(user_id)}/deletion",
        Done,
    )


def export_own_data(
    user_id: str,
    *,
    x_verification_code: str | Unset = UNSET,
    x_current_password: str | Unset = UNSET,
) -> Operation[bytes]:
    """Export what the server stores about the caller (`me`): a ZIP archive of JSON files.

    It has neither passwords nor keys, and of files only the names, because their content belongs to the
    tenant. It needs a fresh proof: a code for `unbind`, the current password, or a login within the last
    10 minutes. By default, a user can have two a day.
    """
    return Operation(
        "POST",
        f"/users/{segment(user_id)}/exports",
        bytes,
        headers={
            "X-Verification-Code": x_verification_code,
            "X-Current-Password": x_current_password,
        },
    )


def get_deletion(
    user_id: str,
) -> Operation[ScheduledDeletion]:
    """Get the scheduled deletion of the caller (`me`).

    404 if none is scheduled. Only the user can read it here; administrators see `deletionDueAt` of the
    user.
    """
    return Operation(
        "GET",
        f"/users/{segment(user_id)}/deletion",
        ScheduledDeletion,
    )


def schedule_deletion(
    user_id: str,
    *,
    x_verification_code: str | Unset = UNSET,
    x_current_password: str | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> Operation[ScheduledDeletion]:
    """Schedule the deletion of the caller (`me`), who can cancel it for 14 days, by default.

    The caller's other logins end, and the caller is notified. It needs a fresh proof, as `deleteUser`. A
    second request does not postpone it.
    """
    return Operation(
        "POST",
        f"/users/{segment(user_id)}/deletion",
        ScheduledDeletion,
        headers={
            "X-Verification-Code": x_verification_code,
            "X-Current-Password": x_current_password,
            "Idempotency-Key": idempotency_key,
        },
    )
