"""Revocation (RFC 7009) and introspection (RFC 7662)."""

from typing import Any

from authlib.oauth2.rfc6749 import InvalidRequestError
from authlib.oauth2.rfc7009 import RevocationEndpoint
from authlib.oauth2.rfc7662 import IntrospectionEndpoint

from strongroom.plugin_api.grants import TokenReport
from strongroom_oidc_provider.models import Client
from strongroom_oidc_provider.oauth.client import CODE_METHODS, SECRET_METHODS


def _require_token(request: Any) -> str:
    """Return the token of a request, whatever the hint about its type says.

    Raises:
        InvalidRequestError: there is none.
    """
    token: str | None = request.form.get("token")
    if not token:
        raise InvalidRequestError("token is missing.")
    return token


class Revocation(RevocationEndpoint):  # type: ignore[misc]
    """Ends the grant of a token."""

    CLIENT_AUTH_METHODS = CODE_METHODS

    def authenticate_token(self, request: Any, client: Any) -> str:  # noqa: ARG002  as in Authlib
        return _require_token(request)

    def revoke_token(self, token: str, request: Any) -> None:
        # A token of another client counts as unknown, which is a success.
        self.server.host.grants.revoke(token, request.client.get_client_id())


class Introspection(IntrospectionEndpoint):  # type: ignore[misc]
    """Returns the state of a token, to its client and to the service that it is for."""

    CLIENT_AUTH_METHODS = SECRET_METHODS

    def authenticate_token(self, request: Any, client: Any) -> TokenReport | None:
        report: TokenReport | None = self.server.host.grants.inspect(_require_token(request))
        return report if report is not None and _may_inspect(client.client, report) else None

    def create_introspection_payload(self, token: TokenReport | None) -> dict[str, Any]:
        """Return the members of the response."""
        if token is None:
            return {"active": False}
        grant, issuer = token.grant, self.server.host.public_url
        members = {
            "active": True,
            "iss": issuer,
            "sub": grant.user_id,
            "aud": issuer if grant.terms.audience is None else grant.terms.audience,
            "client_id": grant.client.id,
            "scope": " ".join(token.scopes),
            "exp": token.expires_at // 1000,
        }
        if token.issued_at is not None:
            members["iat"] = token.issued_at // 1000
        if not token.is_refresh_token:
            members["token_type"] = "Bearer"  # noqa: S105  a type and no secret
        return members


def _may_inspect(client: Client, report: TokenReport) -> bool:
    is_own = report.grant.client.id == client.id
    return is_own or (not report.is_refresh_token and report.grant.terms.audience in client.resources)
