"""Routes for login, refresh, logout, the list of logins, and the public key set."""

from dataclasses import asdict
from hashlib import sha256
from typing import Any, Final

from flask import request

from strongroom.foundation import errors
from strongroom.foundation.database.paging import make_page
from strongroom.foundation.json_text import encode_json
from strongroom.identity.sessions.factor_verification import ChallengeAnswer
from strongroom.identity.sessions.login import LoginService
from strongroom.identity.sessions.login_challenges import LoginChallenges
from strongroom.identity.sessions.login_providers import LoginProviders
from strongroom.identity.sessions.models import Authorization
from strongroom.identity.sessions.schemas import (
    AuthorizationSchema,
    IssuedChallengeSchema,
    JwkSetSchema,
    LoginProviderSchema,
    LoginSchema,
    NewChallengeSchema,
    RefreshSchema,
    RevocationSchema,
)
from strongroom.identity.sessions.service import AuthorizationService
from strongroom.identity.sessions.token_issuing import IssuedTokens
from strongroom.identity.verification.captchas import CaptchaAnswer
from strongroom.plugin_api.login import LoginAttempt, VerificationCode
from strongroom.plugin_api.schemas import DoneSchema, IssuedTokensSchema, PagingQuery, collection_schema
from strongroom.web.http.access import TOKEN_HEADER, Access, current_identity, optional_identity, own_id
from strongroom.web.http.caching import CACHE_CONTROL, public
from strongroom.web.http.conditions import Validators, is_unchanged
from strongroom.web.http.header_descriptions import TOKEN_RESPONSE
from strongroom.web.http.paging import envelope, paging, reference
from strongroom.web.http.parsing import DONE
from strongroom.web.http.request import client, get_service, languages, origin
from strongroom.web.http.response import Response, json_response, not_modified
from strongroom.web.http.routing import Blueprint

REFRESH_HEADER: Final = "X-Refresh-Token"
KEYS_MAX_AGE: Final = 300
"""Seconds for which clients may cache the key set."""

_PROVIDER_HEADERS: Final = ((CACHE_CONTROL, public(300)), ("Vary", "Accept-Language"))

blueprint = Blueprint(
    "authorizations",
    description="Log in and out.",
    parameters={
        "reference": "`current`, the id of a login, the `jti` of an access token, or the token itself"
    },
)

Headers = dict[str, str]


@blueprint.operation(
    "POST",
    "/authorizations",
    access=Access.PUBLIC,
    body=LoginSchema,
    returns=IssuedTokensSchema,
    errors=(
        errors.InvalidCredentials,
        errors.SecondFactorRequired,
        errors.FactorEnrolmentRequired,
        errors.PasswordChangeRequired,
        errors.ChallengeInvalid,
        errors.CaptchaRequired,
        errors.CaptchaInvalid,
        errors.TermsNotAccepted,
        errors.UserSuspended,
        errors.RegistrationClosed,
        errors.InvitationRequired,
    ),
    # Limited before the attempt is evaluated or recorded, so that a flood cannot fill the audit log.
    limit="login_per_address",
    response_headers=TOKEN_RESPONSE,
)
def create_authorization(body: dict[str, Any]) -> tuple[IssuedTokens, int, Headers]:
    """Log in with a password or a verification code; returns an access and a refresh token.

    With the default limits, a password login needs a captcha after three failures per name, or thirty
    failures per address within an hour.

    A user with a second factor gets `error.second-factor-required` with a `challenge`, which a second
    request answers within 5 minutes: `{"challenge": {"id": "...", "totp": "123456"}}`. A challenge of
    `create_challenge` is answered in the same way.

    `error.password-change-required` means that the password is right, but temporary or another person's
    choice: repeat the request with `newPassword` as well. A second factor is still required.

    `error.terms-not-accepted` means that the login would register a user. Show the terms, and continue:
    `{"consent": {"id": "...", "acceptedTerms": "VERSION"}}`.
    """
    if body["consent"] is not None:
        consent = body["consent"]
        issued = get_service(LoginService).accept_terms(
            consent["id"], consent["acceptedTerms"], client(), origin()
        )
        return issued, 200, token_headers(issued)
    if body["challenge"] is not None:
        issued = get_service(LoginService).meet_challenge(
            challenge_answer(body["challenge"]), client(), origin()
        )
        return issued, 200, token_headers(issued)
    code, captcha = body["verificationCode"], body["captcha"]
    attempt = LoginAttempt(
        client=client(),
        username=body["username"],
        password=body["password"],
        verification_code=VerificationCode(**code) if code else None,
    )
    issued = get_service(LoginService).log_in(
        attempt,
        CaptchaAnswer(**captcha) if captcha else None,
        origin(),
        new_password=body["newPassword"],
        accepted_terms=body["acceptedTerms"],
    )
    return issued, 200, token_headers(issued)


@blueprint.operation(
    "POST",
    "/authorizations/challenges",
    access=Access.PUBLIC,
    body=NewChallengeSchema,
    returns=IssuedChallengeSchema,
    status=201,
    errors=(errors.NotImplementedHere,),
    limit="challenge_per_address",
)
def create_challenge(body: dict[str, Any]) -> dict[str, Any]:
    """Begin a login by a factor alone, such as a passkey; `create_authorization` finishes it.

    The challenge permits one answer, within 5 minutes. With a `username`, only that user's answer is
    right; the response does not depend on whether there is such a user.
    """
    challenge = get_service(LoginChallenges).issue(body["username"], client())
    return {"challenge": challenge.json()}


@blueprint.operation(
    "POST",
    "/authorizations/refresh",
    access=Access.PUBLIC,
    body=RefreshSchema,
    returns=IssuedTokensSchema,
    errors=(
        errors.AmbiguousToken,
        errors.TokenRequired,
        errors.TokenInvalid,
        errors.StepUpRequired,
    ),
    request_headers=(REFRESH_HEADER,),
    response_headers=TOKEN_RESPONSE,
)
def refresh_authorization(body: dict[str, Any]) -> tuple[IssuedTokens, int, Headers]:
    """Exchange a refresh token, sent in the header or in the body, for new tokens of the same login.

    A refresh token is valid for one use. If it is used again, the login and all its tokens are revoked.

    `error.step-up-required` means that the user has, or must have, a second factor that this login has
    not proven. The refresh token stays valid: after a step-up it is accepted.
    """
    issued = get_service(AuthorizationService).refresh(_presented_refresh_token(body), origin())
    return issued, 200, token_headers(issued)


@blueprint.operation(
    "POST",
    "/authorizations/revocation",
    access=Access.PUBLIC,
    form=RevocationSchema,
    returns=DoneSchema,
)
def revoke_token(form: dict[str, str]) -> dict[str, bool]:
    """Revoke an access or refresh token, and its whole login (RFC 7009).

    The token itself is the permission. The response is the same for an invalid token.
    """
    get_service(AuthorizationService).revoke_token(form["token"], origin())
    return DONE


@blueprint.operation(
    "DELETE",
    "/authorizations/<reference>",
    access=Access.OPTIONAL,
    impersonation=True,
    returns=DoneSchema,
    errors=(errors.NotFound, errors.ImpersonationRefused),
)
def delete_authorization(reference: str) -> dict[str, bool]:
    """Log out: revoke an access token, and its whole login.

    The reference is `current`, the token's `jti`, or the token itself. Prefer the first two, because
    URLs end up in logs. The token itself needs no Authorization header.
    """
    get_service(AuthorizationService).revoke(reference, optional_identity(), origin())
    return DONE


@blueprint.operation(
    "GET",
    "/users/<user_id>/authorizations",
    access=Access.USER,
    query=PagingQuery,
    returns=collection_schema(AuthorizationSchema),
    errors=(errors.Forbidden, errors.NotFound),
)
def list_authorizations(user_id: str, query: dict[str, int]) -> dict[str, Any]:
    """List the logins of a user (`me`: the caller), newest first.

    For the user and for administrators. Logins that have ended or expired are not among them; `current`
    marks the login of the request.
    """
    service = get_service(AuthorizationService)
    page, actors = service.of_user(current_identity(), own_id(user_id), paging(query))
    return envelope(page, _serialize, actors)


@blueprint.operation(
    "DELETE",
    "/users/<user_id>/authorizations",
    access=Access.USER,
    returns=DoneSchema,
    errors=(errors.Forbidden, errors.NotFound),
)
def delete_authorizations(user_id: str) -> dict[str, bool]:
    """Revoke all logins of a user (`me`: the caller), including the current one.

    For the user and for administrators. Access tokens and refresh tokens of all devices are refused from
    the next request on; access keys stay valid.
    """
    get_service(AuthorizationService).end_all(current_identity(), own_id(user_id), origin())
    return DONE


@blueprint.operation(
    "GET", "/.well-known/jwks.json", access=Access.PUBLIC, returns=JwkSetSchema, status=200
)
def get_key_set() -> tuple[dict[str, Any], int, Headers]:
    """Get the public keys that verify access tokens (RFC 7517). Empty without a key of RS256.

    A verifier that encounters an unknown key id fetches the set again.
    """
    headers = {CACHE_CONTROL: public(KEYS_MAX_AGE)}
    return get_service(AuthorizationService).public_keys(), 200, headers


@blueprint.operation(
    "GET",
    "/api/v1/login-providers",
    access=Access.PUBLIC,
    query=PagingQuery,
    returns=collection_schema(LoginProviderSchema),
    document={"responses": {"304": {"description": "The client's copy is current"}}},
    request_headers=("Accept-Language", "If-None-Match"),
    response_headers=("ETag",),
)
def list_login_providers(query: dict[str, Any]) -> Response:
    """List the ways to log in that redirect to another platform, for login pages of clients' own.

    The texts are in the language of `Accept-Language`.
    """
    providers = [*enumerate(get_service(LoginProviders).for_languages(languages()))]
    # The configuration has the order, which only a restart changes.
    page = make_page(providers, paging(query), lambda item: (item[0],))
    content = encode_json(envelope(page, lambda item: item[1]))
    current = Validators(sha256(content.encode()).hexdigest()[:32], None)
    headers = (("ETag", current.etag), *_PROVIDER_HEADERS)
    return not_modified(headers) if is_unchanged(current) else json_response(content, headers=headers)


def challenge_answer(member: dict[str, Any]) -> ChallengeAnswer:
    """Return the answer in the member ``challenge`` of a body."""
    return ChallengeAnswer(member["id"], {name: value for name, value in member.items() if name != "id"})


def token_headers(issued: IssuedTokens) -> Headers:
    """Return the response headers with the tokens."""
    return {
        TOKEN_HEADER: issued.access_token,
        REFRESH_HEADER: issued.refresh_token,
        # Without this header, browsers hide the tokens from scripts of other origins.
        "Access-Control-Expose-Headers": f"{TOKEN_HEADER}, {REFRESH_HEADER}",
    }


def _presented_refresh_token(body: dict[str, Any]) -> str:
    tokens = {token for token in (request.headers.get(REFRESH_HEADER), body["refreshToken"]) if token}
    if len(tokens) > 1:
        raise errors.AmbiguousToken("The request carries two different refresh tokens.")
    if not tokens:
        raise errors.TokenRequired(f"A refresh token is required: {REFRESH_HEADER}, or refreshToken.")
    return tokens.pop()


def _serialize(authorization: Authorization) -> dict[str, Any]:
    current = authorization.id == current_identity().authorization_id
    return {
        **asdict(authorization),
        "amr": authorization.amr.split(),
        "actor": authorization.actor_id and reference(authorization.actor_id),
        "current": current,
    }
