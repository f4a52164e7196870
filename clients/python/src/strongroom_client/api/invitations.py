"""Operations on invitations. Written by clients/python/generate_client.py from the OpenAPI document."""

from ..models import (
    AcceptedInvitation,
    Done,
    Invitation,
    InvitationCollection,
    InvitationPreview,
    InvitationSecret,
    NewInvitation,
    ReceivedInvitationCollection,
)
from ..operations import UNSET, Operation, Unset, segment


def accept_invitation(
    user_id: str,
    invitation_id: str,
) -> Operation[AcceptedInvitation]:
    """Accept an invitation to a contact of the caller.

    The caller joins the tenant with the role and the groups of the invitation; an administrator of the
    tenant keeps the role `admin`. It is 404 if the inviter no longer administers the tenant.
    """
    return Operation(
        "POST",
        f"/users/{segment(user_id)}/invitations/{segment(invitation_id)}/acceptance",
        AcceptedInvitation,
    )


def accept_invitation_secret(
    *,
    body: InvitationSecret,
) -> Operation[AcceptedInvitation]:
    """Accept an invitation by the secret of its message, whatever contacts the caller has.

    The caller joins the tenant with the role and the groups of the invitation, which cannot be used
    again. An administrator of the tenant keeps the role `admin`. A wrong, used, replaced or expired
    secret is 404.
    """
    return Operation(
        "POST",
        "/api/v1/invitation-acceptances",
        AcceptedInvitation,
        body=body,
    )


def create_invitation(
    tenant_id: str,
    *,
    body: NewInvitation,
    idempotency_key: str | Unset = UNSET,
) -> Operation[Invitation]:
    """Invite an e-mail address or a mobile number, as an administrator of the tenant.

    It replaces an open invitation of the same contact. The response is the same whether or not a user
    holds the contact.
    """
    return Operation(
        "POST",
        f"/api/v1/tenants/{segment(tenant_id)}/invitations",
        Invitation,
        headers={
            "Idempotency-Key": idempotency_key,
        },
        body=body,
    )


def decline_invitation(
    user_id: str,
    invitation_id: str,
) -> Operation[Done]:
    """Decline an invitation to a contact of the caller.

    It is removed without a membership. Administrators of the tenant may invite the contact again.
    """
    return Operation(
        "DELETE",
        f"/users/{segment(user_id)}/invitations/{segment(invitation_id)}",
        Done,
    )


def delete_invitation(
    tenant_id: str,
    invitation_id: str,
) -> Operation[Done]:
    """Withdraw an open invitation, as an administrator of the tenant.

    The link in its message no longer works. A membership that it has become already stays.
    """
    return Operation(
        "DELETE",
        f"/api/v1/tenants/{segment(tenant_id)}/invitations/{segment(invitation_id)}",
        Done,
    )


def get_invitation(
    tenant_id: str,
    invitation_id: str,
) -> Operation[Invitation]:
    """Get an open invitation, as an administrator of the tenant.

    An invitation that was accepted, declined or withdrawn, or has expired, is 404. Its secret is only
    in the message to the recipient.
    """
    return Operation(
        "GET",
        f"/api/v1/tenants/{segment(tenant_id)}/invitations/{segment(invitation_id)}",
        Invitation,
    )


def list_invitations(
    tenant_id: str,
    *,
    page_size: int | Unset = UNSET,
    page_number: int | Unset = UNSET,
    cursor: None | str | Unset = UNSET,
) -> Operation[InvitationCollection]:
    """List the open invitations of a tenant, newest first, for its administrators.

    Secrets are not included. Invitations that were accepted, declined or withdrawn, or have expired,
    are not listed.
    """
    return Operation(
        "GET",
        f"/api/v1/tenants/{segment(tenant_id)}/invitations",
        InvitationCollection,
        query={
            "pageSize": page_size,
            "pageNumber": page_number,
            "cursor": cursor,
        },
    )


def list_received_invitations(
    user_id: str,
    *,
    page_size: int | Unset = UNSET,
    page_number: int | Unset = UNSET,
    cursor: None | str | Unset = UNSET,
) -> Operation[ReceivedInvitationCollection]:
    """List the open invitations to the caller's e-mail address and mobile number.

    Only verified contacts count. `userId` must be the caller or `me`.
    """
    return Operation(
        "GET",
        f"/users/{segment(user_id)}/invitations",
        ReceivedInvitationCollection,
        query={
            "pageSize": page_size,
            "pageNumber": page_number,
            "cursor": cursor,
        },
    )


def preview_invitation(
    *,
    body: InvitationSecret,
) -> Operation[InvitationPreview]:
    """Get the open invitation of a secret, which changes nothing.

    The response is the same for a secret that is wrong, used, replaced or expired.
    """
    return Operation(
        "POST",
        "/api/v1/invitation-previews",
        InvitationPreview,
        body=body,
    )


def resend_invitation(
    tenant_id: str,
    invitation_id: str,
) -> Operation[Invitation]:
    """Send an invitation again, with a new secret and a new end; the former secret is void.

    The caller, an administrator of the tenant, becomes the inviter. Messages are limited per recipient
    and per inviter.
    """
    return Operation(
        "POST",
        f"/api/v1/tenants/{segment(tenant_id)}/invitations/{segment(invitation_id)}/resend",
        Invitation,
    )
