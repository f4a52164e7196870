"""Routes for second factors, and for the step-up of a login."""

from typing import Any

from strongroom.foundation import errors
from strongroom.identity import operations
from strongroom.identity.accounts.credential_views import PROOF_ERRORS
from strongroom.identity.accounts.due_enrolments import DueEnrolments
from strongroom.identity.accounts.factor_changes import FactorChanges
from strongroom.identity.accounts.factor_enrolling import BegunEnrolment, FactorEnrolling
from strongroom.identity.accounts.factor_reports import FactorReports, to_info
from strongroom.identity.accounts.reauthentication import Proof, StepUp
from strongroom.identity.accounts.schemas import (
    ConfirmedFactorSchema,
    DueAnswerSchema,
    EnrolledTokensSchema,
    EnrolmentSchema,
    FactorAnswerSchema,
    FactorNameSchema,
    FactorReportQuery,
    FactorsSchema,
    FactorStateSchema,
    NewDueEnrolmentSchema,
    NewFactorSchema,
    RecoveryCodesSchema,
    RemovedFactorSchema,
    RenamedFactorSchema,
    RenewedTokenSchema,
    StepUpSchema,
)
from strongroom.identity.accounts.views import PROOF_HEADERS, proof_of_headers
from strongroom.identity.sessions.service import RenewedToken
from strongroom.identity.sessions.token_issuing import IssuedTokens
from strongroom.identity.sessions.views import challenge_answer, token_headers
from strongroom.identity.users.factor_policy import FactorState
from strongroom.plugin_api.factors import factor_kind
from strongroom.plugin_api.login import VerificationCode
from strongroom.plugin_api.schemas import DoneSchema, PagingQuery, collection_schema
from strongroom.plugin_api.web import PROOF_PARAMETERS, Location
from strongroom.web.http.access import TOKEN_HEADER, Access, current_identity, own_id
from strongroom.web.http.header_descriptions import TOKEN_RESPONSE
from strongroom.web.http.locations import absolute_url
from strongroom.web.http.paging import envelope, paging, reference
from strongroom.web.http.parsing import DONE
from strongroom.web.http.request import client, get_service, origin
from strongroom.web.http.routing import Blueprint

Json = dict[str, Any]

blueprint = Blueprint(
    "second factors",
    description="Second factors and step-up.",
    parameters={
        "enrolment_id": "`id` of the response that began the enrolment",
        "factor_id": "Id of the second factor, as in the list of the user's factors",
    },
)


@blueprint.operation(
    "GET",
    "/users/<user_id>/factors",
    access=Access.USER,
    query=PagingQuery,
    returns=FactorsSchema,
    errors=(errors.Forbidden, errors.NotFound),
)
def list_factors(user_id: str, query: Json) -> Json:
    """List the second factors of a user, oldest first. Secrets are not included.

    For the user and for administrators. `shown` is empty for administrators, because it is meant for the
    devices of the user.
    """
    service = get_service(FactorReports)
    page, shown = service.page(current_identity(), own_id(user_id), paging(query))
    return {**envelope(page, to_info), "shown": shown}


@blueprint.operation(
    "POST",
    "/users/<user_id>/recovery-codes",
    access=Access.USER,
    rule=operations.CREATE_RECOVERY_CODES,
    returns=RecoveryCodesSchema,
    status=201,
    errors=(errors.Forbidden, *PROOF_ERRORS),
    document={"parameters": PROOF_PARAMETERS},
)
def create_recovery_codes(user_id: str) -> Json:
    """Get a new sheet of recovery codes, which the response contains only once; it voids the old one.

    Requires the same proof as `begin_factor`. A user without another second factor gets none.
    """
    codes = get_service(FactorEnrolling).renew_recovery_codes(
        current_identity(), own_id(user_id), proof_of_headers(), PROOF_HEADERS, origin()
    )
    return {"recoveryCodes": codes}


@blueprint.operation(
    "POST",
    "/users/<user_id>/factors",
    access=Access.USER,
    rule=operations.CHANGE_FACTORS,
    body=NewFactorSchema,
    returns=EnrolmentSchema,
    status=201,
    location=Location("second factors.confirm_factor", {"enrolment_id": "id"}),
    errors=(errors.Forbidden, *PROOF_ERRORS),
    document={"parameters": PROOF_PARAMETERS},
)
def begin_factor(user_id: str, body: Json) -> Json:
    """Begin the enrolment in a second factor; `confirm_factor` finishes it within 5 minutes.

    Requires a code, the current password, or a login within the last 10 minutes; a user with a second
    factor needs a login or step-up by it within the last 10 minutes.
    """
    begun = get_service(FactorEnrolling).begin(
        current_identity(),
        own_id(user_id),
        body["kind"],
        body["name"],
        proof_of_headers(),
        PROOF_HEADERS,
    )
    return _serialize_begun(begun)


@blueprint.operation(
    "POST",
    "/users/<user_id>/factors/<enrolment_id>/confirmation",
    access=Access.USER,
    rule=operations.CHANGE_FACTORS,
    body=FactorAnswerSchema,
    returns=ConfirmedFactorSchema,
    status=201,
    errors=(
        errors.Forbidden,
        errors.ChallengeInvalid,
        errors.FactorInvalid,
        errors.StepUpRequired,
    ),
)
def confirm_factor(user_id: str, enrolment_id: str, body: Json) -> tuple[Json, int, dict[str, str]]:
    """Finish an enrolment with the right answer; from now on every login requires a second factor.

    For the user only. `shown` has what no later response contains: the codes, if the factor is a
    sheet of recovery codes.
    """
    row, shown = get_service(FactorEnrolling).confirm(
        current_identity(), own_id(user_id), enrolment_id, body["answer"], origin()
    )
    location = absolute_url("second factors.rename_factor", user_id=user_id, factor_id=row.id)
    return {"factor": to_info(row), "shown": dict(shown)}, 201, {"Location": location}


@blueprint.operation(
    "PATCH",
    "/users/<user_id>/factors/<factor_id>",
    access=Access.USER,
    rule=operations.CHANGE_FACTORS,
    body=FactorNameSchema,
    returns=RenamedFactorSchema,
    errors=(errors.Forbidden, errors.NotFound, *PROOF_ERRORS),
    document={"parameters": PROOF_PARAMETERS},
)
def rename_factor(user_id: str, factor_id: str, body: Json) -> Json:
    """Rename a second factor, with the same proof as to remove it.

    For the user only: a wrong name could make the user remove the wrong factor, so it needs the proof.
    """
    row, shown = get_service(FactorChanges).rename(
        current_identity(),
        own_id(user_id),
        factor_id,
        body["name"],
        proof_of_headers(),
        PROOF_HEADERS,
        origin(),
    )
    return {"factor": to_info(row), "shown": shown}


@blueprint.operation(
    "DELETE",
    "/users/<user_id>/factors/<factor_id>",
    access=Access.USER,
    rule=operations.CHANGE_FACTORS,
    returns=RemovedFactorSchema,
    errors=(errors.Forbidden, errors.NotFound, errors.LastContact, errors.FactorNeeded, *PROOF_ERRORS),
    document={"parameters": PROOF_PARAMETERS},
)
def remove_factor(user_id: str, factor_id: str) -> Json:
    """Remove a second factor, with a login or step-up by one within the last 10 minutes.

    The recovery codes are removed with the last other factor. A factor that the user could log in with,
    such as a passkey, is not removed if it is the last login option.
    """
    shown = get_service(FactorChanges).remove(
        current_identity(), own_id(user_id), factor_id, proof_of_headers(), PROOF_HEADERS, origin()
    )
    return {**DONE, "shown": shown}


@blueprint.operation(
    "DELETE",
    "/users/<user_id>/factors",
    access=Access.ADMIN,
    rule=operations.CHANGE_FACTORS,
    returns=DoneSchema,
    errors=(errors.NotFound,),
)
def reset_factors(user_id: str) -> dict[str, bool]:
    """Remove all second factors of a user who has lost them, and end all logins of the user.

    For administrators. The user logs in without a second factor afterwards, and enrols one again if the
    server requires it.
    """
    get_service(FactorChanges).reset(current_identity(), own_id(user_id), origin())
    return DONE


@blueprint.operation(
    "POST",
    "/authorizations/current/step-up",
    access=Access.USER,
    body=StepUpSchema,
    returns=RenewedTokenSchema,
    errors=(
        errors.SecondFactorRequired,
        errors.ChallengeInvalid,
        errors.InvalidCredentials,
        *PROOF_ERRORS,
    ),
    limit="login_per_address",
)
def step_up(body: Json) -> tuple[RenewedToken, int, dict[str, str]]:
    """Renew the proof of the login after `error.step-up-required` (RFC 9470); get a new access token.

    A user with a second factor sends `{}`, gets `error.second-factor-required` with a challenge, and
    answers it in a second request; others send the current password, or a code with purpose `bind`.
    """
    code, challenge = body["verificationCode"], body["challenge"]
    proof = Proof(VerificationCode(**code) if code else None, body["currentPassword"])
    renewed = get_service(StepUp).renew(
        current_identity(), proof, challenge_answer(challenge) if challenge else None, origin()
    )
    return renewed, 200, {TOKEN_HEADER: renewed.access_token}


@blueprint.operation(
    "POST",
    "/authorizations/enrolments",
    access=Access.PUBLIC,
    body=NewDueEnrolmentSchema,
    returns=EnrolmentSchema,
    status=201,
    errors=(errors.ChallengeInvalid,),
    limit="login_per_address",
)
def begin_due_enrolment(body: Json) -> Json:
    """Begin the enrolment of a user whose login got `error.second-factor-enrolment-required`.

    `id` is the id of its `enrolment`, which permits nothing else. May be repeated with another kind.
    """
    begun = get_service(DueEnrolments).begin(body["id"], body["kind"], body["name"], client())
    return _serialize_begun(begun)


@blueprint.operation(
    "POST",
    "/authorizations/enrolments/confirmation",
    access=Access.PUBLIC,
    body=DueAnswerSchema,
    returns=EnrolledTokensSchema,
    errors=(
        errors.ChallengeInvalid,
        errors.FactorInvalid,
        errors.InvalidCredentials,
        errors.UserSuspended,
    ),
    limit="login_per_address",
    response_headers=TOKEN_RESPONSE,
)
def confirm_due_enrolment(body: Json) -> tuple[Json, int, dict[str, str]]:
    """Finish the enrolment with the right answer, and log in; the response is the same as a login's.

    `id` is in `enrolment` of the login's error, and `enrolmentId` in the response that began the
    enrolment. A wrong answer may be corrected until the tries are consumed.
    """
    done = get_service(DueEnrolments).confirm(
        body["id"], body["enrolmentId"], body["answer"], client(), origin()
    )
    tokens = {name: getattr(done.issued, name) for name in IssuedTokens.__dataclass_fields__}
    enrolled = {"factor": to_info(done.factor), "shown": dict(done.shown)}
    return {**tokens, **enrolled}, 200, token_headers(done.issued)


@blueprint.operation(
    "GET",
    "/second-factors",
    access=Access.ADMIN,
    query=FactorReportQuery,
    returns=collection_schema(FactorStateSchema),
    compress=True,
)
def report_factors(query: Json) -> Json:
    """List the users with the kinds of their second factors, oldest first.

    For administrators. `missing=true` lists only those who must have one and have none.
    """
    page = get_service(FactorReports).report(paging(query), only_missing=query["missing"])
    included = [{"id": state.user_id, "type": "user", "name": state.name} for state in page.items]
    return envelope(page, _serialize_state, included)


def _serialize_state(state: FactorState) -> Json:
    return {
        "user": reference(state.user_id),
        "type": state.type,
        "factors": [factor_kind(name) for name in state.factors],
        "isRequired": state.is_required,
        "dueAt": state.due_at,
    }


def _serialize_begun(begun: BegunEnrolment) -> Json:
    return {
        "id": begun.id,
        "kind": begun.kind,
        "expiresAt": begun.expires_at,
        "shown": dict(begun.shown),
    }
