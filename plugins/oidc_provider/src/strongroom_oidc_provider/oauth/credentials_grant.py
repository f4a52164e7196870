"""Tokens of a client that acts as its service account (RFC 6749, section 4.4)."""

from typing import Any

from authlib.oauth2.rfc6749 import InvalidScopeError
from authlib.oauth2.rfc6749.grants import ClientCredentialsGrant

from strongroom.plugin_api.grants import GrantClient, GrantTerms
from strongroom_oidc_provider.oauth.client import SECRET_METHODS
from strongroom_oidc_provider.oauth.rules import find_requested_resource
from strongroom_oidc_provider.oauth.tokens import get_tokens, make_token
from strongroom_oidc_provider.resources import get_audience
from strongroom_oidc_provider.scopes import LOGIN_SCOPES, ROLE_SCOPES


class CredentialsGrant(ClientCredentialsGrant):  # type: ignore[misc]
    """Begins a grant of the service account. It has no refresh token: the client authenticates again."""

    TOKEN_ENDPOINT_AUTH_METHODS = SECRET_METHODS

    def generate_token(self, **_: Any) -> dict[str, Any]:
        """Begin the grant, and return its token.

        Raises:
            InvalidScopeError: no scope is left, or one is about the login of a user.
        """
        host, client = self.server.host, self.client.client
        allowed = self.client.get_allowed_scope(self.request.payload.scope) or ""
        scopes = tuple(scope for scope in allowed.split() if scope not in (*LOGIN_SCOPES, *ROLE_SCOPES))
        if not scopes:
            raise InvalidScopeError
        resource = self._find_only_resource() or find_requested_resource(
            self.request, client, scopes, host.public_url
        )
        audience = get_audience(resource, client.id, host.public_url)
        is_own = audience is None or audience.startswith(f"{host.public_url}/")
        tenant_id = client.service_tenant_id if is_own else None
        terms = GrantTerms(scopes, audience, tenant_id, refreshable=False)
        grant_client = GrantClient(client.id, client.name, is_public=False)
        issued = get_tokens(lambda: host.grants.begin_as(client.service_account_id, grant_client, terms))
        return make_token(host, issued, scopes)

    def _find_only_resource(self) -> str | None:
        """Return the resource of a request that names none, if the client has only one.

        It is an application of this server, such as SCIM: Entra names no resource.
        """
        resources, applications = self.client.client.resources, f"{self.server.host.public_url}/"
        if self.request.payload.datalist.get("resource") or len(resources) != 1:
            return None
        return resources[0] if resources[0].startswith(applications) else None
