"""The implementation of a plugin's host, based on the core's services."""

import re
import secrets
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, cast

from flask import Response, after_this_request, request

from strongroom.activity.audit.service import AuditEvent, AuditService
from strongroom.assembly.plugin_host.acting import ActingUser
from strongroom.assembly.plugin_host.host_factors import HostFactors
from strongroom.assembly.plugin_host.host_files import HostFiles
from strongroom.assembly.plugin_host.state import HostDatabase, HostStore
from strongroom.assembly.plugin_host.tenants import HostTenants, HostUsers
from strongroom.assembly.plugin_host.uploads import HostUploads
from strongroom.clock import Clock
from strongroom.content.scanning.scanners import Scanners
from strongroom.content.tenants.service import TenantService
from strongroom.foundation import errors
from strongroom.foundation.addresses import network_of
from strongroom.foundation.caller import ANY_TENANT
from strongroom.foundation.config import Settings
from strongroom.foundation.config.rates import Rate
from strongroom.foundation.database.paging import Page
from strongroom.foundation.limits.service import Allowance, RateLimits
from strongroom.identity.accounts.bindings import CODE_HEADER, ExternalCredentials
from strongroom.identity.accounts.reauthentication import Proof, Reauthentication
from strongroom.identity.accounts.schemas import BoundCredentialSchema, CredentialsSchema
from strongroom.identity.sessions.factor_verification import SecondFactors
from strongroom.identity.sessions.login import LoginService
from strongroom.identity.sessions.login_methods import LoginMethods
from strongroom.identity.sessions.oauth_states import LIFETIME, OAuthStateStore
from strongroom.identity.sessions.schemas import IssuedTokensSchema
from strongroom.identity.sessions.views import token_headers
from strongroom.identity.users.contacts import Notices
from strongroom.identity.users.password_hashing import PasswordHasher, StoredPassword
from strongroom.identity.users.plugin_values import PluginValues
from strongroom.identity.verification.captchas import CaptchaAnswer, CaptchaService
from strongroom.plugin_api.authentication import CallerInfo, Scope
from strongroom.plugin_api.events import Event, EventLog, EventType
from strongroom.plugin_api.files import Delegation
from strongroom.plugin_api.host import FactorT, HostAPI, MethodT, ScannerT
from strongroom.plugin_api.login import Credential, LoginAttempt, VerificationCode
from strongroom.plugin_api.state import PluginDatabase, UserStore
from strongroom.plugin_api.web import ApiError, RestResponse, State
from strongroom.web.http.access import Access, authenticate, current_identity, optional_identity, own_id
from strongroom.web.http.errors import error_response
from strongroom.web.http.html import Pages
from strongroom.web.http.internal_requests import send_request
from strongroom.web.http.pages import PagingQuery, collection_of, envelope, paging
from strongroom.web.http.parsing import DONE, DoneSchema, Timestamp
from strongroom.web.http.request import client, current_request_id, get_service, header_pair, origin
from strongroom.web.http.routing import Blueprint

if TYPE_CHECKING:
    from strongroom.assembly.services import Services

_COOKIE: Final = "strongroom-browser"
_COOKIE_FORM = re.compile(r"[A-Za-z0-9_-]{43}")
_PROOF_ERRORS: Final = (errors.InvalidCredentials, errors.TooManyRequests, errors.Unavailable)
_REAUTHENTICATION_ERRORS: Final = (errors.CodeInvalid, errors.WrongPassword, errors.FreshProofRequired)


class PluginHost(HostAPI):
    """The host of one plugin.

    Args:
        services: returns the services of the process. Called when the plugin uses one of them and not
            before, because hooks also run without services, in ``config check --offline``, and a
            command opens them only if it needs them.
    """

    tokens_schema = IssuedTokensSchema
    credentials_schema = CredentialsSchema
    credential_schema = BoundCredentialSchema
    done_schema = DoneSchema
    login_errors = (
        *_PROOF_ERRORS,
        errors.SecondFactorRequired,
        errors.FactorEnrolmentRequired,
        errors.CredentialConflict,
        errors.UserSuspended,
        errors.RegistrationClosed,
        errors.InvitationRequired,
    )
    bind_errors = (*_PROOF_ERRORS, *_REAUTHENTICATION_ERRORS, errors.Forbidden, errors.CredentialTaken)
    unbind_errors = (
        errors.Forbidden,
        errors.NotFound,
        errors.LastContact,
        errors.CodeInvalid,
        errors.TooManyRequests,
    )
    state_errors = (errors.StateInvalid, errors.TooManyRequests)
    timestamp_field = Timestamp
    paging_query = PagingQuery

    def __init__(
        self,
        plugin: str,
        options: Any,
        settings: Settings,
        clock: Clock,
        services: Callable[[], "Services"],
    ) -> None:
        self._plugin = plugin
        self._options = options
        self._base_path = settings.server.base_path
        self._public_url = settings.public_root + self._base_path
        self._clock = clock
        self._services = services
        self._user = ActingUser(plugin, services)

    @property
    def plugin(self) -> str:
        return self._plugin

    @property
    def options(self) -> Any:
        return self._options

    @property
    def clock(self) -> Clock:
        return self._clock

    @cached_property
    def database(self) -> PluginDatabase:
        return HostDatabase(self.plugin, lambda: self._services().database)

    @cached_property
    def files(self) -> HostFiles:
        return HostFiles(self._user)

    @cached_property
    def tenants(self) -> HostTenants:
        return HostTenants(self._user)

    @cached_property
    def users(self) -> HostUsers:
        return HostUsers(self._user)

    def administers(self, user_id: str, tenant_id: str | None) -> bool:
        return self._services().get(TenantService).administers(user_id, tenant_id)

    @cached_property
    def factors(self) -> HostFactors:
        return HostFactors()

    @cached_property
    def uploads(self) -> HostUploads:
        return HostUploads(self._user)

    def acting_as(self, user_id: str) -> AbstractContextManager[None]:
        return self._user.act_as(user_id)

    def acting_for(self, delegation: Delegation) -> AbstractContextManager[None]:
        return self._user.act_for(delegation)

    def audit(
        self, action: str, target_type: str, target_id: str, details: Mapping[str, Any] | None = None
    ) -> None:
        event = AuditEvent(
            f"{self._plugin}.{action}",
            actor_id=self._user.id,
            target_type=target_type,
            target_id=target_id,
            origin=self._user.origin(),
            details={name: value for name, value in (details or {}).items() if value is not None},
        )
        services = self._services()
        with services.database.write() as connection:
            services.get(AuditService).record(connection, event)

    def limit_rate(self, name: str, rates: Sequence[str], subject: str | None = None) -> None:
        counted = Allowance(
            f"plugin:{self._plugin}:{name}",
            self.client_network if subject is None else subject,
            [Rate.parse(text) for text in rates],
        )
        self._services().base.rates.spend(counted)

    def count_attempt(self, name: str, limits: Sequence[tuple[str, int]], *, seconds: int) -> bool:
        base, purpose = self._services().base, f"plugin:{self._plugin}:{name}"
        # Sorted, so that two transactions lock the counters in the same order.
        with base.database.write(durable=False) as connection:
            counts = [
                (base.counters.add_within(connection, purpose, subject, window=seconds * 1000), most)
                for subject, most in sorted(limits)
            ]
            if all(count.events <= most for count, most in counts):
                return True
            # Attempts that are not evaluated do not count, or they would fill other subjects' limits.
            connection.rollback()
            return False

    def forgive_attempt(self, name: str, subjects: Sequence[str]) -> None:
        base, purpose = self._services().base, f"plugin:{self._plugin}:{name}"
        with base.database.write(durable=False) as connection:
            for subject in sorted(subjects):
                base.counters.take_back(connection, purpose, subject)

    @property
    def client_network(self) -> str:
        return network_of(client().address)

    def require_captcha(self, captcha: Mapping[str, str] | None) -> None:
        if captcha is None:
            raise errors.CaptchaRequired
        answer = CaptchaAnswer(captcha["id"], captcha["answer"])
        self._services().get(CaptchaService).spend(answer, client().address)

    def hash_password(self, password: str) -> str:
        return self._services().get(PasswordHasher).hash(password).hash

    def verify_password(self, password: str, stored: str) -> bool:
        return self._services().get(PasswordHasher).verify(password, StoredPassword(stored))

    @cached_property
    def events(self) -> EventLog:
        return HostEvents(self._services)

    @cached_property
    def store(self) -> UserStore:
        return HostStore(self._plugin, lambda: self._services().get(PluginValues))

    @property
    def public_url(self) -> str:
        return self._public_url

    def seal(self, text: str) -> str:
        return self._services().base.keys.seal(f"plugin:{self._plugin}", text)

    def unseal(self, sealed: str) -> str:
        return self._services().base.keys.unseal(f"plugin:{self._plugin}", sealed)

    def notify(self, user_id: str, subject: str, text: str) -> None:
        services = self._services()
        notices = services.get(Notices)
        with services.base.database.read() as connection:
            contacts = notices.contacts(connection, user_id)
        translate, locale = services.base.translations.translate, notices.locale_of(contacts)
        texts = {"subject": translate(subject, locale), "text": translate(text, locale)}
        notices.notify(contacts, "plugin-notice", parameters=texts)

    def collection_schema(self, item: type[Any]) -> type[Any]:
        return collection_of(cast("Hashable", item))

    def collection(self, items: Sequence[Any], total: int, query: Mapping[str, Any]) -> Any:
        return envelope(Page(list(items), total, paging(query)))

    def login_method(self, kind: type[MethodT]) -> MethodT | None:
        methods = self._services().get(LoginMethods).methods
        matching = (method for method in methods if isinstance(method, kind))
        return next(matching, None)

    def second_factor(self, kind: type[FactorT]) -> FactorT | None:
        factors = self._services().get(SecondFactors).methods.values()
        return next((factor for factor in factors if isinstance(factor, kind)), None)

    def content_scanner(self, kind: type[ScannerT]) -> ScannerT | None:
        scanners = self._services().get(Scanners).scanners
        return next((scanner for scanner in scanners if isinstance(scanner, kind)), None)

    def blueprint(self, name: str, *, description: str) -> Blueprint:
        return Blueprint(name, __name__, description=description)

    def authenticate(
        self, *, scope: str | None = None, admits: Sequence[str] = (), token: str | None = None
    ) -> str:
        needed = None if scope is None else Scope(scope)
        # The services limit the caller to the tenant of an access key.
        authenticate(Access.USER, scope=needed, admits=admits, tenant_id=ANY_TENANT, token=token)
        return current_identity().user_id

    def page(
        self,
        template: str,
        *,
        status: int = 200,
        policy: Mapping[str, str] | None = None,
        language: str | None = None,
        **values: Any,
    ) -> Response:
        return self._pages.render(template, status=status, policy=policy, language=language, **values)

    def rest(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        token: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> RestResponse:
        return send_request(self._base_path, method, path, body, token, headers or {})

    @cached_property
    def _pages(self) -> Pages:
        plugins = self._services().selection.plugins.plugins
        module = next(plugin.module for plugin in plugins if plugin.name == self._plugin)
        # The package of the plugin's module, or the module itself if it is a package.
        return Pages(module.__package__ or module.__name__)

    def error_response(self, error: ApiError) -> Response:
        return error_response(error)

    @property
    def caller(self) -> CallerInfo | None:
        return self._user.info()

    def user_id(self) -> str | None:
        if current_request_id() is None:
            return self._user.id
        identity = optional_identity()
        return identity.user_id if identity else None

    def key_id(self) -> str | None:
        if current_request_id() is None:
            return None
        identity = optional_identity()
        return identity.key.key_id if identity and identity.key else None

    def log_in(self, method: str, proof: Mapping[str, str]) -> Any:
        issued = get_service(LoginService).log_in(_attempt(method, proof), origin=origin())
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
        # Check this first, because the next steps use up the code and the proof.
        identity.require_self(named)
        code = held_code or _code_of_header()
        get_service(Reauthentication).require(identity, Proof(code, current_password))
        verified = get_service(LoginService).prove(_attempt(method, proof))
        bound = get_service(ExternalCredentials).bind(identity, named, verified, replaced, origin())
        new = next(item for item in bound if item.kind == verified.credential.kind)
        # Matches both credential_schema and credentials_schema.
        return {**asdict(new), "credentials": bound}

    def unbind(self, user_id: str, kinds: Collection[str]) -> Any:
        identity, code = current_identity(), _code_of_header()
        # As bind does, whether or not the plugin has declared its route as sensitive.
        get_service(Reauthentication).require_factor(identity)
        get_service(ExternalCredentials).unbind(identity, own_id(user_id), kinds, code, origin())
        return DONE

    def issue_state(self, purpose: str, data: Mapping[str, str], *, for_user: bool = False) -> State:
        browser = self._known_browser() or secrets.token_urlsafe(32)
        user_id = _caller() if for_user else None
        state = get_service(OAuthStateStore).issue(purpose, browser, user_id, data, origin())
        after_this_request(lambda response: self._remember(response, browser))
        return state

    def spend_state(self, value: str, purpose: str, *, for_user: bool = False) -> Mapping[str, str]:
        user_id = _caller() if for_user else None
        # A browser with a state always sends the cookie. Without one, the lookup fails like any other.
        return get_service(OAuthStateStore).spend(
            value, purpose, self._known_browser() or "", user_id, origin()
        )

    @property
    def _is_secure(self) -> bool:
        return self._public_url.startswith("https:")

    @property
    def _cookie(self) -> str:
        # The prefix prevents servers of sibling domains from setting the cookie (RFC 6265bis, 4.1.3.2).
        return f"__Host-{_COOKIE}" if self._is_secure else _COOKIE

    def _known_browser(self) -> str | None:
        value = request.cookies.get(self._cookie, "")
        return value if _COOKIE_FORM.fullmatch(value) else None

    def _remember(self, response: Response, browser: str) -> Response:
        response.set_cookie(
            self._cookie,
            browser,
            max_age=LIFETIME // 1000,
            secure=self._is_secure,
            httponly=True,
            # Not "Strict": the redirect back from the other site is a cross-site navigation.
            samesite="Lax",
        )
        return response


class HostEvents(EventLog):
    """The log of a process, opened when it is first read."""

    def __init__(self, services: Callable[[], "Services"]) -> None:
        self._services = services

    def types(self) -> Mapping[str, EventType]:
        return self._services().events.log.types()

    def read(self, stream: str, after: int, limit: int = 100) -> Sequence[Event]:
        return self._services().events.log.read(stream, after, limit)

    def newest(self, stream: str) -> int:
        return self._services().events.log.newest(stream)


def _code_of_header() -> VerificationCode | None:
    pair = header_pair(CODE_HEADER)
    return VerificationCode(*pair) if pair else None


def _caller() -> str:
    identity = optional_identity()
    if identity is None:
        raise errors.TokenRequired
    return identity.user_id


def _attempt(method: str, proof: Mapping[str, str]) -> LoginAttempt:
    # Limited before the attempt is recorded, so that a flood cannot fill the audit log.
    get_service(RateLimits).check("login_per_address")
    return LoginAttempt(client=client(), method=method, proof=proof)
