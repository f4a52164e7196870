"""Operations on users. Written by clients/python/generate_client.py from the OpenAPI document."""

from ..models import (
    Done,
    ListUsersSort,
    ListUsersStatus,
    ListUsersType,
    NewUser,
    Suspension,
    User,
    UserChange,
    UserCollection,
)
from ..operations import UNSET, Operation, Unset, segment


def change_user(
    user_id: str,
    *,
    body: UserChange | Unset = UNSET,
    if_match: str | Unset = UNSET,
    if_none_match: str | Unset = UNSET,
) -> Operation[User]:
    """Change the caller's name, locale and time zone.

    Administrators may change any user, and the other members.

    A change of the type or to `suspended` ends all that the user could do until then.
    """
    return Operation(
        "PATCH",
        f"/users/{segment(user_id)}",
        User,
        headers={
            "If-Match": if_match,
            "If-None-Match": if_none_match,
        },
        body=body,
    )


def create_user(
    *,
    body: NewUser,
) -> Operation[User]:
    """Register, with a verification code for each e-mail address and mobile number.

    The secret of an invitation by e-mail takes the place of the code for its address. A registration
    with only a username needs a captcha. With an administrator's token, the route
    creates a user without a code, a captcha or a password, even if registration is closed. Tokens of
    other users change nothing.
    """
    return Operation(
        "POST",
        "/users",
        User,
        body=body,
    )


def delete_user(
    user_id: str,
    *,
    x_verification_code: str | Unset = UNSET,
    x_current_password: str | Unset = UNSET,
    if_match: str | Unset = UNSET,
    if_none_match: str | Unset = UNSET,
) -> Operation[Done]:
    """Delete the caller (`me`) or, as an administrator, any user.

    Tokens and credentials are revoked immediately. Files stay with their tenants. Personal data are
    erased later. Users who delete themselves need a fresh proof: a code for `unbind`, the current
    password, or a login within the last 10 minutes.
    """
    return Operation(
        "DELETE",
        f"/users/{segment(user_id)}",
        Done,
        headers={
            "X-Verification-Code": x_verification_code,
            "X-Current-Password": x_current_password,
            "If-Match": if_match,
            "If-None-Match": if_none_match,
        },
    )


def get_user(
    user_id: str,
    *,
    if_match: str | Unset = UNSET,
    if_none_match: str | Unset = UNSET,
) -> Operation[User]:
    """Get a user. `me` is the caller; administrators may get any user.

    Other callers get `error.forbidden`. `suspensionReason` is there for administrators only.
    """
    return Operation(
        "GET",
        f"/users/{segment(user_id)}",
        User,
        headers={
            "If-Match": if_match,
            "If-None-Match": if_none_match,
        },
    )


def list_users(
    *,
    page_size: int | Unset = UNSET,
    page_number: int | Unset = UNSET,
    cursor: None | str | Unset = UNSET,
    q: str | Unset = UNSET,
    email: str | Unset = UNSET,
    mobile: str | Unset = UNSET,
    username: str | Unset = UNSET,
    status: ListUsersStatus | Unset = UNSET,
    type_: ListUsersType | Unset = UNSET,
    external_id: str | Unset = UNSET,
    sort: ListUsersSort | Unset = UNSET,
) -> Operation[UserCollection]:
    """List users, by default the oldest first. Filters are combined with AND.

    `q` finds at most 1,000 users: those who were created most recently, or whose name or contacts have
    changed most recently. From 10,000 users on, `totalCount` may be a minute old.
    """
    return Operation(
        "GET",
        "/users",
        UserCollection,
        query={
            "pageSize": page_size,
            "pageNumber": page_number,
            "cursor": cursor,
            "q": q,
            "email": email,
            "mobile": mobile,
            "username": username,
            "status": status,
            "type": type_,
            "externalId": external_id,
            "sort": sort,
        },
    )


def reinstate_user(
    user_id: str,
    *,
    if_match: str | Unset = UNSET,
    if_none_match: str | Unset = UNSET,
) -> Operation[User]:
    """Let a suspended user log in again.

    For administrators. What the suspension has ended, such as tokens and access keys, stays so; a user
    who is not suspended does not change.
    """
    return Operation(
        "DELETE",
        f"/users/{segment(user_id)}/suspension",
        User,
        headers={
            "If-Match": if_match,
            "If-None-Match": if_none_match,
        },
    )


def suspend_user(
    user_id: str,
    *,
    body: Suspension | Unset = UNSET,
    if_match: str | Unset = UNSET,
    if_none_match: str | Unset = UNSET,
) -> Operation[User]:
    """Suspend a user, until a reinstatement or until a time.

    Tokens, access keys, codes, links and open uploads of the user end immediately and permanently.
    """
    return Operation(
        "POST",
        f"/users/{segment(user_id)}/suspension",
        User,
        headers={
            "If-Match": if_match,
            "If-None-Match": if_none_match,
        },
        body=body,
    )
