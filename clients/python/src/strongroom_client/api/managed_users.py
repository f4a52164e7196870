"""Operations on managed users. Written by clients/python/generate_client.py from the OpenAPI document."""

from ..models import (
    BoundCredential,
    ChangeMetadataBody,
    ChangeMetadataResponse200,
    ChangeServerMetadataBody,
    ChangeServerMetadataResponse200,
    Contact,
    ContactLink,
    ContactRestoration,
    Done,
    GetMetadataResponse200,
    GetServerMetadataResponse200,
    NewPasswordLink,
    PasswordLink,
    PasswordLinkRedemption,
    RestorableContact,
    TemporaryPassword,
)
from ..operations import UNSET, Operation, Unset, segment


def change_metadata(
    user_id: str,
    *,
    body: ChangeMetadataBody,
) -> Operation[ChangeMetadataResponse200]:
    """Merge members into the JSON object of a user (RFC 7396); `null` removes one. At most 16 KiB.

    For the user and for administrators. The response is the whole object after the change.
    """
    return Operation(
        "PATCH",
        f"/users/{segment(user_id)}/metadata",
        ChangeMetadataResponse200,
        body=body,
    )


def change_server_metadata(
    user_id: str,
    *,
    body: ChangeServerMetadataBody,
) -> Operation[ChangeServerMetadataResponse200]:
    """Merge members into the object of administrators (RFC 7396); `null` removes one. At most 16 KiB.

    For administrators. The response is the whole object after the change.
    """
    return Operation(
        "PATCH",
        f"/users/{segment(user_id)}/server-metadata",
        ChangeServerMetadataResponse200,
        body=body,
    )


def create_password_link(
    user_id: str,
    *,
    body: NewPasswordLink,
    idempotency_key: str | Unset = UNSET,
) -> Operation[PasswordLink]:
    """Create a link by which a user sets a password, once. It voids the former ones of its kind.

    It is sent to the user's e-mail address, or else to the mobile number. With `send: false` it is
    returned instead, unless the user is an administrator.
    """
    return Operation(
        "POST",
        f"/users/{segment(user_id)}/links",
        PasswordLink,
        headers={
            "Idempotency-Key": idempotency_key,
        },
        body=body,
    )


def get_metadata(
    user_id: str,
) -> Operation[GetMetadataResponse200]:
    """Get the JSON object that a user writes (`me`: the caller). Never authorise anything by it.

    For the user and for administrators. Other services may keep settings there, such as a theme.
    """
    return Operation(
        "GET",
        f"/users/{segment(user_id)}/metadata",
        GetMetadataResponse200,
    )


def get_server_metadata(
    user_id: str,
) -> Operation[GetServerMetadataResponse200]:
    """Get the JSON object about a user that only administrators read and write.

    For administrators; the user cannot read it. Other services may keep facts there, such as a customer
    number.
    """
    return Operation(
        "GET",
        f"/users/{segment(user_id)}/server-metadata",
        GetServerMetadataResponse200,
    )


def give_temporary_password(
    user_id: str,
    *,
    idempotency_key: str | Unset = UNSET,
) -> Operation[TemporaryPassword]:
    """Replace the password of a user by a temporary one, which is shown only now.

    It is valid for 72 hours, and the login with it requires a new password. All logins of the user end,
    and the user is notified.
    """
    return Operation(
        "POST",
        f"/users/{segment(user_id)}/temporary-password",
        TemporaryPassword,
        headers={
            "Idempotency-Key": idempotency_key,
        },
    )


def preview_contact_restoration(
    *,
    body: ContactLink,
) -> Operation[RestorableContact]:
    """Get what the link in a notice of a changed contact does. Nothing changes.

    The contacts in the response are masked, because the link may be in the wrong hands. `restoreContact`
    uses the link.
    """
    return Operation(
        "POST",
        "/users/contact-restoration-previews",
        RestorableContact,
        body=body,
    )


def redeem_password_link(
    *,
    body: PasswordLinkRedemption,
) -> Operation[Done]:
    """Set a password by the token of a link. All logins of the user end.

    The link is consumed; it stays valid if the password is refused.
    """
    return Operation(
        "POST",
        "/users/password-links",
        Done,
        body=body,
    )


def remove_contact(
    user_id: str,
    kind: str,
) -> Operation[Done]:
    """Remove the `email`, `mobile` or `username` of a user, even the last one.

    For administrators, not for their own account. The user is notified at the former contact.
    """
    return Operation(
        "DELETE",
        f"/users/{segment(user_id)}/contacts/{segment(kind)}",
        Done,
    )


def restore_contact(
    *,
    body: ContactRestoration,
) -> Operation[Done]:
    """Take back a former contact by the link in its notice, within 7 days, and set a password.

    All logins and access keys of the user end. Contacts and logins of platforms that were added since
    the change, or in the 7 days before, are removed, and second factors that were added since. The link
    is consumed, and links of later changes become invalid; it stays valid if the password is refused.
    """
    return Operation(
        "POST",
        "/users/contact-restorations",
        Done,
        body=body,
    )


def set_contact(
    user_id: str,
    kind: str,
    *,
    body: Contact,
) -> Operation[BoundCredential]:
    """Set the `email`, `mobile` or `username` of a user; it replaces the former one.

    Codes and links that were sent to the former contact become invalid, and the user is notified at
    both. A contact that is not `verified` proves nothing until the user returns a code sent to it.
    """
    return Operation(
        "PUT",
        f"/users/{segment(user_id)}/contacts/{segment(kind)}",
        BoundCredential,
        body=body,
    )
