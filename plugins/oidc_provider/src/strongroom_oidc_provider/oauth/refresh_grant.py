"""Refresh tokens (RFC 6749, section 6)."""

from dataclasses import dataclass
from typing import Any

from authlib.oauth2.rfc6749.grants import RefreshTokenGrant

from strongroom_oidc_provider.oauth.client import CODE_METHODS
from strongroom_oidc_provider.oauth.errors import InvalidTarget
from strongroom_oidc_provider.oauth.tokens import describe_access, get_tokens, make_token
from strongroom_oidc_provider.resources import is_same


@dataclass(frozen=True, slots=True)
class _Presented:
    """A refresh token of a request, not yet checked: a check before its use would not see a reuse."""

    value: str
    scope: str | None

    def check_client(self, client: Any) -> bool:  # noqa: ARG002  the core compares the client
        return True

    def get_scope(self) -> str | None:
        return self.scope


class RefreshGrant(RefreshTokenGrant):  # type: ignore[misc]
    """Exchanges a refresh token for new tokens."""

    TOKEN_ENDPOINT_AUTH_METHODS = CODE_METHODS

    def authenticate_refresh_token(self, refresh_token: str) -> _Presented:
        return _Presented(refresh_token, self.request.payload.scope)

    def authenticate_user(self, refresh_token: _Presented) -> _Presented:
        # The user is the grant's, which the exchange finds.
        return refresh_token

    def issue_token(self, user: Any, refresh_token: _Presented) -> dict[str, Any]:  # noqa: ARG002
        """Exchange the token.

        Raises:
            InvalidTarget: the request names another service than the grant's.
        """
        host, client_id = self.server.host, self.client.get_client_id()
        scopes = refresh_token.scope.split() if refresh_token.scope else None
        self._require_resource(refresh_token.value, client_id)
        describe = describe_access(host)
        issued = get_tokens(
            lambda: host.grants.refresh(refresh_token.value, client_id, scopes=scopes, describe=describe)
        )
        self.request.issued = issued
        return make_token(host, issued, tuple(scopes or issued.grant.terms.scopes))

    def revoke_old_credential(self, refresh_token: _Presented) -> None:
        """The exchange has ended it already."""

    def _require_resource(self, token: str, client_id: str) -> None:
        uris = self.request.payload.datalist.get("resource", [])
        report = self.server.host.grants.inspect(token) if uris else None
        if report is None:
            return
        audience = report.grant.terms.audience
        resource = self.server.host.public_url if audience is None else audience
        if any(not is_same(each, resource) for each in uris) or audience == client_id:
            raise InvalidTarget("The grant is for another resource.")
