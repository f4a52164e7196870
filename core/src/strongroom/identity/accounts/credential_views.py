"""Routes for login credentials: e-mail addresses, mobile numbers, usernames and passwords."""

from typing import Any

from strongroom.foundation import errors
from strongroom.foundation.config import Settings
from strongroom.foundation.limits.service import Allowance, RateLimits
from strongroom.identity import operations
from strongroom.identity.accounts.bindings import CODE_HEADER, BindingService
from strongroom.identity.accounts.change_password import PasswordService
from strongroom.identity.accounts.first_password import FirstPassword
from strongroom.identity.accounts.reauthentication import Proof
from strongroom.identity.accounts.schemas import (
    AvailabilitySchema,
    NewEmailSchema,
    NewMobileSchema,
    PasswordChangeSchema,
    PasswordResetSchema,
    PasswordSchema,
    StrengthSchema,
    UsernameSchema,
)
from strongroom.identity.users.models import EMAIL, MOBILE, BoundCredential
from strongroom.identity.users.password_policy import strength
from strongroom.identity.verification.captchas import CaptchaAnswer, CaptchaService
from strongroom.plugin_api.login import VerificationCode
from strongroom.plugin_api.schemas import (
    BoundCredentialSchema,
    DoneSchema,
    PagingQuery,
    collection_schema,
)
from strongroom.web.http.access import Access, current_identity, own_id
from strongroom.web.http.paging import envelope, paging
from strongroom.web.http.parsing import DONE
from strongroom.web.http.request import PAIR_PATTERN, get_service, header_pair, origin
from strongroom.web.http.routing import Blueprint

blueprint = Blueprint(
    "credentials",
    description="Login credentials.",
    parameters={"credential": "An e-mail address, a mobile number or a username, in any spelling"},
)

Json = dict[str, Any]

CAPTCHA_HEADER = "X-Captcha"

_CODE_PARAMETER: Json = {
    "name": CODE_HEADER,
    "in": "header",
    "required": True,
    "schema": {"type": "string", "pattern": PAIR_PATTERN},
    "description": "`{id}.{code}` of a code sent to one of the user's contacts",
}
_CAPTCHA_PARAMETER: Json = {
    "name": CAPTCHA_HEADER,
    "in": "header",
    "required": False,
    "schema": {"type": "string", "pattern": PAIR_PATTERN},
    "description": "`{id}.{answer}` of a captcha",
}
PROOF_ERRORS = (
    errors.StepUpRequired,
    errors.CodeInvalid,
    errors.WrongPassword,
    errors.FreshProofRequired,
    errors.TooManyRequests,
)
_BIND_ERRORS = (errors.Forbidden, errors.NotFound, errors.CredentialTaken, *PROOF_ERRORS)
_UNBIND_ERRORS = (
    errors.Forbidden,
    errors.NotFound,
    errors.LastContact,
    errors.CodeInvalid,
    errors.TooManyRequests,
)


@blueprint.operation(
    "GET",
    "/credentials/<credential>/available",
    access=Access.PUBLIC,
    returns=AvailabilitySchema,
    errors=(errors.CaptchaRequired, errors.CaptchaInvalid, errors.Unavailable),
    document={"parameters": [_CAPTCHA_PARAMETER]},
)
def check_credential_available(credential: str) -> dict[str, bool]:
    """Check whether a credential can be used for registration. Frequent checks need captchas.

    `available` is also `false` for a text that is no valid credential. After many checks from an
    address, the header X-Captcha is required.
    """
    # The route reveals whether an account exists, so enumeration is slowed down by captchas.
    if not get_service(RateLimits).has_room("available_per_address"):
        answer = header_pair(CAPTCHA_HEADER)
        if answer is None:
            raise errors.CaptchaRequired
        get_service(CaptchaService).consume(CaptchaAnswer(*answer), origin().address)
    return {"available": get_service(BindingService).is_available(credential)}


@blueprint.operation(
    "GET",
    "/users/<user_id>/credentials",
    access=Access.USER,
    query=PagingQuery,
    returns=collection_schema(BoundCredentialSchema),
    errors=(errors.Forbidden, errors.NotFound),
)
def list_credentials(user_id: str, query: Json) -> Json:
    """List the credentials of a user, oldest first. Passwords are not included.

    For the user and for administrators. Accounts of other platforms that the user logs in with are among
    them.
    """
    page = get_service(BindingService).page(current_identity(), own_id(user_id), paging(query))
    return envelope(page)


@blueprint.operation(
    "POST",
    "/users/<user_id>/emails",
    access=Access.USER,
    rule=operations.BIND,
    body=NewEmailSchema,
    returns=BoundCredentialSchema,
    status=201,
    errors=_BIND_ERRORS,
)
def bind_email(user_id: str, body: Json) -> BoundCredential:
    """Bind an e-mail address. It replaces the previous one.

    Requires a login or step-up within the last 10 minutes. After that, requires a code sent to a
    current contact; without contacts, the current password.
    """
    return _bind(user_id, EMAIL, body)


@blueprint.operation(
    "DELETE",
    "/users/<user_id>/emails",
    access=Access.USER,
    rule=operations.UNBIND,
    returns=DoneSchema,
    errors=_UNBIND_ERRORS,
    document={"parameters": [_CODE_PARAMETER]},
)
def unbind_email(user_id: str) -> dict[str, bool]:
    """Unbind the e-mail address. The user must have a mobile number.

    Requires a code for `unbind`, sent to a contact of the user, in X-Verification-Code.
    """
    return _unbind(user_id, EMAIL)


@blueprint.operation(
    "POST",
    "/users/<user_id>/mobiles",
    access=Access.USER,
    rule=operations.BIND,
    body=NewMobileSchema,
    returns=BoundCredentialSchema,
    status=201,
    errors=_BIND_ERRORS,
)
def bind_mobile(user_id: str, body: Json) -> BoundCredential:
    """Bind a mobile number. It replaces the previous one. Requires the proofs of `bind_email`.

    The number is in the body with a code for `bind` that was sent to it.
    """
    return _bind(user_id, MOBILE, body)


@blueprint.operation(
    "DELETE",
    "/users/<user_id>/mobiles",
    access=Access.USER,
    rule=operations.UNBIND,
    returns=DoneSchema,
    errors=_UNBIND_ERRORS,
    document={"parameters": [_CODE_PARAMETER]},
)
def unbind_mobile(user_id: str) -> dict[str, bool]:
    """Unbind the mobile number. The user must have an e-mail address.

    Requires a code for `unbind`, sent to a contact of the user, in X-Verification-Code.
    """
    return _unbind(user_id, MOBILE)


@blueprint.operation(
    "PUT",
    "/users/<user_id>/username",
    access=Access.USER,
    rule=operations.SET_USERNAME,
    body=UsernameSchema,
    returns=BoundCredentialSchema,
    errors=_BIND_ERRORS,
)
def set_username(user_id: str, body: Json) -> BoundCredential:
    """Set the login username. Limited per day, because each attempt reveals whether a name is taken.

    Requires one proof: a code sent to a current contact, the current password, or a login within the
    last 5 minutes.
    """
    name, rates = "username_changes_per_user", get_service(Settings).limits.username_changes_per_user
    get_service(RateLimits).spend(Allowance(name, current_identity().user_id, rates))
    return get_service(BindingService).set_username(
        current_identity(), own_id(user_id), body["username"], _proof(body), origin()
    )


@blueprint.operation(
    "PUT",
    "/users/<user_id>/password",
    access=Access.USER,
    rule=operations.CHANGE_PASSWORD,
    body=PasswordChangeSchema,
    returns=StrengthSchema,
    errors=(errors.Forbidden, *PROOF_ERRORS),
)
def change_password(user_id: str, body: Json) -> Json:
    """Change the password; requires the old one. Revokes all other tokens of the user immediately.

    A user without a password sets the first one, with a code sent to a current contact; without
    contacts, with a login within the last 5 minutes.
    """
    identity, user_id, new = current_identity(), own_id(user_id), body["newPassword"]
    if body["oldPassword"] is None:
        proof = Proof(_held_code(body))
        return {"strength": get_service(FirstPassword).set(identity, user_id, new, proof, origin())}
    old = body["oldPassword"]
    return {"strength": get_service(PasswordService).change(identity, user_id, old, new, origin())}


@blueprint.operation(
    "POST",
    "/users/<credential>/reset-password",
    access=Access.PUBLIC,
    body=PasswordResetSchema,
    returns=DoneSchema,
    errors=(errors.CodeInvalid,),
    limit="reset_per_address",
)
def reset_password(credential: str, body: Json) -> dict[str, bool]:
    """Set a new password with a reset code. Revokes all tokens of the user immediately.

    The code, for `reset-password`, was sent to the credential in the path. The error for a wrong code is
    the same whether or not a user has the credential.
    """
    code = VerificationCode(**body["verificationCode"])
    get_service(PasswordService).reset(credential, code, body["newPassword"], origin())
    return DONE


@blueprint.operation(
    "POST",
    "/password-strength",
    access=Access.PUBLIC,
    body=PasswordSchema,
    returns=StrengthSchema,
    limit="strength_per_address",
)
def judge_password(body: Json) -> Json:
    """Estimate how hard a password is to guess.

    For forms that show the strength while a user types. It says nothing about the rules that a new
    password must meet.
    """
    return {"strength": strength(body["password"])}


def _bind(user_id: str, kind: str, body: Json) -> BoundCredential:
    return get_service(BindingService).bind(
        current_identity(),
        own_id(user_id),
        kind,
        body[kind],
        VerificationCode(**body["verificationCode"]),
        _proof(body),
        origin(),
    )


def _proof(body: Json) -> Proof:
    return Proof(_held_code(body), body["currentPassword"])


def _held_code(body: Json) -> VerificationCode | None:
    held = body["heldCode"]
    return VerificationCode(**held) if held else None


def _unbind(user_id: str, kind: str) -> dict[str, bool]:
    code = header_pair(CODE_HEADER)
    get_service(BindingService).unbind(
        current_identity(), own_id(user_id), kind, VerificationCode(*code) if code else None, origin()
    )
    return DONE
