"""Authorization codes (RFC 6749, section 4.1)."""

from typing import Any

from authlib.oauth2.rfc6749 import AccessDeniedError, InvalidRequestError
from authlib.oauth2.rfc6749.grants import AuthorizationCodeGrant

from strongroom.plugin_api.browser import BrowserSession
from strongroom.plugin_api.grants import GrantClient, GrantTerms
from strongroom_oidc_provider.consents.folders import limit_scopes
from strongroom_oidc_provider.logout.backchannel import LogoutQueue
from strongroom_oidc_provider.models import Code
from strongroom_oidc_provider.oauth.client import CODE_METHODS
from strongroom_oidc_provider.oauth.errors import InvalidTarget
from strongroom_oidc_provider.oauth.redirects import add_parameters
from strongroom_oidc_provider.oauth.tokens import describe_access, get_tokens, make_token
from strongroom_oidc_provider.resources import get_audience, is_same
from strongroom_oidc_provider.scopes import OFFLINE_ACCESS, OPENID


class CodeGrant(AuthorizationCodeGrant):  # type: ignore[misc]
    """Issues a code to the browser, and tokens for it to the client."""

    TOKEN_ENDPOINT_AUTH_METHODS = CODE_METHODS

    def create_authorization_response(
        self, redirect_uri: str, grant_user: BrowserSession | None
    ) -> tuple[int, str, list[tuple[str, str]]]:
        """Return the redirect with a new code.

        Raises:
            AccessDeniedError: without a user, who has refused.
        """
        if grant_user is None:
            raise AccessDeniedError(redirect_uri=redirect_uri)
        parameters = {"code": self._issue(redirect_uri, grant_user)}
        if state := self.request.payload.state:
            parameters["state"] = state
        return 302, "", [("Location", add_parameters(redirect_uri, parameters))]

    def query_authorization_code(self, code: str, client: Any) -> Code | None:
        stored: Code | None = self.server.codes.find(code, client.get_client_id())
        if stored is not None:
            self._require_resource(stored.resource)
        return stored

    def authenticate_user(self, authorization_code: Code) -> str | None:
        """Return the user of a code at its first use.

        It is called after PKCE was checked, so that only the client itself can use the code up.
        """
        code = authorization_code
        return code.user_id if self.server.codes.consume(code) else None

    def generate_token(self, **_: Any) -> dict[str, Any]:
        """Begin the grant, and return its tokens."""
        host, code, client = self.server.host, self.request.authorization_code, self.client.client
        terms = GrantTerms(
            code.scopes,
            get_audience(code.resource, client.id, host.public_url),
            code.tenant_id,
            code.file_id,
            offline=OFFLINE_ACCESS in code.scopes,
        )
        grant_client = GrantClient(client.id, client.name, client.is_public)
        describe = describe_access(host)
        issued = get_tokens(
            lambda: host.grants.begin(code.login_id, grant_client, terms, describe=describe)
        )
        self.server.codes.set_grant(code, issued.grant.id)
        self.request.issued = issued
        if OPENID in code.scopes:
            host.get_service(LogoutQueue).remember(code.login_id, code.user_id, client)
        return make_token(host, issued, code.scopes)

    def delete_authorization_code(self, authorization_code: Code) -> None:
        """Keep a used code, so that a second use of it ends the grant."""

    def _issue(self, redirect_uri: str, session: BrowserSession) -> str:
        request = self.request
        folder = request.chosen_folder
        values = {
            "client_id": self.client.get_client_id(),
            "user_id": session.user_id,
            "login_id": session.login_id,
            "redirect_uri": redirect_uri,
            "scopes": limit_scopes(request.scope.split(), folder),
            "tenant_id": folder and folder.tenant_id,
            "file_id": folder and folder.file_id,
            "resource": request.resource,
            "nonce": request.payload.data.get("nonce"),
            "challenge": request.payload.data["code_challenge"],
        }
        code: str = self.server.codes.issue(values)
        return code

    def _require_resource(self, resource: str) -> None:
        """Require that a request for tokens names no other service than the code's.

        Raises:
            InvalidTarget: it does.
        """
        resources = self.request.payload.datalist.get("resource", [])
        if any(not is_same(each, resource) for each in resources):
            raise InvalidTarget("The code is for another resource.")


def require_single(parameters: Any) -> None:
    """Require that a request has no parameter twice (RFC 6749, section 3.1).

    Raises:
        InvalidRequestError: it has.
    """
    repeated = [name for name in parameters if len(parameters.getlist(name)) > 1]
    if repeated and repeated != ["resource"]:
        raise InvalidRequestError("A parameter is repeated.")
