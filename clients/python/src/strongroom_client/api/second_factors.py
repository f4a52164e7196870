"""Operations on second factors. Written by clients/python/generate_client.py from the OpenAPI document."""

from ..models import (
    ConfirmedFactor,
    Done,
    DueAnswer,
    EnrolledTokens,
    Enrolment,
    FactorAnswer,
    FactorName,
    Factors,
    FactorStateCollection,
    NewDueEnrolment,
    NewFactor,
    RecoveryCodes,
    RemovedFactor,
    RenamedFactor,
    RenewedToken,
    StepUp,
)
from ..operations import UNSET, Operation, Unset, segment


def begin_due_enrolment(
    *,
    body: NewDueEnrolment,
) -> Operation[Enrolment]:
    """Begin the enrolment of a user whose login got `error.second-factor-enrolment-required`.

    `id` is the id of its `enrolment`, which permits nothing else. May be repeated with another kind.
    """
    return Operation(
        "POST",
        "/authorizations/enrolments",
        Enrolment,
        body=body,
    )


def begin_factor(
    user_id: str,
    *,
    body: NewFactor,
    x_verification_code: str | Unset = UNSET,
    x_current_password: str | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> Operation[Enrolment]:
    """Begin the enrolment in a second factor; `confirm_factor` finishes it within 5 minutes.

    Requires a code, the current password, or a login within the last 10 minutes; a user with a second
    factor needs a login or step-up by it within the last 10 minutes.
    """
    return Operation(
        "POST",
        f"/users/{segment(user_id)}/factors",
        Enrolment,
        headers={
            "X-Verification-Code": x_verification_code,
            "X-Current-Password": x_current_password,
            "Idempotency-Key": idempotency_key,
        },
        body=body,
    )


def confirm_due_enrolment(
    *,
    body: DueAnswer,
) -> Operation[EnrolledTokens]:
    """Finish the enrolment with the right answer, and log in; the response is the same as a login's.

    `id` is in `enrolment` of the login's error, and `enrolmentId` in the response that began the
    enrolment. A wrong answer may be corrected until the tries are consumed.
    """
    return Operation(
        "POST",
        "/authorizations/enrolments/confirmation",
        EnrolledTokens,
        body=body,
    )


def confirm_factor(
    user_id: str,
    enrolment_id: str,
    *,
    body: FactorAnswer | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> Operation[ConfirmedFactor]:
    """Finish an enrolment with the right answer; from now on every login requires a second factor.

    For the user only. `shown` has what no later response contains: the codes, if the factor is a
    sheet of recovery codes.
    """
    return Operation(
        "POST",
        f"/users/{segment(user_id)}/factors/{segment(enrolment_id)}/confirmation",
        ConfirmedFactor,
        headers={
            "Idempotency-Key": idempotency_key,
        },
        body=body,
    )


def create_recovery_codes(
    user_id: str,
    *,
    x_verification_code: str | Unset = UNSET,
    x_current_password: str | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> Operation[RecoveryCodes]:
    """Get a new sheet of recovery codes, which the response contains only once; it voids the old one.

    Requires the same proof as `begin_factor`. A user without another second factor gets none.
    """
    return Operation(
        "POST",
        f"/users/{segment(user_id)}/recovery-codes",
        RecoveryCodes,
        headers={
            "X-Verification-Code": x_verification_code,
            "X-Current-Password": x_current_password,
            "Idempotency-Key": idempotency_key,
        },
    )


def list_factors(
    user_id: str,
    *,
    page_size: int | Unset = UNSET,
    page_number: int | Unset = UNSET,
    cursor: None | str | Unset = UNSET,
) -> Operation[Factors]:
    """List the second factors of a user, oldest first. Secrets are not included.

    For the user and for administrators. `shown` is empty for administrators, because it is meant for the
    devices of the user.
    """
    return Operation(
        "GET",
        f"/users/{segment(user_id)}/factors",
        Factors,
        query={
            "pageSize": page_size,
            "pageNumber": page_number,
            "cursor": cursor,
        },
    )


def remove_factor(
    user_id: str,
    factor_id: str,
    *,
    x_verification_code: str | Unset = UNSET,
    x_current_password: str | Unset = UNSET,
) -> Operation[RemovedFactor]:
    """Remove a second factor, with a login or step-up by one within the last 10 minutes.

    The recovery codes are removed with the last other factor. A factor that the user could log in with,
    such as a passkey, is not removed if it is the last login option.
    """
    return Operation(
        "DELETE",
        f"/users/{segment(user_id)}/factors/{segment(factor_id)}",
        RemovedFactor,
        headers={
            "X-Verification-Code": x_verification_code,
            "X-Current-Password": x_current_password,
        },
    )


def rename_factor(
    user_id: str,
    factor_id: str,
    *,
    body: FactorName,
    x_verification_code: str | Unset = UNSET,
    x_current_password: str | Unset = UNSET,
) -> Operation[RenamedFactor]:
    """Rename a second factor, with the same proof as to remove it.

    For the user only: a wrong name could make the user remove the wrong factor, so it needs the proof.
    """
    return Operation(
        "PATCH",
        f"/users/{segment(user_id)}/factors/{segment(factor_id)}",
        RenamedFactor,
        headers={
            "X-Verification-Code": x_verification_code,
            "X-Current-Password": x_current_password,
        },
        body=body,
    )


def report_factors(
    *,
    page_size: int | Unset = UNSET,
    page_number: int | Unset = UNSET,
    cursor: None | str | Unset = UNSET,
    missing: bool | Unset = UNSET,
) -> Operation[FactorStateCollection]:
    """List the users with the kinds of their second factors, oldest first.

    For administrators. `missing=true` lists only those who must have one and have none.
    """
    return Operation(
        "GET",
        "/second-factors",
        FactorStateCollection,
        query={
            "pageSize": page_size,
            "pageNumber": page_number,
            "cursor": cursor,
            "missing": missing,
        },
    )


def reset_factors(
    user_id: str,
) -> Operation[Done]:
    """Remove all second factors of a user who has lost them, and end all logins of the user.

    For administrators. The user logs in without a second factor afterwards, and enrols one again if the
    server requires it.
    """
    return Operation(
        "DELETE",
        f"/users/{segment(user_id)}/factors",
        Done,
    )


def step_up(
    *,
    body: StepUp | Unset = UNSET,
) -> Operation[RenewedToken]:
    """Renew the proof of the login after `error.step-up-required` (RFC 9470); get a new access token.

    A user with a second factor sends `{}`, gets `error.second-factor-required` with a challenge, and
    answers it in a second request; others send the current password, or a code with purpose `bind`.
    """
    return Operation(
        "POST",
        "/authorizations/current/step-up",
        RenewedToken,
        body=body,
    )
