"""Users: registration, what they may see and change of themselves, and what administrators may."""

from typing import Any

from flask import request

from strongroom.accounts.registration import Registration, RegistrationService
from strongroom.accounts.schemas import NewUserSchema, UserChangeSchema, UserSchema
from strongroom.accounts.service import AccountService
from strongroom.errors import (
    CaptchaInvalid,
    CaptchaRequired,
    CodeInvalid,
    CredentialTaken,
    Forbidden,
    InvitationRequired,
    NotFound,
    PreconditionFailed,
    RegistrationClosed,
    RevisionConflict,
)
from strongroom.plugin_api.login import VerificationCode
from strongroom.users.models import User
from strongroom.verification.captchas import CaptchaAnswer
from strongroom.web.blueprint import Blueprint
from strongroom.web.components import use
from strongroom.web.envelope import PagingQuery, collection_of, envelope, paging
from strongroom.web.guard import Access, current_identity
from strongroom.web.location import Location
from strongroom.web.requests import origin

blueprint = Blueprint("users", __name__, url_prefix="/users", description="Who there is.")

Json = dict[str, Any]
Tagged = tuple[User, int, dict[str, str]]


@blueprint.operation(
    "POST",
    "",
    access=Access.PUBLIC,
    body=NewUserSchema,
    returns=UserSchema,
    status=201,
    location=Location("users.get_user", {"user_id": "id"}),
    errors=(
        CodeInvalid,
        CaptchaRequired,
        CaptchaInvalid,
        RegistrationClosed,
        InvitationRequired,
        CredentialTaken,
    ),
    limit="register_per_address",
)
def create_user(body: Json) -> Tagged:
    """Register, with a verification code for each e-mail address and mobile number.

    With neither of them, by a username alone, registration needs a captcha.
    """
    codes = [VerificationCode(**code) for code in body.pop("verificationCodes")]
    captcha = body.pop("captcha")
    user = use(RegistrationService).register(
        Registration(**body), codes, CaptchaAnswer(**captcha) if captcha else None, origin()
    )
    return _tagged(user, 201)


@blueprint.operation(
    "GET", "", access=Access.ADMIN, query=PagingQuery, returns=collection_of(UserSchema)
)
def list_users(query: dict[str, int]) -> Json:
    """List all users, oldest first."""
    return envelope(use(AccountService).page(paging(query)))


@blueprint.operation(
    "GET",
    "/<user_id>",
    access=Access.USER,
    returns=UserSchema,
    errors=(Forbidden, NotFound),
    response_headers=("ETag",),
)
def get_user(user_id: str) -> Tagged:
    """Get a user: oneself, also as `me`; administrators, anybody."""
    return _tagged(use(AccountService).get(current_identity(), own_id(user_id)))


@blueprint.operation(
    "PATCH",
    "/<user_id>",
    access=Access.USER,
    body=UserChangeSchema,
    returns=UserSchema,
    errors=(Forbidden, NotFound, RevisionConflict, PreconditionFailed),
    request_headers=("If-Match",),
    response_headers=("ETag",),
)
def change_user(user_id: str, body: Json) -> Tagged:
    """Change one's name; administrators may change anybody's, and the type."""
    accounts, identity = use(AccountService), current_identity()
    user_id = own_id(user_id)
    revision = body.pop("revision", None)
    if "If-Match" in request.headers:
        user = accounts.get(identity, user_id)
        if not request.if_match.contains(str(user.revision)) and not request.if_match.star_tag:
            raise PreconditionFailed
        revision = revision or user.revision
    return _tagged(accounts.change(identity, user_id, body, revision, origin()))


@blueprint.operation(
    "POST", "/<user_id>/suspension", access=Access.ADMIN, returns=UserSchema, errors=(NotFound,)
)
def suspend_user(user_id: str) -> Tagged:
    """Keep a user out; every token of the user dies at once."""
    return _tagged(use(AccountService).suspend(current_identity(), user_id, origin()))


@blueprint.operation(
    "DELETE", "/<user_id>/suspension", access=Access.ADMIN, returns=UserSchema, errors=(NotFound,)
)
def reinstate_user(user_id: str) -> Tagged:
    """Let a suspended user log in again."""
    return _tagged(use(AccountService).reinstate(current_identity(), user_id, origin()))


def own_id(user_id: str) -> str:
    """Return the caller's id for ``me``, and any other as it is."""
    return current_identity().user_id if user_id == "me" else user_id


def _tagged(user: User, status: int = 200) -> Tagged:
    return user, status, {"ETag": f'"{user.revision}"'}
