"""The authorization server of Authlib, on the tables of this plugin and the grants of the host."""

from collections.abc import Sequence
from typing import Any, Final

from authlib.oauth2.rfc6749 import AuthorizationServer, InvalidClientError, OAuth2Error
from flask import Response, json, request
from werkzeug.datastructures import MultiDict

from strongroom.plugin_api.host import HostAPI
from strongroom_oidc_provider.clients.clients import Clients
from strongroom_oidc_provider.documents.client import PRIVATE_KEY_JWT
from strongroom_oidc_provider.documents.lookup import ClientLookup
from strongroom_oidc_provider.logins.codes import Codes
from strongroom_oidc_provider.oauth.assertions import Assertions
from strongroom_oidc_provider.oauth.authentication import authenticate_basic, authenticate_post
from strongroom_oidc_provider.oauth.client import OAuthClient
from strongroom_oidc_provider.oauth.code_grant import CodeGrant, require_single
from strongroom_oidc_provider.oauth.credentials_grant import CredentialsGrant
from strongroom_oidc_provider.oauth.device_grant import DeviceAuthorization, DeviceGrant
from strongroom_oidc_provider.oauth.endpoints import Introspection, Revocation
from strongroom_oidc_provider.oauth.pkce import RequiredChallenge
from strongroom_oidc_provider.oauth.redirects import add_parameters
from strongroom_oidc_provider.oauth.refresh_grant import RefreshGrant
from strongroom_oidc_provider.oauth.requests import ProviderRequest
from strongroom_oidc_provider.oauth.rules import RequestRules
from strongroom_oidc_provider.oauth.tokens import IDTokens

_UNAUTHORIZED: Final = 401


class ProviderServer(AuthorizationServer):  # type: ignore[misc]
    """Answers the requests of clients."""

    def __init__(self, host: HostAPI) -> None:
        super().__init__()
        self.host = host
        self.clients = host.get_service(Clients)
        self.codes = host.get_service(Codes)
        self.register_grant(CodeGrant, [RequiredChallenge(), RequestRules(host), IDTokens(host)])
        self.register_grant(RefreshGrant, [IDTokens(host)])
        self.register_grant(CredentialsGrant)
        self.register_grant(DeviceGrant, [IDTokens(host)])
        self.register_endpoint(DeviceAuthorization)
        self.register_endpoint(Revocation)
        self.register_endpoint(Introspection)
        self.register_client_auth_method("client_secret_basic", authenticate_basic)
        self.register_client_auth_method("client_secret_post", authenticate_post)
        self.register_client_auth_method(PRIVATE_KEY_JWT, Assertions(host).authenticate)

    def query_client(self, client_id: str) -> OAuthClient | None:
        client = self.host.get_service(ClientLookup).find(client_id)
        return None if client is None else OAuthClient(client, self.clients.verify_secret)

    def save_token(self, token: dict[str, Any], request: Any) -> None:
        """The grants of the host have stored it."""

    def send_signal(self, name: str, *args: Any, **kwargs: Any) -> None:
        """Nothing listens."""

    def create_oauth2_request(self, request: ProviderRequest) -> ProviderRequest:
        return request

    def handle_response(self, status: int, body: Any, headers: Sequence[tuple[str, str]]) -> Response:
        content = json.dumps(body) if isinstance(body, dict) else body
        response = Response(content, status, dict(headers))
        response.headers["Cache-Control"] = "no-store"
        if "Location" in response.headers:
            # Which server answers (RFC 9207): a client of several ones compares it.
            parameters = {"iss": self.host.public_url}
            response.headers["Location"] = add_parameters(response.headers["Location"], parameters)
        return response

    def handle_error_response(self, request: Any, error: OAuth2Error) -> Response:
        if error.redirect_uri:
            location = add_parameters(error.redirect_uri, dict(error.get_body()))
            return self.handle_response(302, "", [("Location", location)])
        if isinstance(error, InvalidClientError):
            error.status_code = _UNAUTHORIZED
        return super().handle_error_response(request, error)  # type: ignore[no-any-return]

    def answer_token(self) -> Response:
        """Return the response to the current request for tokens."""
        oauth_request = self.read_request()
        try:
            require_single(oauth_request.form)
        except OAuth2Error as error:
            return self.handle_error_response(oauth_request, error)
        return self.create_token_response(oauth_request)  # type: ignore[no-any-return]

    def answer(self, endpoint: str) -> Response:
        """Return the response of another endpoint to the current request."""
        oauth_request = self.read_request()
        try:
            require_single(oauth_request.form)
        except OAuth2Error as error:
            return self.handle_error_response(oauth_request, error)
        return self.create_endpoint_response(endpoint, oauth_request)  # type: ignore[no-any-return]

    def read_request(self) -> ProviderRequest:
        """Return the current request, with the fields of its form."""
        return ProviderRequest(request.method, MultiDict(request.form), dict(request.headers))
