"""Routes for user accounts and the setup of the first administrator."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, Final
from urllib.parse import unquote

from flask import Response, request

from strongroom.foundation import errors
from strongroom.identity import operations
from strongroom.identity.accounts.bindings import CODE_HEADER
from strongroom.identity.accounts.first_administrator import Setup
from strongroom.identity.accounts.reauthentication import (
    FRESH_LOGIN,
    Proof,
    ProofFields,
    Reauthentication,
)
from strongroom.identity.accounts.registration import Registration, RegistrationService
from strongroom.identity.accounts.schemas import (
    NewUserSchema,
    SetupSchema,
    UserChangeSchema,
    UserQuery,
    UserSchema,
)
from strongroom.identity.accounts.service import AccountDeletion, AccountService
from strongroom.identity.accounts.start_views import StartPages
from strongroom.identity.users.models import SINGLE_KINDS, User, UserType
from strongroom.identity.verification.captchas import CaptchaAnswer
from strongroom.identity.verification.codes import Purpose
from strongroom.plugin_api.login import VerificationCode
from strongroom.web.http.access import Access, current_identity, own_id
from strongroom.web.http.conditions import expected_revision
from strongroom.web.http.html import Pages
from strongroom.web.http.locations import Location
from strongroom.web.http.pages import collection_of, envelope, paging
from strongroom.web.http.parsing import DONE, DoneSchema
from strongroom.web.http.request import PAIR_PATTERN, get_service, header_pair, origin
from strongroom.web.http.routing import Blueprint

setup_blueprint = Blueprint(
    "setup", __name__, url_prefix="/setup", description="The first administrator."
)

_PAGES: Final = Pages("strongroom.identity.accounts")
_PAGE = {"responses": {"200": {"description": "A page", "content": {"text/html": {}}}}}


@setup_blueprint.operation("GET", "", access=Access.PUBLIC, document=_PAGE)
def show_setup_page() -> Response:
    """Get the setup page. The token is in the URL fragment, which browsers do not send."""
    pages = get_service(StartPages)
    return _PAGES.render(
        "setup.html",
        is_open=get_service(Setup).is_open(),
        next_pages=pages.links(),
        start_path=f"{pages.base_path}/",
    )


@setup_blueprint.operation(
    "POST",
    "",
    access=Access.PUBLIC,
    body=SetupSchema,
    returns=UserSchema,
    status=201,
    location=Location("users.get_user", {"user_id": "id"}),
    errors=(errors.SetupLinkInvalid, errors.CredentialTaken),
    limit="setup_per_address",
)
def create_first_administrator(body: dict[str, Any]) -> User:
    """Create the first administrator, with the token of the link that the operator has issued.

    The link is valid for one use within an hour, and only while there is no administrator.
    """
    token = body.pop("token")
    return get_service(Setup).redeem(token, Registration(kind=UserType.ADMIN, **body), origin())


PASSWORD_HEADER: Final = "X-Current-Password"  # noqa: S105  the name of a header

PROOF_HEADERS: Final = ProofFields(CODE_HEADER, PASSWORD_HEADER)

PROOF_PARAMETERS: Final[list[dict[str, Any]]] = [
    {
        "name": CODE_HEADER,
        "in": "header",
        "required": False,
        "schema": {"type": "string", "pattern": PAIR_PATTERN},
        "description": "`{id}.{code}` of a code sent to one of the user's contacts",
    },
    {
        "name": PASSWORD_HEADER,
        "in": "header",
        "required": False,
        "schema": {"type": "string"},
        "description": "The current password, percent-encoded UTF-8 (`encodeURIComponent`)",
    },
]


def proof_of_headers() -> Proof:
    """Return the proof in the headers of the current request.

    Raises:
        ValidationFailed: the code does not have the form ``{id}.{code}``.
    """
    # Clients percent-encode the password, because header values are limited to Latin-1.
    pair, password = header_pair(CODE_HEADER), request.headers.get(PASSWORD_HEADER)
    return Proof(
        VerificationCode(*pair) if pair else None, unquote(password) if password is not None else None
    )


PROOF_ERRORS: Final = (
    errors.CodeInvalid,
    errors.WrongPassword,
    errors.FreshProofRequired,
    errors.TooManyRequests,
)
"""Errors of :func:`require_fresh_proof`."""


def require_fresh_proof() -> None:
    """Require any one proof of the caller before a change that cannot be undone.

    That is a code for ``unbind``, the current password, or a login within the last 10 minutes.

    Raises:
        CodeInvalid, WrongPassword, FreshProofRequired, TooManyRequests: see :meth:`require_any`.
    """
    get_service(Reauthentication).require_any(
        current_identity(),
        proof_of_headers(),
        Purpose.UNBIND,
        login_age=FRESH_LOGIN,
        fields=PROOF_HEADERS,
    )


blueprint = Blueprint("users", __name__, url_prefix="/users", description="User accounts.")

Json = dict[str, Any]
Tagged = tuple[Json, int, dict[str, str]]


@blueprint.operation(
    "POST",
    "",
    access=Access.PUBLIC,
    body=NewUserSchema,
    returns=UserSchema,
    status=201,
    location=Location("users.get_user", {"user_id": "id"}),
    errors=(
        errors.CodeInvalid,
        errors.CaptchaRequired,
        errors.CaptchaInvalid,
        errors.RegistrationClosed,
        errors.InvitationRequired,
        errors.CredentialTaken,
    ),
    limit="register_per_address",
)
def create_user(body: Json) -> Tagged:
    """Register, with a verification code for each e-mail address and mobile number.

    A registration with only a username needs a captcha.
    """
    codes = [VerificationCode(**code) for code in body.pop("verificationCodes")]
    captcha, invitation = body.pop("captcha"), body.pop("invitation")
    user = get_service(RegistrationService).register(
        Registration(**body),
        codes,
        CaptchaAnswer(**captcha) if captcha else None,
        origin(),
        invitation,
    )
    return _tagged(user, 201)


@blueprint.operation(
    "GET",
    "",
    access=Access.ADMIN,
    rule=operations.LIST_USERS,
    query=UserQuery,
    returns=collection_of(UserSchema),
)
def list_users(query: Json) -> Json:
    """List users, oldest first. Filters are combined with AND."""
    filters = {name: value for name, value in query.items() if not name.startswith("page")}
    page = get_service(AccountService).page(paging(query), filters)
    contacts = get_service(AccountService).contacts_of([user.id for user in page.items])
    return envelope(page, lambda user: _shown(user, contacts))


@blueprint.operation(
    "GET",
    "/<user_id>",
    access=Access.USER,
    rule=operations.GET_USER,
    returns=UserSchema,
    errors=(errors.Forbidden, errors.NotFound),
    response_headers=("ETag",),
)
def get_user(user_id: str) -> Tagged:
    """Get a user. `me` is the caller; administrators may get any user."""
    return _tagged(get_service(AccountService).get(current_identity(), own_id(user_id)))


@blueprint.operation(
    "PATCH",
    "/<user_id>",
    access=Access.USER,
    body=UserChangeSchema,
    returns=UserSchema,
    errors=(errors.Forbidden, errors.NotFound, errors.RevisionConflict, errors.PreconditionFailed),
    request_headers=("If-Match",),
    response_headers=("ETag",),
)
def change_user(user_id: str, body: Json) -> Tagged:
    """Change the caller's name and locale. Administrators may change any user, and the type."""
    accounts, identity = get_service(AccountService), current_identity()
    user_id = own_id(user_id)

    def current() -> tuple[int, tuple[()]]:
        return accounts.get(identity, user_id).revision, ()

    revision = expected_revision(body.pop("revision", None), current)
    return _tagged(accounts.change(identity, user_id, body, revision, origin()))


@blueprint.operation(
    "DELETE",
    "/<user_id>",
    access=Access.USER,
    rule=operations.DELETE_USER,
    returns=DoneSchema,
    errors=(
        errors.Forbidden,
        errors.NotFound,
        errors.LastAdministrator,
        errors.CodeInvalid,
        errors.WrongPassword,
        errors.FreshProofRequired,
        errors.TooManyRequests,
    ),
    document={"parameters": PROOF_PARAMETERS},
)
def delete_user(user_id: str) -> dict[str, bool]:
    """Delete the caller (`me`) or, as an administrator, any user.

    Tokens and credentials are revoked immediately. Files stay with their tenants. Personal data are
    erased later. Users who delete themselves need a fresh proof: a code for `unbind`, the current
    password, or a login within the last 10 minutes.
    """
    get_service(AccountDeletion).delete(
        current_identity(), own_id(user_id), proof_of_headers(), PROOF_HEADERS, origin()
    )
    return DONE


@blueprint.operation(
    "POST",
    "/<user_id>/suspension",
    access=Access.ADMIN,
    rule=operations.SUSPEND_USER,
    returns=UserSchema,
    errors=(errors.NotFound,),
)
def suspend_user(user_id: str) -> Tagged:
    """Suspend a user. Revokes all tokens of the user immediately."""
    return _tagged(get_service(AccountService).suspend(current_identity(), user_id, origin()))


@blueprint.operation(
    "DELETE",
    "/<user_id>/suspension",
    access=Access.ADMIN,
    rule=operations.SUSPEND_USER,
    returns=UserSchema,
    errors=(errors.NotFound,),
)
def reinstate_user(user_id: str) -> Tagged:
    """Let a suspended user log in again."""
    return _tagged(get_service(AccountService).reinstate(current_identity(), user_id, origin()))


def _tagged(user: User, status: int = 200) -> Tagged:
    shown = _shown(user, get_service(AccountService).contacts_of([user.id]))
    return shown, status, {"ETag": f'"{user.revision}"'}


def _shown(user: User, contacts: Mapping[str, Mapping[str, str]]) -> Json:
    return {**dict.fromkeys(SINGLE_KINDS), **asdict(user), **contacts.get(user.id, {})}
