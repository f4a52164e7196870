"""The authorization endpoint: who the user is, whether the user consents, and the way back."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from authlib.oauth2.rfc6749 import InvalidRequestError, OAuth2Error
from flask import request
from werkzeug.datastructures import MultiDict

from strongroom.plugin_api.browser import BrowserSession
from strongroom.plugin_api.host import HostAPI
from strongroom.plugin_api.web import ApiError
from strongroom_oidc_provider.consents.consents import Consents, Given
from strongroom_oidc_provider.consents.folders import Folder
from strongroom_oidc_provider.documents.errors import DocumentRefused, DocumentUnavailable
from strongroom_oidc_provider.logins.assurance import find_requested, is_at_least
from strongroom_oidc_provider.logins.browser_requests import Unanswerable, read_parameters, redirect_form
from strongroom_oidc_provider.logins.pages import ProviderPages
from strongroom_oidc_provider.logins.parked import MAX_SEALED, ROOT, ParkedRequests
from strongroom_oidc_provider.logins.pushed import PREFIX, SECONDS, PushedRequests
from strongroom_oidc_provider.models import Client
from strongroom_oidc_provider.oauth.client import CODE_METHODS
from strongroom_oidc_provider.oauth.code_grant import require_single
from strongroom_oidc_provider.oauth.errors import ConsentRequired, LoginRequired, ResponseTypeRefused
from strongroom_oidc_provider.oauth.requests import Parameters, ProviderRequest
from strongroom_oidc_provider.oauth.server import ProviderServer

KNOWN: Final = (
    "response_type",
    "client_id",
    "redirect_uri",
    "scope",
    "state",
    "nonce",
    "code_challenge",
    "code_challenge_method",
    "prompt",
    "max_age",
    "acr_values",
    "login_hint",
    "id_token_hint",
    "resource",
    "authorization_details",
    "response_mode",
    "request",
    "request_uri",
)
"""The parameters that are read; others are ignored (RFC 6749, section 3.1)."""

_HINTED: Final = "hinted"
"""The user of a verified ID token, in a sealed request."""

PUSH_ENDPOINT: Final = "pushed_authorization_request"
MAX_PUSHED: Final = 8192
"""The longest pushed request, in characters."""


@dataclass(frozen=True, slots=True)
class AuthorizationRequest:
    """A valid request for an authorization.

    Args:
        grant: Authlib's, which creates the response.
        arrived_at: when it arrived, in milliseconds since the Unix epoch.
        hinted: the user of the ID token in the request; ``None`` without one.
    """

    grant: Any
    client: Client
    redirect_uri: str
    parameters: Parameters
    arrived_at: int
    hinted: str | None

    @property
    def prompts(self) -> Sequence[str]:
        """What the client wants the user to be asked for."""
        return self.parameters.get("prompt", "").split()

    @property
    def scopes(self) -> Sequence[str]:
        """The scopes that the client gets."""
        return tuple(self.grant.request.scope.split())

    @property
    def resource(self) -> str:
        """The URI of the service that the tokens are for; empty: the client itself."""
        return str(self.grant.request.resource)

    @property
    def folder(self) -> Folder | None:
        """The folder that the client requests; ``None``: the user chooses."""
        folder: Folder | None = self.grant.request.folder
        return folder

    @property
    def acr(self) -> str | None:
        """How strongly the login should be proven; ``None``: the client does not say."""
        return find_requested(self.parameters.get("acr_values", ""))

    @property
    def proven_since(self) -> int | None:
        """Since when the user must have logged in, in milliseconds since the Unix epoch."""
        # To the second, which the time of a login has.
        now = self.arrived_at // 1000
        if "login" in self.prompts:
            return now * 1000
        max_age = self.parameters.get("max_age")
        return None if max_age is None else (now - int(max_age)) * 1000


@dataclass(slots=True, eq=False, repr=False)
class Authorizations:
    """Answers requests for authorizations."""

    _host: HostAPI

    def begin(self) -> Any:
        """Return the response to a request: the redirect to the client, or the way to the user."""
        parameters = self._find_pushed(MultiDict(read_parameters(KNOWN)))
        if parameters is None:
            return self._pages.refusal("request-expired")
        return self._answer(parameters, self._host.clock.now(), self._begin)

    def push(self) -> Any:
        """Return the response to a request that a client sends before its browser does (RFC 9126)."""
        server, oauth_request = self._server, self._server.read_request()
        try:
            require_single(oauth_request.form)
            client = server.authenticate_client(oauth_request, CODE_METHODS, PUSH_ENDPOINT)
            uri = self._push(client.get_client_id())
        except OAuth2Error as error:
            # The client learns it from the response, and not from its browser.
            error.redirect_uri = None
            return server.handle_error_response(oauth_request, error)
        headers = [("Content-Type", "application/json")]
        return server.handle_response(201, {"request_uri": uri, "expires_in": SECONDS}, headers)

    def begin_by_form(self) -> Any:
        """Return the redirect to :meth:`begin` with the fields of a form."""
        return redirect_form(self._host, ROOT, KNOWN)

    def resume(self) -> Any:
        """Return the response after a login: the page of the consent, or the way to the client."""
        parked = self._host.get_service(ParkedRequests)
        sealed = parked.get()
        unsealed = parked.unseal(sealed) if sealed is not None else None
        if unsealed is None:
            return self._pages.refusal("expired")
        parameters, arrived_at = unsealed
        return self._answer(MultiDict(parameters), arrived_at, self._resume)

    def decide(self) -> Any:
        """Return the response to the form of the page of the consent."""
        self._host.browser.require_csrf()
        unsealed = self._host.get_service(ParkedRequests).unseal(request.form.get("request", ""))
        if unsealed is None:
            return self._pages.refusal("expired")
        parameters, arrived_at = unsealed
        return self._answer(MultiDict(parameters), arrived_at, self._decide)

    def _answer(self, parameters: Parameters, arrived_at: int, answer: Any) -> Any:
        try:
            authorization = self._parse(parameters, arrived_at)
        except Unanswerable as refusal:
            return self._pages.refusal(refusal.reason, detail=refusal.detail)
        except OAuth2Error as error:
            return self._server.handle_error_response(None, error)
        return answer(authorization)

    def _push(self, client_id: str) -> str:
        """Store the form of the current request, and return its URI.

        Raises:
            OAuth2Error: the browser's request would be refused.
        """
        pairs = [(name, value) for name, value in read_parameters(KNOWN) if name != "client_id"]
        if any(name == "request_uri" for name, _ in pairs):
            raise InvalidRequestError("request_uri is not allowed here.")
        if sum(len(value) for _, value in pairs) > MAX_PUSHED:
            raise InvalidRequestError("The request is too long.")
        pairs.append(("client_id", client_id))
        try:
            self._parse(MultiDict(pairs), self._host.clock.now())
        except Unanswerable as error:
            raise InvalidRequestError("redirect_uri is not registered.") from error
        return self._host.get_service(PushedRequests).store(client_id, pairs)

    def _find_pushed(self, parameters: Parameters) -> Parameters | None:
        """Return the parameters that a request refers to, or its own; ``None`` if it has expired."""
        uri, ids = parameters.get("request_uri", ""), parameters.getlist("client_id")
        if not uri.startswith(PREFIX) or len(ids) != 1:
            return parameters
        # All others are ignored: only the pushed ones are the client's (RFC 9126, section 4).
        pairs = self._host.get_service(PushedRequests).consume(uri, ids[0])
        return None if pairs is None else MultiDict(pairs)

    def _begin(self, authorization: AuthorizationRequest) -> Any:
        session = self._host.browser.session()
        need = self._find_need(authorization, session)
        if need is None:
            return self._respond_as_before(authorization, session)
        if "none" in authorization.prompts:
            return self._refuse(authorization, need)
        sealed = self._seal(authorization)
        if len(sealed) > MAX_SEALED:
            return self._refuse(authorization, InvalidRequestError("The request is too long."))
        return self._host.get_service(ParkedRequests).park(sealed, authorization.client.id)

    def _resume(self, authorization: AuthorizationRequest) -> Any:
        session = self._require_session(authorization)
        if self._needs_page(authorization, session):
            return self._ask(authorization, session)
        return self._leave(self._respond_as_before(authorization, session), authorization)

    def _ask(self, authorization: AuthorizationRequest, session: BrowserSession) -> Any:
        given = self._find_given(authorization, session)
        return self._pages.consent(
            authorization.client,
            authorization,
            self._seal(authorization),
            session,
            authorization.folder or (given.folder if given else None),
        )

    def _decide(self, authorization: AuthorizationRequest) -> Any:
        decision = request.form.get("decision")
        if decision == "switch":
            self._host.browser.end_session()
            parked = self._host.get_service(ParkedRequests)
            return parked.park(self._seal(authorization), authorization.client.id)
        session = self._require_session(authorization)
        if decision != "allow":
            return self._leave(self._respond(authorization, None), authorization)
        try:
            folder = self._pages.read_folder(authorization)
        except ValueError:
            return self._ask(authorization, session)
        self._host.get_service(Consents).give(
            session.user_id,
            authorization.client.id,
            authorization.resource,
            authorization.scopes,
            folder,
            name=authorization.client.name,
        )
        return self._leave(self._respond(authorization, session, folder), authorization)

    def _find_need(
        self, authorization: AuthorizationRequest, session: BrowserSession | None
    ) -> OAuth2Error | None:
        """Return the error of what is missing; ``None``: the client gets a code at once."""
        if session is None or session.actor_id is not None:
            return LoginRequired()
        if authorization.proven_since is not None and session.auth_time < authorization.proven_since:
            return LoginRequired()
        if authorization.hinted not in (None, session.user_id):
            return LoginRequired()
        # Voluntary: without a page, the client learns from the claim what the login is.
        has_page = "none" not in authorization.prompts
        if has_page and not is_at_least(session.acr, authorization.acr):
            return LoginRequired()
        return ConsentRequired() if self._needs_page(authorization, session) else None

    def _needs_page(self, authorization: AuthorizationRequest, session: BrowserSession) -> bool:
        """Return whether the user must see which client gets what, and as which user."""
        if {"consent", "select_account"} & set(authorization.prompts):
            return True
        if authorization.hinted not in (None, session.user_id):
            return True
        if authorization.client.is_trusted:
            return False
        given = self._find_given(authorization, session)
        if given is None or not given.scopes.issuperset(authorization.scopes):
            return True
        if authorization.folder not in (None, given.folder):
            return True
        # A folder that is gone would otherwise fail at the client.
        return given.folder is not None and not self._pages.can_see(given.folder)

    def _find_given(self, authorization: AuthorizationRequest, session: BrowserSession) -> Given | None:
        consents = self._host.get_service(Consents)
        return consents.find(session.user_id, authorization.client.id, authorization.resource)

    def _require_session(self, authorization: AuthorizationRequest) -> BrowserSession:
        require = partial(
            self._host.browser.require_session,
            proven_since=authorization.proven_since,
            login_hint=authorization.parameters.get("login_hint"),
        )
        try:
            return require(acr=authorization.acr)
        except ApiError as error:
            if authorization.acr is None or error.code != "error.step-up-required":
                raise
            # The user has no stronger proof.
            return require()

    def _refuse(self, authorization: AuthorizationRequest, error: OAuth2Error) -> Any:
        error.redirect_uri, error.state = (
            authorization.redirect_uri,
            authorization.parameters.get("state"),
        )
        return self._server.handle_error_response(authorization.grant.request, error)

    def _respond_as_before(
        self, authorization: AuthorizationRequest, session: BrowserSession | None
    ) -> Any:
        """Return the redirect with a code for what the user has consented to earlier."""
        given = self._find_given(authorization, session) if session else None
        is_trusted = authorization.client.is_trusted
        folder = authorization.folder if is_trusted or given is None else given.folder
        return self._respond(authorization, session, folder)

    def _respond(
        self,
        authorization: AuthorizationRequest,
        session: BrowserSession | None,
        folder: Folder | None = None,
    ) -> Any:
        authorization.grant.request.chosen_folder = folder
        return self._server.create_authorization_response(
            authorization.grant.request, grant_user=session, grant=authorization.grant
        )

    def _leave(self, response: Any, authorization: AuthorizationRequest) -> Any:
        """Return the page that leads to the client.

        Not a redirect: a browser whose form led here would refuse it, because the policy of that form's
        page allows only this server.
        """
        return self._pages.departure(authorization.client, response.headers["Location"])

    def _seal(self, authorization: AuthorizationRequest) -> str:
        parameters: dict[str, Any] = authorization.parameters.to_dict(flat=True)
        # The token itself has been verified, and would be too long for a cookie.
        if parameters.pop("id_token_hint", None) is not None:
            parameters[_HINTED] = authorization.hinted
        return self._host.get_service(ParkedRequests).seal(parameters, authorization.arrived_at)

    def _parse(self, parameters: Parameters, arrived_at: int) -> AuthorizationRequest:
        """Return a request.

        Raises:
            Unanswerable: the client or the redirect URI is unknown.
            OAuth2Error: something else is wrong, which the client learns.
        """
        client, redirect_uri = self._find_client(parameters)
        oauth_request = ProviderRequest("GET", parameters)
        try:
            require_single(parameters)
            if parameters.get("response_type") != "code":
                raise ResponseTypeRefused
            grant = self._server.get_consent_grant(oauth_request)
            hinted = self._find_hinted(parameters, client)
        except OAuth2Error as error:
            error.redirect_uri, error.state = redirect_uri, parameters.get("state")
            raise
        return AuthorizationRequest(grant, client, redirect_uri, parameters, arrived_at, hinted)

    def _find_hinted(self, parameters: Parameters, client: Client) -> str | None:
        """Return the user of the ID token in a request; ``None`` without one.

        Raises:
            InvalidRequestError: it is not an ID token of the client.
        """
        token = parameters.get("id_token_hint")
        if token is None:
            return parameters.get(_HINTED)
        try:
            claims = self._host.signing.verify(token, audience=client.id, expired=True)
        except ValueError as error:
            raise InvalidRequestError("id_token_hint is invalid.") from error
        return str(claims["sub"])

    def _find_client(self, parameters: Parameters) -> tuple[Client, str]:
        ids, uris = (parameters.getlist(name) for name in ("client_id", "redirect_uri"))
        try:
            client = self._server.query_client(ids[0]) if len(ids) == 1 else None
        except DocumentRefused as error:
            raise Unanswerable("document-refused", error.description) from error
        except DocumentUnavailable as error:
            raise Unanswerable("document-unavailable", error.description) from error
        if client is None:
            raise Unanswerable("client-unknown")
        if len(uris) != 1 or not client.check_redirect_uri(uris[0]):
            raise Unanswerable("redirect-uri-unknown")
        return client.client, uris[0]

    @property
    def _server(self) -> ProviderServer:
        return self._host.get_service(ProviderServer)

    @property
    def _pages(self) -> ProviderPages:
        return self._host.get_service(ProviderPages)
