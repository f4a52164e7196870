"""The endpoint and the grant of devices (RFC 8628)."""

from typing import Any, Final

from authlib.oauth2.rfc6749 import (
    AccessDeniedError,
    InvalidGrantError,
    InvalidRequestError,
    InvalidScopeError,
    TokenEndpoint,
    UnauthorizedClientError,
)
from authlib.oauth2.rfc8628 import (
    AuthorizationPendingError,
    DeviceCodeGrant,
    ExpiredTokenError,
    SlowDownError,
)
from flask import request as flask_request

from strongroom.plugin_api.grants import GrantClient, GrantTerms
from strongroom_oidc_provider.devices.devices import PAUSE, SECONDS, Devices, Poll
from strongroom_oidc_provider.logout.backchannel import LogoutQueue
from strongroom_oidc_provider.oauth.client import DEVICE, SECRET_METHODS
from strongroom_oidc_provider.oauth.rules import find_requested_resource
from strongroom_oidc_provider.oauth.tokens import describe_access, get_tokens, make_token
from strongroom_oidc_provider.resources import get_audience
from strongroom_oidc_provider.scopes import OFFLINE_ACCESS, OPENID

_ERRORS: Final = {
    Poll.UNKNOWN: InvalidGrantError,
    Poll.EXPIRED: ExpiredTokenError,
    Poll.REFUSED: AccessDeniedError,
    Poll.PENDING: AuthorizationPendingError,
    Poll.EARLY: SlowDownError,
}
_RATES: Final = ("60/hour",)
_MAX_AGENT: Final = 255


class DeviceAuthorization(TokenEndpoint):  # type: ignore[misc]
    """Issues the two codes of a device."""

    ENDPOINT_NAME = "device_authorization"
    CLIENT_AUTH_METHODS = (*SECRET_METHODS, "none")

    def create_endpoint_response(self, request: Any) -> tuple[int, dict[str, Any], list[Any]]:
        """Return the response.

        Raises:
            UnauthorizedClientError: the client is not one of devices.
            InvalidRequestError: the client requests a folder.
            InvalidScopeError: the client may request none of the scopes.
        """
        client = self.server.authenticate_client(request, self.CLIENT_AUTH_METHODS, self.ENDPOINT_NAME)
        if not client.check_grant_type(DEVICE):
            raise UnauthorizedClientError
        if "authorization_details" in request.form:
            # Ignored, it would let the device open more than it has requested.
            raise InvalidRequestError("authorization_details is not supported here.")
        host = self.server.host
        host.limits.check_rate("devices", _RATES)
        scopes = (client.get_allowed_scope(request.form.get("scope")) or "").split()
        if not scopes:
            raise InvalidScopeError
        values = {
            "client_id": client.get_client_id(),
            "scopes": scopes,
            "resource": find_requested_resource(request, client.client, scopes, host.public_url),
            "address": host.limits.client_network,
            "user_agent": flask_request.headers.get("User-Agent", "")[:_MAX_AGENT],
        }
        device_code, user_code = host.get_service(Devices).issue(values)
        page = f"{host.public_url}/device"
        body = {
            "device_code": device_code,
            "user_code": user_code,
            "verification_uri": page,
            "verification_uri_complete": f"{page}?user_code={user_code}",
            "expires_in": SECONDS,
            "interval": PAUSE,
        }
        return 200, body, [("Content-Type", "application/json")]


class DeviceGrant(DeviceCodeGrant):  # type: ignore[misc]
    """Exchanges the code of a device for tokens, when its user has allowed it."""

    TOKEN_ENDPOINT_AUTH_METHODS = (*SECRET_METHODS, "none")

    def validate_token_request(self) -> None:
        """Use the code of a device up, if its user has allowed it.

        Raises:
            OAuth2Error: the user has not, or the code is unknown, used or of another client.
        """
        device_code, request = self.request.form.get("device_code"), self.request
        if not device_code:
            raise InvalidRequestError("device_code is missing.")
        client = self.authenticate_token_endpoint_client()
        if not client.check_grant_type(DEVICE):
            raise UnauthorizedClientError
        devices = self.server.host.get_service(Devices)
        outcome, device = devices.poll(device_code, client.get_client_id())
        if device is None:
            raise _ERRORS[outcome]
        request.client, request.credential, request.user = client, device, device.user_id

    def generate_token(self, **_: Any) -> dict[str, Any]:
        """Begin the grant, and return its tokens."""
        host, device, client = self.server.host, self.request.credential, self.request.client.client
        audience = get_audience(device.resource, client.id, host.public_url)
        terms = GrantTerms(device.scopes, audience, offline=OFFLINE_ACCESS in device.scopes)
        grant_client = GrantClient(client.id, client.name, client.is_public)
        describe = describe_access(host)
        issued = get_tokens(
            lambda: host.grants.begin(device.login_id, grant_client, terms, describe=describe)
        )
        self.request.issued = issued
        if OPENID in device.scopes:
            host.get_service(LogoutQueue).remember(device.login_id, device.user_id, client)
        return make_token(host, issued, device.scopes)
