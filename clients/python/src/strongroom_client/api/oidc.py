"""Operations on oidc. Written by clients/python/generate_client.py from the OpenAPI document."""

from ..models import (
    AuthorizeDeviceBody,
    AuthorizeDeviceResponse200,
    GetUserInfoByFormResponse200,
    GetUserInfoResponse200,
    IntrospectTokenBody,
    IntrospectTokenResponse200,
    IssueTokensBody,
    IssueTokensResponse200,
    PushAuthorizationBody,
    PushAuthorizationResponse201,
    RegisterOwnClientBody,
    RegisterOwnClientResponse201,
    RevokeTokensBody,
    RevokeTokensResponse200,
)
from ..operations import UNSET, Operation, Unset


def authorize_device(
    *,
    body: AuthorizeDeviceBody | Unset = UNSET,
) -> Operation[AuthorizeDeviceResponse200]:
    """Get a code for a device, and one that its user enters on the page `/device` (RFC 8628).

    The device then requests tokens with its code, at most every `interval` seconds.
    """
    return Operation(
        "POST",
        "/oauth2/device-authorization",
        AuthorizeDeviceResponse200,
        body=body,
        media_type="application/x-www-form-urlencoded",
    )


def get_user_info() -> Operation[GetUserInfoResponse200]:
    """Get the claims about the user of an access token, by its scopes.

    The token is in the header `Authorization: Bearer`, and has the scope `openid`.
    """
    return Operation(
        "GET",
        "/oauth2/userinfo",
        GetUserInfoResponse200,
    )


def get_user_info_by_form() -> Operation[GetUserInfoByFormResponse200]:
    """Get the claims about the user of an access token, which may be in the form as `access_token`."""
    return Operation(
        "POST",
        "/oauth2/userinfo",
        GetUserInfoByFormResponse200,
    )


def introspect_token(
    *,
    body: IntrospectTokenBody | Unset = UNSET,
) -> Operation[IntrospectTokenResponse200]:
    """Get the state of a token (RFC 7662), for its client and for the service that it is for."""
    return Operation(
        "POST",
        "/oauth2/introspect",
        IntrospectTokenResponse200,
        body=body,
        media_type="application/x-www-form-urlencoded",
    )


def issue_tokens(
    *,
    body: IssueTokensBody | Unset = UNSET,
) -> Operation[IssueTokensResponse200]:
    """Exchange a code or a refresh token for tokens (RFC 6749, sections 4.1.3, 4.4 and 6).

    A client with a secret authenticates by Basic or by its form. A code or refresh token that is used
    twice ends its grant. A client with a service account needs its secret alone.
    """
    return Operation(
        "POST",
        "/oauth2/token",
        IssueTokensResponse200,
        body=body,
        media_type="application/x-www-form-urlencoded",
    )


def push_authorization(
    *,
    body: PushAuthorizationBody | Unset = UNSET,
) -> Operation[PushAuthorizationResponse201]:
    """Send the parameters of `beginAuthorization` before the browser does (RFC 9126).

    The client authenticates as at `issueTokens`. The browser is sent to `beginAuthorization` with
    `client_id` and the `request_uri` of the response, once, within 60 seconds.
    """
    return Operation(
        "POST",
        "/oauth2/par",
        PushAuthorizationResponse201,
        body=body,
        media_type="application/x-www-form-urlencoded",
    )


def register_own_client(
    *,
    body: RegisterOwnClientBody | Unset = UNSET,
) -> Operation[RegisterOwnClientResponse201]:
    """Register a client at its own request (RFC 7591), if `registration` allows it.

    Software statements are refused. A client that no user consents to within a day is deleted.
    """
    return Operation(
        "POST",
        "/oauth2/register",
        RegisterOwnClientResponse201,
        body=body,
    )


def revoke_tokens(
    *,
    body: RevokeTokensBody | Unset = UNSET,
) -> Operation[RevokeTokensResponse200]:
    """End the grant of an access or refresh token of the client (RFC 7009).

    An unknown token is a success, too.
    """
    return Operation(
        "POST",
        "/oauth2/revoke",
        RevokeTokensResponse200,
        body=body,
        media_type="application/x-www-form-urlencoded",
    )
