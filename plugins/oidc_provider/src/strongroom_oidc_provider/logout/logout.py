"""Logouts that clients begin (OpenID Connect RP-Initiated Logout 1.0)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from flask import request

from strongroom.plugin_api.browser import BrowserSession
from strongroom.plugin_api.host import HostAPI
from strongroom_oidc_provider.documents.errors import DocumentRefused, DocumentUnavailable
from strongroom_oidc_provider.documents.lookup import ClientLookup
from strongroom_oidc_provider.logins.browser_requests import (
    Unanswerable,
    redirect_exactly,
    redirect_form,
)
from strongroom_oidc_provider.logins.pages import ProviderPages
from strongroom_oidc_provider.logins.parked import ParkedRequests
from strongroom_oidc_provider.models import Client
from strongroom_oidc_provider.oauth.redirects import add_parameters

ROOT: Final = "/oauth2/end-session"
KNOWN: Final = ("id_token_hint", "client_id", "post_logout_redirect_uri", "state")
"""The parameters that are read; others are ignored."""


@dataclass(frozen=True, slots=True)
class LogoutRequest:
    """A valid request for a logout.

    Args:
        client: the client; ``None``: the request names none.
        claims: of the ID token in the request; empty without a valid one.
        url: where the browser goes on to; ``None``: nowhere.
    """

    client: Client | None
    claims: Mapping[str, Any]
    url: str | None

    def is_confirmed(self, session: BrowserSession) -> bool:
        """Return whether the client has proven that it means the login of a session."""
        is_user = session.actor_id is None and self.claims.get("sub") == session.user_id
        return is_user and self.claims.get("sid") == session.login_id


@dataclass(slots=True, eq=False, repr=False)
class Logouts:
    """Answers requests for logouts."""

    _host: HostAPI

    def begin(self) -> Any:
        """Return the way to the client after the logout, or the page that asks the user for it."""
        try:
            logout = self._parse()
        except Unanswerable as refusal:
            return self._pages.refusal(refusal.reason, heading="logout-refused")
        session = self._host.browser.session()
        if session is not None and not logout.is_confirmed(session):
            return self._pages.logout(logout.client, session, self._seal(logout))
        if session is not None:
            self._host.browser.end_session()
        if logout.url is None:
            return self._pages.logged_out()
        return redirect_exactly(logout.url)

    def begin_by_form(self) -> Any:
        """Return the redirect to :meth:`begin` with the fields of a form."""
        return redirect_form(self._host, ROOT, KNOWN)

    def confirm(self) -> Any:
        """Log out by the form of the page, and return the page that leads to the client, if any.

        The form in the menu of the other pages names no request.
        """
        self._host.browser.require_csrf()
        if "request" not in request.form:
            self._host.browser.end_session()
            return self._pages.logged_out()
        parked = self._host.get_service(ParkedRequests)
        unsealed = parked.unseal(request.form["request"])
        if unsealed is None:
            return self._pages.refusal("expired", heading="logout-refused")
        parameters, _ = unsealed
        self._host.browser.end_session()
        client = self._find_client(parameters.get("client"))
        if client is None or parameters.get("url") is None:
            return self._pages.logged_out()
        # Not a redirect: the policy of the form's page allows only this server.
        return self._pages.departure(client, parameters["url"])

    def _seal(self, logout: LogoutRequest) -> str:
        client_id = None if logout.client is None else logout.client.id
        parameters = {"client": client_id, "url": logout.url}
        return self._host.get_service(ParkedRequests).seal(parameters, self._host.clock.now())

    def _parse(self) -> LogoutRequest:
        """Return the request.

        Raises:
            Unanswerable: the client or the redirect URI is unknown.
        """
        claims, client_id = self._read_hint(), _read("client_id")
        audience = claims.get("aud")
        if audience is not None and client_id not in (None, audience):
            raise Unanswerable("client-unknown")
        client = self._find_client(audience or client_id)
        if client is None and client_id is not None:
            raise Unanswerable("client-unknown")
        return LogoutRequest(client, claims, _find_url(client))

    def _read_hint(self) -> Mapping[str, Any]:
        """Return the claims of the ID token; none without a valid one, so that the user is asked."""
        try:
            token = _read("id_token_hint") or ""
            claims: dict[str, Any] = self._host.signing.verify(token, audience=None, expired=True)
        except ValueError:
            return {}
        audience = claims["aud"]
        return {**claims, "aud": audience if isinstance(audience, str) else audience[0]}

    def _find_client(self, client_id: str | None) -> Client | None:
        try:
            return None if client_id is None else self._host.get_service(ClientLookup).find(client_id)
        except (DocumentRefused, DocumentUnavailable):
            return None

    @property
    def _pages(self) -> ProviderPages:
        return self._host.get_service(ProviderPages)


def _read(name: str) -> str | None:
    """Return a parameter of the current request; ``None`` if it is absent or repeated."""
    values = request.values.getlist(name)
    return values[0] if len(values) == 1 else None


def _find_url(client: Client | None) -> str | None:
    """Return where the browser goes on to; ``None``: nowhere, because the client is unknown, too.

    Raises:
        Unanswerable: the client has not registered the URI.
    """
    if client is None or "post_logout_redirect_uri" not in request.values:
        return None
    uri, state = _read("post_logout_redirect_uri"), _read("state")
    # Compared exactly, loopback ports included: nothing is normalized.
    if uri not in client.post_logout_redirect_uris:
        raise Unanswerable("redirect-uri-unknown")
    return uri if state is None else add_parameters(uri, {"state": state})
