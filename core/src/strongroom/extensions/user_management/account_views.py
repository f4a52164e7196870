"""Routes by which administrators change how users log in, and what is known about them."""

from typing import Any, Final

from strongroom.extensions.user_management.contact_restoration import (
    ContactRestoration,
    RestorableContact,
)
from strongroom.extensions.user_management.contacts import ManagedContacts
from strongroom.extensions.user_management.link_redemption import LinkRedemption
from strongroom.extensions.user_management.link_urls import LinkUrls
from strongroom.extensions.user_management.links import IssuedLink, PasswordLinks
from strongroom.extensions.user_management.metadata import MetadataService
from strongroom.extensions.user_management.passwords import TemporaryPassword, TemporaryPasswords
from strongroom.extensions.user_management.schemas import (
    MAX_BYTES,
    ContactLinkSchema,
    ContactRestorationSchema,
    ContactSchema,
    NewPasswordLinkSchema,
    PasswordLinkRedemptionSchema,
    PasswordLinkSchema,
    RestorableContactSchema,
    TemporaryPasswordSchema,
    require_small_metadata,
)
from strongroom.foundation import errors
from strongroom.identity import operations
from strongroom.identity.users.account_links import LinkKind
from strongroom.identity.users.models import SINGLE_KINDS, BoundCredential
from strongroom.plugin_api.schemas import BoundCredentialSchema, DoneSchema
from strongroom.web.http.access import Access, current_identity, own_id, refuse_impersonation
from strongroom.web.http.parsing import DONE, parse_object
from strongroom.web.http.request import get_service, origin
from strongroom.web.http.routing import Blueprint

blueprint = Blueprint(
    "managed-users",
    url_prefix="/users",
    description="Users as administrators manage them.",
    parameters={
        "kind": "`email`, `mobile` or `username`",
    },
)

Json = dict[str, Any]

_TAKEOVER: Final = (
    errors.Forbidden,
    errors.NotFound,
    errors.OwnAccount,
    errors.TooManyRequests,
)
_OBJECT: Final = {"application/json": {"schema": {"type": "object", "additionalProperties": True}}}
_READ: Final = {"responses": {"200": {"description": "OK", "content": _OBJECT}}}
_PATCH: Final = {
    **_READ,
    "requestBody": {
        "required": True,
        "content": {"application/merge-patch+json": _OBJECT["application/json"]},
    },
}


@blueprint.operation(
    "PUT",
    "/<user_id>/contacts/<kind>",
    access=Access.ADMIN,
    rule=operations.SET_CONTACTS,
    body=ContactSchema,
    returns=BoundCredentialSchema,
    errors=(*_TAKEOVER, errors.CredentialTaken),
)
def set_contact(user_id: str, kind: str, body: Json) -> BoundCredential:
    """Set the `email`, `mobile` or `username` of a user; it replaces the former one.

    Codes and links that were sent to the former contact become invalid, and the user is notified at
    both. A contact that is not `verified` proves nothing until the user returns a code sent to it.
    """
    return get_service(ManagedContacts).put(
        current_identity(),
        user_id,
        known_contact(kind),
        body["value"],
        origin(),
        is_verified=body["verified"],
    )


@blueprint.operation(
    "DELETE",
    "/<user_id>/contacts/<kind>",
    access=Access.ADMIN,
    rule=operations.SET_CONTACTS,
    returns=DoneSchema,
    errors=_TAKEOVER,
)
def remove_contact(user_id: str, kind: str) -> dict[str, bool]:
    """Remove the `email`, `mobile` or `username` of a user, even the last one.

    For administrators, not for their own account. The user is notified at the former contact.
    """
    get_service(ManagedContacts).remove(current_identity(), user_id, known_contact(kind), origin())
    return DONE


@blueprint.operation(
    "POST",
    "/<user_id>/temporary-password",
    access=Access.ADMIN,
    rule=operations.GIVE_PASSWORD,
    returns=TemporaryPasswordSchema,
    status=201,
    errors=(*_TAKEOVER, errors.Unavailable),
)
def give_temporary_password(user_id: str) -> TemporaryPassword:
    """Replace the password of a user by a temporary one, which is shown only now.

    It is valid for 72 hours, and the login with it requires a new password. All logins of the user end,
    and the user is notified.
    """
    return get_service(TemporaryPasswords).give(current_identity(), user_id, origin())


@blueprint.operation(
    "POST",
    "/<user_id>/links",
    access=Access.ADMIN,
    rule=operations.CREATE_LINK,
    body=NewPasswordLinkSchema,
    returns=PasswordLinkSchema,
    status=201,
    errors=(*_TAKEOVER, errors.NotImplementedHere),
)
def create_password_link(user_id: str, body: Json) -> dict[str, Any]:
    """Create a link by which a user sets a password, once. It voids the former ones of its kind.

    It is sent to the user's e-mail address, or else to the mobile number. With `send: false` it is
    returned instead, unless the user is an administrator.
    """
    links, urls, kind = get_service(PasswordLinks), get_service(LinkUrls), LinkKind(body["kind"])
    urls.require()
    create = links.send if body["send"] else links.issue
    return _link_json(create(current_identity(), user_id, kind, urls.url, origin()))


@blueprint.operation(
    "POST",
    "/password-links",
    access=Access.PUBLIC,
    body=PasswordLinkRedemptionSchema,
    returns=DoneSchema,
    errors=(errors.AccountLinkInvalid, errors.Unavailable),
    limit="reset_per_address",
)
def redeem_password_link(body: dict[str, str]) -> dict[str, bool]:
    """Set a password by the token of a link. All logins of the user end.

    The link is consumed; it stays valid if the password is refused.
    """
    get_service(LinkRedemption).consume(body["token"], body["newPassword"], origin())
    return DONE


@blueprint.operation(
    "POST",
    "/contact-restoration-previews",
    access=Access.PUBLIC,
    body=ContactLinkSchema,
    returns=RestorableContactSchema,
    errors=(errors.ContactLinkInvalid, errors.CredentialTaken),
    limit="reset_per_address",
)
def preview_contact_restoration(body: dict[str, str]) -> RestorableContact:
    """Get what the link in a notice of a changed contact does. Nothing changes.

    The contacts in the response are masked, because the link may be in the wrong hands. `restoreContact`
    uses the link.
    """
    return get_service(ContactRestoration).preview(body["token"])


@blueprint.operation(
    "POST",
    "/contact-restorations",
    access=Access.PUBLIC,
    body=ContactRestorationSchema,
    returns=DoneSchema,
    errors=(
        errors.ContactLinkInvalid,
        errors.CredentialTaken,
        errors.ImpersonationRefused,
        errors.Unavailable,
        errors.UserSuspended,
    ),
    limit="reset_per_address",
)
def restore_contact(body: dict[str, str]) -> dict[str, bool]:
    """Take back a former contact by the link in its notice, within 7 days, and set a password.

    All logins and access keys of the user end. Contacts and logins of platforms that were added since
    the change, or in the 7 days before, are removed, and second factors that were added since. The link
    is consumed, and links of later changes become invalid; it stays valid if the password is refused.
    """
    refuse_impersonation()
    get_service(ContactRestoration).consume(body["token"], body["newPassword"], origin())
    return DONE


@blueprint.operation(
    "GET",
    "/<user_id>/metadata",
    access=Access.USER,
    rule=operations.GET_METADATA,
    errors=(errors.Forbidden, errors.NotFound),
    document=_READ,
)
def get_metadata(user_id: str) -> Json:
    """Get the JSON object that a user writes (`me`: the caller). Never authorise anything by it.

    For the user and for administrators. Other services may keep settings there, such as a theme.
    """
    return get_service(MetadataService).get(current_identity(), own_id(user_id))


@blueprint.operation(
    "PATCH",
    "/<user_id>/metadata",
    access=Access.USER,
    rule=operations.CHANGE_METADATA,
    errors=(errors.Forbidden, errors.NotFound, errors.ValidationFailed),
    max_body=4 * MAX_BYTES,
    document=_PATCH,
)
def change_metadata(user_id: str) -> Json:
    """Merge members into the JSON object of a user (RFC 7396); `null` removes one. At most 16 KiB.

    For the user and for administrators. The response is the whole object after the change.
    """
    return get_service(MetadataService).patch(
        current_identity(), own_id(user_id), parse_object(), require_small_metadata, origin()
    )


@blueprint.operation(
    "GET",
    "/<user_id>/server-metadata",
    access=Access.ADMIN,
    rule=operations.GET_METADATA,
    errors=(errors.NotFound,),
    document=_READ,
)
def get_server_metadata(user_id: str) -> Json:
    """Get the JSON object about a user that only administrators read and write.

    For administrators; the user cannot read it. Other services may keep facts there, such as a customer
    number.
    """
    return get_service(MetadataService).get_server(own_id(user_id))


@blueprint.operation(
    "PATCH",
    "/<user_id>/server-metadata",
    access=Access.ADMIN,
    rule=operations.CHANGE_SERVER_METADATA,
    errors=(errors.NotFound, errors.TooManyRequests, errors.ValidationFailed),
    max_body=4 * MAX_BYTES,
    document=_PATCH,
)
def change_server_metadata(user_id: str) -> Json:
    """Merge members into the object of administrators (RFC 7396); `null` removes one. At most 16 KiB.

    For administrators. The response is the whole object after the change.
    """
    return get_service(MetadataService).patch_server(
        current_identity(), own_id(user_id), parse_object(), require_small_metadata, origin()
    )


def known_contact(kind: str) -> str:
    """Return a kind of contacts.

    Raises:
        NotFound: there is no such kind.
    """
    if kind not in SINGLE_KINDS:
        raise errors.NotFound
    return kind


def _link_json(link: IssuedLink) -> Json:
    url = {} if link.url is None else {"url": link.url}
    return {"expires_at": link.expires_at, **url}
