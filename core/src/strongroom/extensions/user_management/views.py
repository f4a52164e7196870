"""Routes for users as administrators manage them, and for registration, which has the same path."""

from typing import Any, Final

from marshmallow import Schema

from strongroom.extensions.user_management.administration import manages_users
from strongroom.extensions.user_management.creation import ManagedUser, UserCreation
from strongroom.extensions.user_management.link_urls import LinkUrls
from strongroom.extensions.user_management.links import UrlOf
from strongroom.extensions.user_management.schemas import (
    ManagedUserSchema,
    NewUserSchema,
    RegistrationSchema,
)
from strongroom.foundation import errors
from strongroom.foundation.caller import Identity
from strongroom.foundation.limits.service import RateLimits
from strongroom.identity import operations
from strongroom.identity.accounts.registration import Registration, RegistrationService
from strongroom.identity.accounts.schemas import UserSchema
from strongroom.identity.accounts.views import shown_user
from strongroom.identity.users.metadata import StoredMetadata
from strongroom.identity.users.models import EMAIL, MOBILE, SINGLE_KINDS, User
from strongroom.identity.verification.captchas import CaptchaAnswer
from strongroom.plugin_api.login import VerificationCode
from strongroom.plugin_api.web import Location
from strongroom.web.http.access import Access, optional_identity, presented_token
from strongroom.web.http.request import get_service, origin
from strongroom.web.http.routing import Blueprint

# The routes of this path have the tag of the users' routes.
blueprint = Blueprint("user-management", url_prefix="/users", description="User accounts.")

Json = dict[str, Any]

_REGISTER_LIMIT: Final = "register_per_address"


def _administrator() -> Identity | None:
    """Return the caller if it may manage users."""
    identity = optional_identity()
    return identity if manages_users(identity) else None


def _count_registration() -> None:
    """Count a registration for the client's address, before anything is parsed.

    Callers with a token are counted by the view, because administrators have a limit of their own.
    """
    if presented_token() is None:
        get_service(RateLimits).check(_REGISTER_LIMIT)


def _form_of_caller() -> type[Schema]:
    return RegistrationSchema if _administrator() is None else ManagedUserSchema


@blueprint.operation(
    "POST",
    "",
    access=Access.OPTIONAL,
    rule=operations.REGISTER,
    also={operations.CREATE_USER: "sent by an administrator"},
    body=NewUserSchema,
    select_body=_form_of_caller,
    returns=UserSchema,
    status=201,
    location=Location("users.get_user", {"user_id": "id"}),
    errors=(
        errors.CodeInvalid,
        errors.CaptchaRequired,
        errors.CaptchaInvalid,
        errors.TermsNotAccepted,
        errors.RegistrationClosed,
        errors.InvitationRequired,
        errors.CredentialTaken,
        errors.NotImplementedHere,
    ),
    limit=_count_registration,
    document={"tags": ["users"]},
)
def create_user(body: Json) -> Json:
    """Register, with a verification code for each e-mail address and mobile number.

    The secret of an invitation by e-mail takes the place of the code for its address. A registration
    with only a username needs a captcha. With an administrator's token, the route
    creates a user without a code, a captcha or a password, even if registration is closed. Tokens of
    other users change nothing.
    """
    administrator = _administrator()
    if administrator is not None:
        user = get_service(UserCreation).create(administrator, managed_user(body), origin())
    else:
        user = _register(body)
    return shown_user(user)


def _register(body: Json) -> User:
    if presented_token() is not None:
        get_service(RateLimits).check(_REGISTER_LIMIT)
    codes = [VerificationCode(**code) for code in body.pop("verificationCodes")]
    captcha, invitation = body.pop("captcha"), body.pop("invitation")
    accepted_terms = body.pop("acceptedTerms")
    return get_service(RegistrationService).register(
        Registration(**body),
        codes,
        CaptchaAnswer(**captcha) if captcha else None,
        origin(),
        invitation,
        accepted_terms,
    )


def _invitation_url() -> UrlOf:
    urls = get_service(LinkUrls)
    # Before there is a user.
    urls.require()
    return urls.url


def managed_user(body: Json) -> ManagedUser:
    """Return the user that a loaded :class:`ManagedUserSchema` describes."""
    return ManagedUser(
        name=body["name"],
        names={kind: body[kind] for kind in SINGLE_KINDS if body[kind] is not None},
        verified=frozenset(kind for kind in (EMAIL, MOBILE) if body[f"{kind}Verified"]),
        password=body["password"],
        described_hash=body["passwordHash"],
        change_required=body["passwordChangeRequired"],
        invite=_invitation_url() if body["invite"] else None,
        external_id=body["externalId"],
        metadata=StoredMetadata(body["metadata"], body["serverMetadata"]),
    )
