"""The route to which providers report ended sessions (OpenID Connect Back-Channel Logout 1.0)."""

import hashlib
import logging
from dataclasses import dataclass
from typing import Any, Final

from flask import Response, request

from strongroom.plugin_api.host import HostAPI
from strongroom.plugin_api.login import Credential
from strongroom.plugin_api.request import current_host
from strongroom.plugin_api.web import Access, ApiError, Blueprint, ErrorKind
from strongroom_login_oauth.errors import ClientFault, ProviderError, unavailable_kind
from strongroom_login_oidc.logout_token import LogoutToken, verify_logout_token
from strongroom_login_oidc.method import OIDCLogin
from strongroom_login_oidc.people import NO_SESSION, make_credential, session_key
from strongroom_login_oidc.provider import OIDCProvider

LOGOUTS: Final = "/api/v1/oidc-logouts"
"""The URI that is registered at a provider is this path, and the name of the provider."""

INVALID: Final = ErrorKind(400, "error.oidc-logout-token-invalid", "Invalid logout token.")
UNKNOWN: Final = ErrorKind(404, "error.oidc-logout-provider-unknown", "Unknown provider.")
UNAVAILABLE: Final = unavailable_kind(OIDCLogin.name, OIDCLogin.platform)
RATES: Final = ("1200/minute",)
"""Per address. A provider sends one token per session, and perhaps ends a whole company's."""

_FORM: Final[dict[str, Any]] = {
    "requestBody": {
        "required": True,
        "content": {
            "application/x-www-form-urlencoded": {
                "schema": {
                    "type": "object",
                    "required": ["logout_token"],
                    "properties": {"logout_token": {"type": "string"}},
                }
            }
        },
    }
}

logger = logging.getLogger(__name__)


routes = Blueprint("oidc-logouts", description="Logouts at OpenID Connect providers.")


def count() -> None:
    """Count a request of a provider."""
    current_host().limits.check_rate("logouts", RATES)


@routes.operation(
    "POST",
    f"{LOGOUTS}/<provider>",
    access=Access.PUBLIC,
    errors=(INVALID, UNKNOWN, UNAVAILABLE),
    limit=count,
    document=_FORM,
)
def end_oidc_sessions(provider: str) -> Any:
    """End the logins of a session that has ended at a provider, which sends a logout token."""
    login = _login()
    client = login.providers.get(provider)
    if not isinstance(client, OIDCProvider):
        raise ApiError(UNKNOWN)
    try:
        token = _verified(client, login.now())
    except ClientFault as fault:
        logger.info("A logout token of %s was refused: %s", provider, fault)
        raise ApiError(INVALID) from fault
    except ProviderError as error:
        logger.warning("A logout token of %s cannot be verified: %s", provider, error)
        raise ApiError(UNAVAILABLE) from error
    Logouts(current_host(), client).apply(token)
    return Response(status=200)


def _login() -> OIDCLogin:
    login = current_host().extension(OIDCLogin)
    assert login is not None  # noqa: S101  the route exists only with it
    return login


def _verified(provider: OIDCProvider, now: float) -> LogoutToken:
    values = request.form.getlist("logout_token")
    options = provider.options
    if len(values) != 1:
        raise ApiError(INVALID)
    token = verify_logout_token(values[0], provider.keys, options.algorithms, options.client_id, now)
    provider.check_token_issuer(token.claims)
    return token


@dataclass(slots=True, eq=False, repr=False)
class Logouts:
    """Ends what a logout token of a provider names."""

    _host: HostAPI
    _provider: OIDCProvider

    def apply(self, token: LogoutToken) -> None:
        """End the logins, once.

        Raises:
            ApiError: the token was used before, on any node.
        """
        digest = hashlib.sha256(token.id.encode()).hexdigest()
        key = f"logout.{self._provider.name}.{digest}"
        values, ends_at = self._host.values, round(token.ends_at * 1000)
        if not values.compare_and_set(key, None, True, expires_at=ends_at):
            logger.info("A logout token of %s was sent again", self._provider.name)
            raise ApiError(INVALID)
        try:
            self._end(token)
        except Exception:
            # So that the provider can send it again.
            values.delete(key)
            raise

    def _end(self, token: LogoutToken) -> None:
        name, logins = self._provider.name, self._host.logins
        session = session_key(name, token.session) if token.session else None
        if not token.has_subject:
            logins.end_session(OIDCLogin.name, str(session))
            return
        person: Credential = make_credential(name, self._provider.subject(token.claims))
        logins.end(person, session=session)
        if session is not None:
            # Those whose ID token had no sid, which might be of the session.
            logins.end(person, session=session_key(name, NO_SESSION))
