"""The browser of a request, as plugins see it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import tzinfo
from functools import partial
from typing import Any, Final

from strongroom.assembly.plugin_host.logins import login_attempt
from strongroom.clock import Clock
from strongroom.foundation.assurance import ACR_VALUES, is_as_strong
from strongroom.foundation.errors import (
    ImpersonationRefused,
    NotImplementedHere,
    StepUpRequired,
    TokenInvalid,
)
from strongroom.identity.sessions.browser_sessions import BrowserSessions
from strongroom.identity.sessions.login import LoginService
from strongroom.identity.sessions.login_methods import LoginMethods
from strongroom.identity.sessions.service import AuthorizationService
from strongroom.plugin_api.browser import BrowserAPI, BrowserSession, is_local_path
from strongroom.plugin_api.login import LogoutRequest
from strongroom.plugin_api.pages import LoginPages
from strongroom.plugin_api.schemas import IssuedTokensSchema
from strongroom.plugin_api.web import ApiError, RestResponse
from strongroom.web.http.access import SAFE_METHODS, set_caller
from strongroom.web.http.errors import error_response
from strongroom.web.http.request import client_address, get_service, header, method, origin
from strongroom.web.http.response import serializer
from strongroom.web.pages.browsers import Browsers, BrowserVisit, go_to_login, go_to_step_up
from strongroom.web.pages.error_pages import is_navigation
from strongroom.web.pages.form_secrets import presented_secret
from strongroom.web.pages.page_zones import page_zone

USELESS_PROOF: Final = 60_000
"""Milliseconds after a proof in which another one is not required, because it would not be stronger."""


@dataclass(slots=True, eq=False, repr=False)
class HostBrowser(BrowserAPI):
    """The browser of the current request.

    Args:
        plugin: the plugin, whose values it reads and stores.
        offered_pages: returns the pages on which browsers log in, if a plugin has them.
    """

    _plugin: str
    _public_url: str
    _clock: Clock
    _offered_pages: Callable[[], LoginPages | None]

    @property
    def csrf(self) -> str:
        return self._visit.csrf

    @property
    def device_id(self) -> str:
        return self._visit.state.device

    @property
    def language(self) -> str | None:
        return self._visit.state.language if self._visit.is_known else None

    @property
    def zone(self) -> tzinfo:
        return page_zone()

    @property
    def values(self) -> Mapping[str, Any]:
        return self._visit.state.values.get(self._plugin, {}) if self._visit.is_known else {}

    def store(self, values: Mapping[str, Any]) -> None:
        self._visit.update(values={**self._visit.state.values, self._plugin: dict(values)})

    def require_csrf(self) -> None:
        self._visit.require_csrf(header("Sec-Fetch-Site"), presented_secret())

    def begin_session(self, access_token: str) -> None:
        get_service(BrowserSessions).begin(self._visit, access_token, origin())

    def begin_impersonation(self, access_token: str) -> None:
        get_service(BrowserSessions).begin_impersonation(self._visit, access_token)

    def end_impersonation(self) -> None:
        get_service(BrowserSessions).end_impersonation(self._visit, origin())

    def replace_token(self, access_token: str) -> None:
        login = get_service(AuthorizationService).caller(access_token, None)
        if login.authorization_id != self._visit.authorization_id:
            raise TokenInvalid
        self._visit.update(token=access_token)
        self._visit.session = None

    def logout_url(self, return_path: str) -> str | None:
        authorization_id = self._visit.authorization_id
        if authorization_id is None:
            return None
        try:
            login = get_service(AuthorizationService).read(authorization_id)
        except TokenInvalid:
            return None
        return_url = f"{self._public_url}{return_path}"
        logout = LogoutRequest(login.user_id, login.upstream_session, return_url)
        return get_service(LoginMethods).logout_url(login.method, logout)

    def end_session(self) -> None:
        get_service(BrowserSessions).end(self._visit, origin())

    def session(self) -> BrowserSession | None:
        return self._session(accepts_impersonation=False)

    def require_session(
        self,
        *,
        accepts_impersonation: bool = False,
        proven_since: int | None = None,
        acr: str | None = None,
        login_hint: str | None = None,
    ) -> BrowserSession:
        if acr not in (None, *ACR_VALUES):
            raise ValueError(f"{acr!r} is none of {', '.join(ACR_VALUES)}")
        session = self._session(accepts_impersonation=accepts_impersonation)
        pages = self._offered_pages()
        if session is None:
            go_to_login(partial(pages.login_path, login_hint=login_hint) if pages else None)
        is_old = proven_since is not None and session.auth_time < proven_since
        is_weak = acr is not None and not is_as_strong(session.acr, acr)
        if is_old or is_weak:
            # The proof of a moment ago was the strongest that the user has: do not ask again and again.
            age = self._clock.now() - session.auth_time
            is_useless = not is_old and age < USELESS_PROOF
            go_to_step_up(pages, StepUpRequired(acr, None), is_useless=is_useless)
        return session

    def login_path(self, resume: str | None = None, *, login_hint: str | None = None) -> str | None:
        pages = self._offered_pages()
        return None if pages is None else pages.login_path(resume, login_hint=login_hint)

    def step_up_path(self, resume: str) -> str | None:
        pages = self._offered_pages()
        return None if pages is None else pages.step_up_path(resume)

    def finish_login(
        self,
        method: str,
        proof: Mapping[str, str],
        *,
        resume: str | None = None,
        link: str | None = None,
    ) -> Any:
        pages = self._offered_pages()
        if pages is None:
            raise NotImplementedHere("No plugin has login pages.")
        response: Any = pages.finish(
            self._log_in(method, proof),
            resume if resume and is_local_path(resume) else None,
            method=method,
            link=link,
        )
        return response

    def refuse_login(self, error: ApiError) -> Any:
        pages = self._offered_pages()
        refusal = error_response(error)
        answer = RestResponse(refusal.status_code, refusal.get_json())
        response: Any = pages.refuse(answer) if pages and is_navigation() else None
        if response is None:
            raise error
        return response

    def finish_connection(self, name: str, proof: Mapping[str, str] | None) -> Any:
        pages = self._offered_pages()
        response: Any = None if pages is None else pages.finish_connection(name, proof)
        if response is None:
            raise NotImplementedHere("No plugin has pages that connect accounts.")
        return response

    def _log_in(self, method: str, proof: Mapping[str, str]) -> RestResponse:
        """Log in as :meth:`LoginsAPI.log_in` does, from the device that the pages of the browser are."""
        try:
            attempt = login_attempt(method, proof)
            attempt = replace(attempt, client=replace(attempt.client, device_id=self.device_id))
            issued = get_service(LoginService).log_in(attempt, origin=origin())
        except ApiError as error:
            refusal = error_response(error)
            return RestResponse(refusal.status_code, refusal.get_json())
        return RestResponse(200, serializer(IssuedTokensSchema)(issued))

    def _session(self, *, accepts_impersonation: bool) -> BrowserSession | None:
        visit, is_accepted = self._visit, accepts_impersonation and method() in SAFE_METHODS
        if visit.authorization_id is not None and visit.session is None:
            visit.session = _current(visit, accepts_impersonation=is_accepted)
        session: BrowserSession | None = visit.session
        if session is not None and session.actor_id is not None and not is_accepted:
            raise ImpersonationRefused
        return session

    @property
    def _visit(self) -> BrowserVisit:
        return get_service(Browsers).current()


def _current(visit: BrowserVisit, *, accepts_impersonation: bool) -> BrowserSession | None:
    """Return the session, or the one that continues after an impersonation that has ended.

    Raises:
        ImpersonationRefused: the user is impersonated, and the page does not accept it.
    """
    while visit.authorization_id is not None:
        try:
            return _verified(visit, visit.authorization_id, accepts_impersonation=accepts_impersonation)
        except (TokenInvalid, StepUpRequired):
            if visit.state.own_authorization_id is None:
                visit.begin()
            else:
                get_service(BrowserSessions).end_impersonation(visit, origin())
    return None


def _verified(
    visit: BrowserVisit, authorization_id: str, *, accepts_impersonation: bool
) -> BrowserSession:
    """Verify the login of a session, and make its user the caller.

    Raises:
        ImpersonationRefused: the user is impersonated, and the page does not accept it.
        TokenInvalid: the login has expired or was revoked.
        StepUpRequired: the login needs a second factor by now.
    """
    logins = get_service(AuthorizationService)
    try:
        caller = logins.caller(visit.state.token or "", client_address())
    except TokenInvalid:
        if visit.state.own_authorization_id is not None:
            # An impersonation is never renewed.
            raise
        # An access token lasts minutes, and a session as long as a login that is refreshed.
        visit.update(token=logins.renew(authorization_id, origin()).access_token)
        caller = logins.caller(visit.state.token or "", client_address())
    caller.accepts_impersonation = accepts_impersonation
    identity, profile = logins.identify_user(caller)
    logins.note_seen(caller)
    set_caller(caller)
    actor_id, state = identity.actor_id, visit.state
    return BrowserSession(
        user_id=identity.user_id,
        auth_time=identity.auth_time or 0,
        token=state.token or "",
        actor_id=actor_id,
        ends_at=None if actor_id is None else logins.read(authorization_id).expires_at,
        name=profile.name,
        zone=profile.zone,
        contact=profile.contact,
        login_id=identity.authorization_id,
        acr=identity.acr or "",
    )
