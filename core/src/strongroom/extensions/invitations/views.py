"""Endpoints for invitations to tenants."""

from typing import Any

from strongroom.content.tenants import operations
from strongroom.content.tenants.models import Invitation, Role
from strongroom.content.tenants.schemas import (
    AcceptedInvitationSchema,
    InvitationPreviewSchema,
    InvitationSchema,
    InvitationSecretSchema,
    NewInvitationSchema,
    ReceivedInvitationSchema,
)
from strongroom.extensions.invitations.listing import InvitationListing, SentInvitation
from strongroom.extensions.invitations.messages import InvitationLinks
from strongroom.extensions.invitations.previews import InvitationPreviews
from strongroom.extensions.invitations.received import ReceivedInvitations
from strongroom.extensions.invitations.service import InvitationRequest, InvitationService
from strongroom.foundation import errors
from strongroom.plugin_api.schemas import DoneSchema, PagingQuery, collection_schema
from strongroom.plugin_api.web import Location
from strongroom.web.http.access import Access, current_identity, own_id
from strongroom.web.http.paging import envelope, paging, reference
from strongroom.web.http.parsing import DONE
from strongroom.web.http.request import get_service, origin
from strongroom.web.http.routing import Blueprint

Json = dict[str, Any]

_OF_TENANT = "/api/v1/tenants/<tenant_id>/invitations"
_ONE = f"{_OF_TENANT}/<invitation_id>"
_OF_USER = "/users/<user_id>/invitations"
_PRIVILEGED = "the role is `admin` or `records`"

blueprint = Blueprint(
    "invitations",
    description="Invitations to tenants by e-mail or mobile.",
    parameters={
        "invitation_id": "Id of the invitation; not its secret",
    },
)


@blueprint.operation(
    "POST",
    _OF_TENANT,
    access=Access.USER,
    rule=operations.INVITE,
    also={operations.INVITE_PRIVILEGED: _PRIVILEGED},
    body=NewInvitationSchema,
    returns=InvitationSchema,
    status=201,
    location=Location("invitations.get_invitation", {"tenant_id": "tenantId", "invitation_id": "id"}),
    errors=(
        errors.Forbidden,
        errors.NotImplementedHere,
        errors.TooManyRequests,
        errors.TooManyInvitations,
    ),
)
def create_invitation(tenant_id: str, body: Json) -> Json:
    """Invite an e-mail address or a mobile number, as an administrator of the tenant.

    It replaces an open invitation of the same contact. The response is the same whether or not a user
    holds the contact.
    """
    requested = InvitationRequest(body["email"], body["mobile"], Role(body["role"]), body["groups"])
    service, links = get_service(InvitationService), get_service(InvitationLinks)
    return _serialize(service.create(current_identity(), tenant_id, requested, origin(), links))


@blueprint.operation(
    "GET",
    _OF_TENANT,
    access=Access.USER,
    rule=operations.LIST_INVITATIONS,
    query=PagingQuery,
    returns=collection_schema(InvitationSchema),
    errors=(errors.Forbidden,),
)
def list_invitations(tenant_id: str, query: dict[str, int]) -> Json:
    """List the open invitations of a tenant, newest first, for its administrators.

    Secrets are not included. Invitations that were accepted, declined or withdrawn, or have expired,
    are not listed.
    """
    service = get_service(InvitationListing)
    page, included = service.page(current_identity(), tenant_id, paging(query))
    return envelope(page, _serialize, included)


@blueprint.operation(
    "GET",
    _ONE,
    access=Access.USER,
    rule=operations.LIST_INVITATIONS,
    returns=InvitationSchema,
    errors=(errors.Forbidden, errors.NotFound),
)
def get_invitation(tenant_id: str, invitation_id: str) -> Json:
    """Get an open invitation, as an administrator of the tenant.

    An invitation that was accepted, declined or withdrawn, or has expired, is 404. Its secret is only
    in the message to the recipient.
    """
    service = get_service(InvitationListing)
    return _serialize(service.get(current_identity(), tenant_id, invitation_id))


@blueprint.operation(
    "POST",
    f"{_ONE}/resend",
    access=Access.USER,
    rule=operations.INVITE,
    also={operations.INVITE_PRIVILEGED: _PRIVILEGED},
    returns=InvitationSchema,
    errors=(
        errors.Forbidden,
        errors.NotFound,
        errors.NotImplementedHere,
        errors.TooManyRequests,
    ),
)
def resend_invitation(tenant_id: str, invitation_id: str) -> Json:
    """Send an invitation again, with a new secret and a new end; the former secret is void.

    The caller, an administrator of the tenant, becomes the inviter. Messages are limited per recipient
    and per inviter.
    """
    service, links = get_service(InvitationService), get_service(InvitationLinks)
    return _serialize(service.resend(current_identity(), tenant_id, invitation_id, origin(), links))


@blueprint.operation(
    "DELETE",
    _ONE,
    access=Access.USER,
    rule=operations.REVOKE_INVITATION,
    returns=DoneSchema,
    errors=(errors.Forbidden, errors.NotFound),
)
def delete_invitation(tenant_id: str, invitation_id: str) -> dict[str, bool]:
    """Withdraw an open invitation, as an administrator of the tenant.

    The link in its message no longer works. A membership that it has become already stays.
    """
    get_service(InvitationService).delete(current_identity(), tenant_id, invitation_id, origin())
    return DONE


@blueprint.operation(
    "POST",
    "/api/v1/invitation-previews",
    access=Access.PUBLIC,
    body=InvitationSecretSchema,
    returns=InvitationPreviewSchema,
    errors=(errors.NotFound,),
    limit="public_per_address",
)
def preview_invitation(body: Json) -> Json:
    """Get the open invitation of a secret, which changes nothing.

    The response is the same for a secret that is wrong, used, replaced or expired.
    """
    preview = get_service(InvitationPreviews).of_secret(body["secret"])
    names = {"tenantName": preview.tenant_name, "inviterName": preview.inviter_name}
    return {**_contact(preview.invitation), **names}


@blueprint.operation(
    "POST",
    "/api/v1/invitation-acceptances",
    access=Access.USER,
    rule=operations.ANSWER_INVITATION,
    body=InvitationSecretSchema,
    returns=AcceptedInvitationSchema,
    errors=(errors.NotFound,),
)
def accept_invitation_secret(body: Json) -> Json:
    """Accept an invitation by the secret of its message, whatever contacts the caller has.

    The caller joins the tenant with the role and the groups of the invitation, which cannot be used
    again. An administrator of the tenant keeps the role `admin`. A wrong, used, replaced or expired
    secret is 404.
    """
    service = get_service(ReceivedInvitations)
    tenant_id, role = service.accept_secret(current_identity(), body["secret"], origin())
    return {"tenantId": tenant_id, "role": role.value}


@blueprint.operation(
    "GET",
    _OF_USER,
    access=Access.USER,
    rule=operations.ANSWER_INVITATION,
    query=PagingQuery,
    returns=collection_schema(ReceivedInvitationSchema),
    errors=(errors.Forbidden,),
)
def list_received_invitations(user_id: str, query: dict[str, int]) -> Json:
    """List the open invitations to the caller's e-mail address and mobile number.

    Only verified contacts count. `userId` must be the caller or `me`.
    """
    service = get_service(ReceivedInvitations)
    page, senders = service.received(current_identity(), own_id(user_id), paging(query))
    return envelope(page, _serialize_received, senders)


@blueprint.operation(
    "POST",
    f"{_OF_USER}/<invitation_id>/acceptance",
    access=Access.USER,
    rule=operations.ANSWER_INVITATION,
    returns=AcceptedInvitationSchema,
    errors=(errors.Forbidden, errors.NotFound),
)
def accept_invitation(user_id: str, invitation_id: str) -> Json:
    """Accept an invitation to a contact of the caller.

    The caller joins the tenant with the role and the groups of the invitation; an administrator of the
    tenant keeps the role `admin`. It is 404 if the inviter no longer administers the tenant.
    """
    service = get_service(ReceivedInvitations)
    tenant_id, role = service.accept(current_identity(), own_id(user_id), invitation_id, origin())
    return {"tenantId": tenant_id, "role": role.value}


@blueprint.operation(
    "DELETE",
    f"{_OF_USER}/<invitation_id>",
    access=Access.USER,
    rule=operations.ANSWER_INVITATION,
    returns=DoneSchema,
    errors=(errors.Forbidden, errors.NotFound),
)
def decline_invitation(user_id: str, invitation_id: str) -> dict[str, bool]:
    """Decline an invitation to a contact of the caller.

    It is removed without a membership. Administrators of the tenant may invite the contact again.
    """
    get_service(ReceivedInvitations).decline(
        current_identity(), own_id(user_id), invitation_id, origin()
    )
    return DONE


def _serialize(sent: SentInvitation) -> Json:
    invitation = sent.invitation
    return {
        **_contact(invitation),
        "groups": list(sent.group_ids),
        "invitedBy": reference(invitation.invited_by),
        "createdAt": invitation.created_at,
    }


def _contact(invitation: Invitation) -> Json:
    """Return who is invited to what, as JSON."""
    return {
        "id": invitation.id,
        "tenantId": invitation.tenant_id,
        "email": invitation.contact.address if invitation.kind == "email" else None,
        "mobile": invitation.recipient if invitation.kind == "mobile" else None,
        "role": invitation.role,
        "expiresAt": invitation.expires_at,
    }


def _serialize_received(sent: SentInvitation) -> Json:
    return {**_serialize(sent), "tenantName": sent.tenant_name}
