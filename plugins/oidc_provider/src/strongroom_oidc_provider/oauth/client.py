"""A client as Authlib sees it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from authlib.oauth2.rfc6749 import ClientMixin

from strongroom_oidc_provider.claim_rules import get_rule_scopes
from strongroom_oidc_provider.clients.redirect_uris import find_registered
from strongroom_oidc_provider.documents.client import PRIVATE_KEY_JWT, DocumentClient, find_listed
from strongroom_oidc_provider.models import Client
from strongroom_oidc_provider.scopes import LOGIN_SCOPES, ROLE_SCOPES

SECRET_METHODS = ("client_secret_basic", "client_secret_post")
"""How a client with a secret authenticates."""

CODE_METHODS = (*SECRET_METHODS, PRIVATE_KEY_JWT, "none")
"""How clients of users authenticate."""

CREDENTIALS = "client_credentials"
DEVICE = "urn:ietf:params:oauth:grant-type:device_code"
GRANT_TYPES = ("authorization_code", "refresh_token", CREDENTIALS, DEVICE)


@dataclass(slots=True, eq=False, repr=False)
class OAuthClient(ClientMixin):  # type: ignore[misc]
    """A client.

    Args:
        client: the registered one.
        verify: returns whether a secret is a live one of the client of an id.
    """

    client: Client
    verify: Callable[[str, str], bool]

    def get_client_id(self) -> str:
        return self.client.id

    def get_default_redirect_uri(self) -> None:
        # Each request names its URI, so that a new one of the client changes nothing for others.
        return None

    def get_allowed_scope(self, scope: str | None) -> str | None:
        """Return the scopes of a request that the client may have; ``None`` if it may have none."""
        requested = scope.split() if scope else self._default_scopes()
        allowed = [each for each in dict.fromkeys(requested) if each in self._allowed_scopes]
        return " ".join(allowed) if allowed or not scope else None

    def check_redirect_uri(self, redirect_uri: str) -> bool:
        if isinstance(self.client, DocumentClient):
            return find_listed(redirect_uri, self.client) is not None
        uris, is_public = self.client.redirect_uris, self.client.is_public
        return find_registered(redirect_uri, uris, is_public=is_public) is not None

    def check_client_secret(self, client_secret: str) -> bool:
        return self.verify(self.client.id, client_secret)

    def check_endpoint_auth_method(self, method: str, endpoint: str) -> bool:
        # Public clients may not introspect, because everyone knows their ids.
        if self.client.is_public:
            return method == "none" and endpoint != "introspection"
        is_described = isinstance(self.client, DocumentClient)
        return method == PRIVATE_KEY_JWT if is_described else method in SECRET_METHODS

    def check_response_type(self, response_type: str) -> bool:
        return response_type == "code"

    def check_grant_type(self, grant_type: str) -> bool:
        if grant_type == CREDENTIALS:
            return self.client.service_account_id is not None
        if grant_type == DEVICE:
            return self.client.has_device_login
        return grant_type in GRANT_TYPES

    @property
    def _allowed_scopes(self) -> Sequence[str]:
        return (*self.client.scopes, *get_rule_scopes(self.client))

    def _default_scopes(self) -> Sequence[str]:
        """Return the scopes of a request without any: the scopes of services, not of claims."""
        return [scope for scope in self.client.scopes if scope not in (*LOGIN_SCOPES, *ROLE_SCOPES)]
