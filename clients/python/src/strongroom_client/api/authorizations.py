"""Operations on authorizations. Written by clients/python/generate_client.py from the OpenAPI document."""

from ..models import (
    AuthorizationCollection,
    Done,
    IssuedChallenge,
    IssuedTokens,
    JwkSet,
    Login,
    LoginProviderCollection,
    NewChallenge,
    Refresh,
    Revocation,
)
from ..operations import UNSET, Operation, Unset, segment


def create_authorization(
    *,
    body: Login,
) -> Operation[IssuedTokens]:
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
    return Operation(
        "POST",
        "/authorizations",
        IssuedTokens,
        body=body,
    )


def create_challenge(
    *,
    body: NewChallenge | Unset = UNSET,
) -> Operation[IssuedChallenge]:
    """Begin a login by a factor alone, such as a passkey; `create_authorization` finishes it.

    The challenge permits one answer, within 5 minutes. With a `username`, only that user's answer is
    right; the response does not depend on whether there is such a user.
    """
    return Operation(
        "POST",
        "/authorizations/challenges",
        IssuedChallenge,
        body=body,
    )


def delete_authorization(
    access_token: str,
) -> Operation[Done]:
    """Log out: revoke an access token, and its whole login.

    The reference is `current`, the token's `jti`, or the token itself. Prefer the first two, because
    URLs end up in logs. The token itself needs no Authorization header.
    """
    return Operation(
        "DELETE",
        f"/authorizations/{segment(access_token)}",
        Done,
    )


def delete_authorizations(
    user_id: str,
) -> Operation[Done]:
    """Revoke all logins of a user (`me`: the caller), including the current one.

    For the user and for administrators. Access tokens and refresh tokens of all devices are refused from
    the next request on; access keys stay valid.
    """
    return Operation(
        "DELETE",
        f"/users/{segment(user_id)}/authorizations",
        Done,
    )


def get_key_set() -> Operation[JwkSet]:
    """Get the public keys that verify access tokens (RFC 7517). Empty without a key of RS256.

    A verifier that encounters an unknown key id fetches the set again.
    """
    return Operation(
        "GET",
        "/.well-known/jwks.json",
        JwkSet,
    )


def list_authorizations(
    user_id: str,
    *,
    page_size: int | Unset = UNSET,
    page_number: int | Unset = UNSET,
    cursor: None | str | Unset = UNSET,
) -> Operation[AuthorizationCollection]:
    """List the logins of a user (`me`: the caller), newest first.

    For the user and for administrators. Logins that have ended or expired are not among them; `current`
    marks the login of the request.
    """
    return Operation(
        "GET",
        f"/users/{segment(user_id)}/authorizations",
        AuthorizationCollection,
        query={
            "pageSize": page_size,
            "pageNumber": page_number,
            "cursor": cursor,
        },
    )


def list_login_providers(
    *,
    page_size: int | Unset = UNSET,
    page_number: int | Unset = UNSET,
    cursor: None | str | Unset = UNSET,
    accept_language: str | Unset = UNSET,
    if_none_match: str | Unset = UNSET,
) -> Operation[LoginProviderCollection]:
    """List the ways to log in that redirect to another platform, for login pages of clients' own.

    The texts are in the language of `Accept-Language`.
    """
    return Operation(
        "GET",
        "/api/v1/login-providers",
        LoginProviderCollection,
        query={
            "pageSize": page_size,
            "pageNumber": page_number,
            "cursor": cursor,
        },
        headers={
            "Accept-Language": accept_language,
            "If-None-Match": if_none_match,
        },
    )


def refresh_authorization(
    *,
    body: Refresh | Unset = UNSET,
    x_refresh_token: str | Unset = UNSET,
) -> Operation[IssuedTokens]:
    """Exchange a refresh token, sent in the header or in the body, for new tokens of the same login.

    A refresh token is valid for one use. If it is used again, the login and all its tokens are revoked.

    `error.step-up-required` means that the user has, or must have, a second factor that this login has
    not proven. The refresh token stays valid: after a step-up it is accepted.
    """
    return Operation(
        "POST",
        "/authorizations/refresh",
        IssuedTokens,
        headers={
            "X-Refresh-Token": x_refresh_token,
        },
        body=body,
    )


def revoke_token(
    *,
    body: Revocation,
) -> Operation[Done]:
    """Revoke an access or refresh token, and its whole login (RFC 7009).

    The token itself is the permission. The response is the same for an invalid token.
    """
    return Operation(
        "POST",
        "/authorizations/revocation",
        Done,
        body=body,
        media_type="application/x-www-form-urlencoded",
    )
