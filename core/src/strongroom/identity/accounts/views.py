"""Routes for user accounts."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, Final
from urllib.parse import unquote

from flask import request

from strongroom.foundation import errors
from strongroom.identity import operations
from strongroom.identity.accounts.account_deletion import AccountDeletion
from strongroom.identity.accounts.bindings import CODE_HEADER
from strongroom.identity.accounts.reauthentication import (
    FRESH_LOGIN,
    Proof,
    ProofFields,
    Reauthentication,
)
from strongroom.identity.accounts.schemas import (
    SuspensionSchema,
    UserChangeSchema,
    UserQuery,
    UserSchema,
)
from strongroom.identity.accounts.service import AccountService
from strongroom.identity.accounts.suspension import Suspension, Suspensions
from strongroom.identity.users.models import SINGLE_KINDS, User
from strongroom.identity.verification.codes import Purpose
from strongroom.plugin_api.login import VerificationCode
from strongroom.plugin_api.schemas import DoneSchema, collection_schema
from strongroom.plugin_api.web import PROOF_PARAMETERS
from strongroom.web.http.access import Access, current_identity, optional_identity, own_id
from strongroom.web.http.paging import envelope, paging
from strongroom.web.http.parsing import DONE
from strongroom.web.http.request import get_service, header_pair, origin
from strongroom.web.http.routing import Blueprint

PASSWORD_HEADER: Final = "X-Current-Password"  # noqa: S105  the name of a header

PROOF_HEADERS: Final = ProofFields(CODE_HEADER, PASSWORD_HEADER)


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


blueprint = Blueprint("users", url_prefix="/users", description="User accounts.")

Json = dict[str, Any]

_NO_NAMES: Final = {
    **dict.fromkeys(SINGLE_KINDS),
    "email_verified": False,
    "mobile_verified": False,
    "has_password": False,
    "password_change_required": False,
}


@blueprint.operation(
    "GET",
    "",
    access=Access.ADMIN,
    rule=operations.LIST_USERS,
    query=UserQuery,
    returns=collection_schema(UserSchema),
    compress=True,
)
def list_users(query: Json) -> Json:
    """List users, by default the oldest first. Filters are combined with AND.

    `q` finds at most 1,000 users: those who were created most recently, or whose name or contacts have
    changed most recently. From 10,000 users on, `totalCount` may be a minute old.
    """
    accounts = get_service(AccountService)
    filters = {name: value for name, value in query.items() if not name.startswith("page")}
    page = accounts.page(paging(query), filters)
    names = accounts.find_login_names([user.id for user in page.items])
    return envelope(page, lambda user: _shown(user, names))


@blueprint.operation(
    "GET",
    "/<user_id>",
    access=Access.USER,
    rule=operations.GET_USER,
    returns=UserSchema,
    errors=(errors.Forbidden, errors.NotFound),
)
def get_user(user_id: str) -> Json:
    """Get a user. `me` is the caller; administrators may get any user.

    Other callers get `error.forbidden`. `suspensionReason` is there for administrators only.
    """
    return shown_user(get_service(AccountService).get(current_identity(), own_id(user_id)))


@blueprint.operation(
    "PATCH",
    "/<user_id>",
    access=Access.USER,
    rule=operations.CHANGE_USER,
    also={operations.CHANGE_ACCOUNT: "`type`, `status` or `externalId`"},
    body=UserChangeSchema,
    returns=UserSchema,
    errors=(
        errors.Forbidden,
        errors.NotFound,
        errors.LastAdministrator,
        errors.OwnAccount,
        errors.RevisionConflict,
        errors.CredentialTaken,
    ),
)
def change_user(user_id: str, body: Json, revision: int | None) -> Json:
    """Change the caller's name, locale and time zone.

    Administrators may change any user, and the other members.

    A change of the type or to `suspended` ends all that the user could do until then.
    """
    accounts, identity = get_service(AccountService), current_identity()
    return shown_user(accounts.change(identity, own_id(user_id), body, revision, origin()))


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
def delete_user(user_id: str, revision: int | None) -> dict[str, bool]:
    """Delete the caller (`me`) or, as an administrator, any user.

    Tokens and credentials are revoked immediately. Files stay with their tenants. Personal data are
    erased later. Users who delete themselves need a fresh proof: a code for `unbind`, the current
    password, or a login within the last 10 minutes.
    """
    proof, deletion = proof_of_headers(), get_service(AccountDeletion)
    identity, user_id = current_identity(), own_id(user_id)
    deletion.delete(identity, user_id, proof, PROOF_HEADERS, origin(), revision)
    return DONE


@blueprint.operation(
    "POST",
    "/<user_id>/suspension",
    access=Access.ADMIN,
    rule=operations.SUSPEND_USER,
    body=SuspensionSchema,
    returns=UserSchema,
    errors=(errors.NotFound, errors.LastAdministrator, errors.OwnAccount),
)
def suspend_user(user_id: str, body: Json, revision: int | None) -> Json:
    """Suspend a user, until a reinstatement or until a time.

    Tokens, access keys, codes, links and open uploads of the user end immediately and permanently.
    """
    suspension = Suspension(**body)
    suspensions = get_service(Suspensions)
    return shown_user(suspensions.suspend(current_identity(), user_id, suspension, origin(), revision))


@blueprint.operation(
    "DELETE",
    "/<user_id>/suspension",
    access=Access.ADMIN,
    rule=operations.SUSPEND_USER,
    returns=UserSchema,
    errors=(errors.NotFound,),
)
def reinstate_user(user_id: str, revision: int | None) -> Json:
    """Let a suspended user log in again.

    For administrators. What the suspension has ended, such as tokens and access keys, stays so; a user
    who is not suspended does not change.
    """
    suspensions = get_service(Suspensions)
    return shown_user(suspensions.reinstate(current_identity(), user_id, origin(), revision))


def shown_user(user: User) -> Json:
    """Return a user as the caller sees it."""
    return _shown(user, get_service(AccountService).find_login_names([user.id]))


def _shown(user: User, names: Mapping[str, Mapping[str, Any]]) -> Json:
    shown = {**_NO_NAMES, **asdict(user), **names.get(user.id, {})}
    identity = optional_identity()
    if identity is None or not identity.is_admin:
        del shown["suspension_reason"]
    return shown
