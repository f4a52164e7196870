"""The responses with tokens."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from authlib.oauth2.rfc6749 import InvalidGrantError, InvalidScopeError
from authlib.oidc.core.util import create_half_hash

from strongroom.plugin_api.grants import ClientGrant, Describe, GrantTokens
from strongroom.plugin_api.host import HostAPI
from strongroom.plugin_api.web import ApiError
from strongroom_oidc_provider.claim_rules import ACCESS_TOKEN, ID_TOKEN, RoleClaims
from strongroom_oidc_provider.consents.folders import Folder
from strongroom_oidc_provider.documents.lookup import ClientLookup
from strongroom_oidc_provider.oauth.requests import ProviderRequest
from strongroom_oidc_provider.scopes import OPENID, ROLE_SCOPES

_LIFETIME = 300
"""Of an ID token, in seconds: its client verifies it at once."""

_ENDED = ("error.token-invalid", "error.user-suspended", "error.not-found")


def get_tokens(issue: Callable[[], GrantTokens]) -> GrantTokens:
    """Return new tokens.

    Raises:
        InvalidGrantError: the login or the grant has ended, or the token is not one of the client.
        InvalidScopeError: the grant has not all of the scopes.
    """
    try:
        return issue()
    except ApiError as error:
        if error.code in _ENDED:
            raise InvalidGrantError("The login or the grant has ended.") from error
        if error.code == "error.validation-failed":
            raise InvalidScopeError from error
        raise


def make_token(host: HostAPI, issued: GrantTokens, scopes: tuple[str, ...]) -> dict[str, Any]:
    """Return the members of the response (RFC 6749, section 5.1)."""
    token: dict[str, Any] = {
        "token_type": "Bearer",
        "access_token": issued.access_token,
        "expires_in": max(0, (issued.expires_at - host.clock.now()) // 1000),
        "scope": " ".join(scopes),
    }
    terms = issued.grant.terms
    folder = Folder.from_columns(terms.tenant_id, terms.file_id)
    if folder is not None:
        token["authorization_details"] = folder.describe()
    if issued.refresh_token is not None:
        token["refresh_token"] = issued.refresh_token
    return token


def describe_access(host: HostAPI) -> Describe:
    """Return what adds claims about groups and roles to access tokens for other services."""

    def describe(grant: ClientGrant, scopes: Sequence[str]) -> Mapping[str, Any]:
        # Its client reads no access token of its own: the ID token has the claims.
        if grant.terms.audience == grant.client.id:
            return {}
        return get_role_claims(host, grant, scopes, ACCESS_TOKEN)

    return describe


def get_role_claims(
    host: HostAPI, grant: ClientGrant, scopes: Sequence[str], token: str
) -> Mapping[str, Any]:
    """Return the claims about groups and roles of a token, by the rules that its client has now."""
    if not {*ROLE_SCOPES}.intersection(scopes):
        return {}
    client = host.get_service(ClientLookup).find(grant.client.id)
    if client is None:
        return {}
    return host.get_service(RoleClaims).for_token(client, grant.user_id, scopes, token)


@dataclass(slots=True, eq=False, repr=False)
class IDTokens:
    """An extension of grants: the ID token of scope ``openid`` (OpenID Connect Core, section 2)."""

    _host: HostAPI

    def __call__(self, grant: Any) -> None:
        grant.register_hook("after_create_token_response", self._add)

    def _add(self, grant: Any, response: tuple[int, dict[str, Any], Any]) -> None:
        _, token, _ = response
        scopes = token["scope"].split()
        if OPENID in scopes:
            token["id_token"] = self._sign(grant.request, token["access_token"], scopes)

    def _sign(self, request: ProviderRequest, access_token: str, scopes: Sequence[str]) -> str:
        grant, signing = request.issued.grant, self._host.signing
        claims: dict[str, Any] = {
            "auth_time": grant.auth_time // 1000,
            "acr": grant.acr,
            "amr": list(grant.amr),
            "sid": grant.login_id,
            "at_hash": create_half_hash(access_token, signing.algorithm).decode(),
        }
        claims = {**get_role_claims(self._host, grant, scopes, ID_TOKEN), **claims}
        nonce = request.authorization_code.nonce if request.authorization_code else None
        if nonce is not None:
            claims["nonce"] = nonce
        return signing.sign(claims, audience=grant.client.id, lifetime=_LIFETIME, subject=grant.user_id)
