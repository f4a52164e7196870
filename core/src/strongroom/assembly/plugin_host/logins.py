"""Implements ``host.logins``."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any, Final

from strongroom.assembly.plugin_host.acting import ActingUser
from strongroom.assembly.plugin_host.state_cookie import StateCookie
from strongroom.extensions.platform_logins.service import ChosenMembers, PlatformLogins
from strongroom.foundation import errors
from strongroom.foundation.limits.service import RateLimits
from strongroom.identity.accounts.bindings import CODE_HEADER, ExternalCredentials
from strongroom.identity.accounts.reauthentication import Proof, Reauthentication
from strongroom.identity.sessions.factor_verification import SecondFactors
from strongroom.identity.sessions.login import LoginService
from strongroom.identity.sessions.login_methods import LoginMethods
from strongroom.identity.sessions.oauth_states import OAuthStateStore
from strongroom.identity.sessions.views import token_headers
from strongroom.identity.users.consents import Consents, Terms
from strongroom.identity.users.models import MAX_REASON
from strongroom.identity.verification.codes import Purpose
from strongroom.identity.verification.service import CodeSending
from strongroom.plugin_api.login import (
    Credential,
    LoginAttempt,
    LoginOptions,
    TermsOfUse,
    VerificationCode,
)
from strongroom.plugin_api.logins import LiveCredential, LoginsAPI
from strongroom.plugin_api.web import State
from strongroom.web.http.access import current_identity, optional_identity, own_id
from strongroom.web.http.parsing import DONE
from strongroom.web.http.request import client, get_service, header_pair, origin

_MAX_SIZE: Final = 1000


@dataclass(eq=False, repr=False)
class HostLogins(LoginsAPI):
    """Implements ``host.logins``.

    Args:
        user: the services of the process, and the origin for audit records.
        public_url: the public URL of the server.
    """

    _user: ActingUser
    _public_url: str

    @cached_property
    def options(self) -> LoginOptions:
        services = self._user.services()
        codes, user_settings = services.get(CodeSending), services.base.settings.users
        return LoginOptions(
            methods=tuple(method.name for method in services.get(LoginMethods).methods),
            login_codes=codes.recipients(Purpose.LOGIN),
            register_codes=codes.recipients(Purpose.REGISTER),
            reset_codes=codes.recipients(Purpose.RESET_PASSWORD),
            bind_codes=codes.recipients(Purpose.BIND),
            registration=user_settings.registration,
            is_passwordless=services.get(SecondFactors).is_passwordless,
            terms=_to_terms(services.get(Consents).terms),
            deletion_grace_days=user_settings.deletion_grace_days,
        )

    def log_in(self, method: str, proof: Mapping[str, str]) -> Any:
        issued = get_service(LoginService).log_in(login_attempt(method, proof), origin=origin())
        return issued, 200, token_headers(issued)

    def bind(
        self,
        user_id: str,
        method: str,
        proof: Mapping[str, str],
        *,
        replaced: Callable[[Sequence[Credential]], Collection[Credential]],
        held_code: VerificationCode | None = None,
        current_password: str | None = None,
    ) -> Any:
        identity, named = current_identity(), own_id(user_id)
        # Check this first, because the next steps consume the code and the proof.
        identity.require_self(named)
        code = held_code or _code_of_header()
        get_service(Reauthentication).require(identity, Proof(code, current_password))
        verified = get_service(LoginService).prove(login_attempt(method, proof))
        bound = get_service(ExternalCredentials).bind(identity, named, verified, replaced, origin())
        new = next(item for item in bound if item.kind == verified.credential.kind)
        return {**asdict(new), "address": new.address}

    def unbind(self, user_id: str, kinds: Collection[str], *, prefix: str = "") -> Any:
        identity, code = current_identity(), _code_of_header()
        # As bind does, whether or not the plugin has declared its route as sensitive.
        get_service(Reauthentication).require_factor(identity)
        get_service(ExternalCredentials).unbind(
            identity, own_id(user_id), kinds, code, origin(), prefix=prefix
        )
        return DONE

    def issue_state(self, purpose: str, data: Mapping[str, str], *, for_user: bool = False) -> State:
        user_id = _caller() if for_user else None
        browser = self._state_cookie.issue()
        return get_service(OAuthStateStore).issue(purpose, browser, user_id, data, origin())

    def consume_state(self, value: str, purpose: str, *, for_user: bool = False) -> Mapping[str, str]:
        user_id = _caller() if for_user else None
        # A browser with a state always sends the cookie. Without one, the lookup fails like any other.
        return get_service(OAuthStateStore).consume(
            value, purpose, self._state_cookie.known(), user_id, origin()
        )

    def credentials(self, kind: str, *, after: str = "", size: int = 500) -> Sequence[LiveCredential]:
        if not 1 <= size <= _MAX_SIZE:
            raise ValueError(f"a page has 1 to {_MAX_SIZE} credentials")
        return self._logins.credentials(kind, after, size)

    def end(self, credential: Credential, *, session: str | None = None) -> int:
        return self._logins.end(credential, session, self._user.signed_origin())

    def end_session(self, method: str, session: str) -> int:
        return self._logins.end_session(method, session, self._user.signed_origin())

    def end_of_members(
        self,
        tenant_id: str,
        domains: Collection[str],
        *,
        but_method: str,
        but: Collection[str] = (),
        kind: str = "",
        prefix: str = "",
        user_id: str | None = None,
    ) -> int:
        chosen, origin = ChosenMembers(frozenset(domains), kind, prefix), self._user.signed_origin()
        if user_id is None:
            return self._logins.end_of_members(tenant_id, chosen, but_method, but, origin)
        if user_id in but:
            return 0
        return self._logins.end_of_member(tenant_id, user_id, chosen, but_method, origin)

    def suspend(self, credential: Credential, *, reason: str) -> bool:
        if len(reason) > MAX_REASON:
            raise ValueError(f"a reason has at most {MAX_REASON} characters")
        return self._logins.suspend(credential, reason, self._user.signed_origin())

    @cached_property
    def _state_cookie(self) -> StateCookie:
        return StateCookie(is_secure=self._public_url.startswith("https:"))

    @property
    def _logins(self) -> PlatformLogins:
        return self._user.services().get(PlatformLogins)


def login_attempt(method: str, proof: Mapping[str, str]) -> LoginAttempt:
    """Return the attempt of the current client, and count it."""
    # Limited before the attempt is recorded, so that a flood cannot fill the audit log.
    get_service(RateLimits).check("login_per_address")
    return LoginAttempt(client=client(), method=method, proof=proof)


def _code_of_header() -> VerificationCode | None:
    pair = header_pair(CODE_HEADER)
    return VerificationCode(*pair) if pair else None


def _caller() -> str:
    identity = optional_identity()
    if identity is None:
        raise errors.TokenRequired
    return identity.user_id


def _to_terms(terms: Terms) -> TermsOfUse | None:
    """Return the terms that pages show: those with an address, or that users must accept."""
    if not (terms.url or terms.privacy_url or terms.is_required):
        return None
    return TermsOfUse(terms.version, terms.url, terms.privacy_url)
