"""The implementation of a plugin's host, based on the core's services."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from flask import Response

from strongroom.activity.audit.service import AuditEvent, AuditService
from strongroom.assembly.plugin_host.acting import ActingUser
from strongroom.assembly.plugin_host.files import HostFiles
from strongroom.assembly.plugin_host.grants import HostGrants
from strongroom.assembly.plugin_host.host_browser import HostBrowser
from strongroom.assembly.plugin_host.host_factors import HostFactors
from strongroom.assembly.plugin_host.host_pages import HostPages, RegisteredParts
from strongroom.assembly.plugin_host.limits import HostLimits
from strongroom.assembly.plugin_host.lists import HostLists
from strongroom.assembly.plugin_host.login_facts import HostLoginFacts
from strongroom.assembly.plugin_host.logins import HostLogins
from strongroom.assembly.plugin_host.provisioning import HostProvisioning
from strongroom.assembly.plugin_host.secrets import HostSecrets
from strongroom.assembly.plugin_host.signing import HostSigning
from strongroom.assembly.plugin_host.state import (
    HostDatabase,
    HostLeases,
    HostStore,
    HostValues,
    written,
)
from strongroom.assembly.plugin_host.tenants import HostTenants
from strongroom.assembly.plugin_host.uploads import HostUploads
from strongroom.assembly.plugin_host.users import HostUsers
from strongroom.clock import Clock
from strongroom.content.scanning.scanners import Scanners
from strongroom.foundation.caller import ANY_TENANT
from strongroom.foundation.config import Settings
from strongroom.identity.sessions.factor_verification import SecondFactors
from strongroom.identity.sessions.login_methods import LoginMethods
from strongroom.identity.sessions.pending_login import LoginTransaction
from strongroom.identity.users.contacts import Notices
from strongroom.identity.users.plugin_values import PluginValues
from strongroom.plugin_api.authentication import CallerInfo, Scope
from strongroom.plugin_api.events import Event, EventLog, EventType
from strongroom.plugin_api.files import Delegation
from strongroom.plugin_api.grants import GrantsAPI
from strongroom.plugin_api.host import ExtensionT, HostAPI
from strongroom.plugin_api.leases import LeasesAPI
from strongroom.plugin_api.limits import LimitsAPI
from strongroom.plugin_api.logins import LoginsAPI
from strongroom.plugin_api.paging import ListsAPI
from strongroom.plugin_api.rendering import PagesAPI
from strongroom.plugin_api.secrets import SecretsAPI
from strongroom.plugin_api.server import ServerAPI
from strongroom.plugin_api.signing import SigningAPI
from strongroom.plugin_api.state import PluginDatabase, Transaction, UserStore, ValueStore
from strongroom.plugin_api.web import ApiError, RestResponse
from strongroom.web.http.access import Access, authenticate, current_identity
from strongroom.web.http.errors import error_response
from strongroom.web.http.internal_requests import send_request

if TYPE_CHECKING:
    from strongroom.assembly.services import Services

T = TypeVar("T")


class PluginHost(HostAPI):
    """The host of one plugin.

    Args:
        services: returns the services of the process. Called when the plugin uses one of them and not
            before, because hooks also run without services, in ``config check --offline``, and a
            command opens them only if it needs them.
        registered: what all plugins have registered for pages.
    """

    def __init__(
        self,
        plugin: str,
        options: Any,
        settings: Settings,
        clock: Clock,
        services: Callable[[], "Services"],
        registered: RegisteredParts,
    ) -> None:
        self._plugin = plugin
        self._options = options
        self._base_path = settings.server.base_path
        self._public_url = settings.public_root + self._base_path
        self._clock = clock
        self._services = services
        self._registered = registered
        self._user = ActingUser(plugin, services)

    @property
    def options(self) -> Any:
        return self._options

    @property
    def clock(self) -> Clock:
        return self._clock

    @cached_property
    def database(self) -> PluginDatabase:
        return HostDatabase(self._plugin, lambda: self._services().database)

    def make_login_facts(self, transaction: LoginTransaction) -> HostLoginFacts:
        """Return the facts of a login in its transaction, for a condition of the plugin."""
        return HostLoginFacts(self._user, transaction)

    @cached_property
    def files(self) -> HostFiles:
        return HostFiles(self._user)

    @cached_property
    def tenants(self) -> HostTenants:
        return HostTenants(self._user)

    @cached_property
    def users(self) -> HostUsers:
        return HostUsers(self._user)

    @cached_property
    def provisioning(self) -> HostProvisioning:
        return HostProvisioning(self._user)

    @cached_property
    def server(self) -> ServerAPI:
        # It imports the doctor, which a server does not need to start.
        from strongroom.assembly.plugin_host.server import HostServer

        return HostServer(self._user)

    @cached_property
    def factors(self) -> HostFactors:
        return HostFactors()

    @cached_property
    def pages(self) -> PagesAPI:
        return HostPages(
            self._plugin, self._base_path, self._services, self._registered, lambda: self.tenants
        )

    @cached_property
    def browser(self) -> HostBrowser:
        pages = self._registered
        return HostBrowser(
            self._plugin, self._public_url, self._clock, lambda: pages.offered_login_pages
        )

    @cached_property
    def uploads(self) -> HostUploads:
        return HostUploads(self._user)

    def acting_as(self, user_id: str) -> AbstractContextManager[None]:
        return self._user.act_as(user_id)

    def acting_for(self, delegation: Delegation) -> AbstractContextManager[None]:
        return self._user.act_for(delegation)

    def audit(
        self,
        action: str,
        target_type: str,
        target_id: str,
        details: Mapping[str, Any] | None = None,
        *,
        transaction: Transaction | None = None,
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
        opened = services.database.write() if transaction is None else written(transaction)
        with opened as connection:
            services.get(AuditService).record(connection, event)

    @cached_property
    def limits(self) -> LimitsAPI:
        return HostLimits(self._plugin, self._services)

    @cached_property
    def lists(self) -> ListsAPI:
        return HostLists()

    @cached_property
    def secrets(self) -> SecretsAPI:
        return HostSecrets(self._plugin, self._services)

    @cached_property
    def signing(self) -> SigningAPI:
        return HostSigning(self._plugin, self._public_url, self._services)

    @cached_property
    def grants(self) -> GrantsAPI:
        return HostGrants(self._plugin, self._user)

    @cached_property
    def events(self) -> EventLog:
        return HostEvents(self._services)

    @cached_property
    def store(self) -> UserStore:
        return HostStore(self._plugin, lambda: self._services().get(PluginValues))

    @cached_property
    def values(self) -> ValueStore:
        return HostValues(self._plugin, lambda: self._services().base.shared_values)

    @cached_property
    def leases(self) -> LeasesAPI:
        return HostLeases(self._plugin, lambda: self._services().base.leases)

    @cached_property
    def logins(self) -> LoginsAPI:
        return HostLogins(self._user, self._public_url)

    @property
    def public_url(self) -> str:
        return self._public_url

    def notify(self, user_id: str, subject: str, text: str) -> None:
        services = self._services()
        notices = services.get(Notices)
        with services.base.database.read() as connection:
            contacts = notices.contacts(connection, user_id)
        translate, locale = services.base.translations.translate, notices.get_locale(contacts)
        texts = {"subject": translate(subject, locale), "text": translate(text, locale)}
        notices.notify(contacts, "plugin-notice", parameters=texts)

    def extension(self, kind: type[ExtensionT]) -> ExtensionT | None:
        return next((item for item in self._enabled_extensions() if isinstance(item, kind)), None)

    def _enabled_extensions(self) -> Iterator[Any]:
        services = self._services()
        yield from services.get(LoginMethods).methods
        yield from services.get(SecondFactors).methods.values()
        yield from services.get(Scanners).scanners

    def authenticate(
        self,
        *,
        scope: str | None = None,
        authenticators: Sequence[str] = (),
        token: str | None = None,
        audience: str | None = None,
    ) -> str:
        needed = None if scope is None else Scope(scope)
        if audience is not None and not audience.startswith(f"{self.public_url}/"):
            raise ValueError("the audience must be below the public URL")
        # The services limit the caller to the tenant of an access key.
        authenticate(
            Access.USER,
            scope=needed,
            authenticators=authenticators,
            tenant_id=ANY_TENANT,
            token=token,
            audience=audience,
        )
        return current_identity().user_id

    def rest(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        token: str | None = None,
        headers: Mapping[str, str] | None = None,
        stream: bool = False,
    ) -> RestResponse:
        return send_request(self._base_path, method, path, body, token, headers or {}, stream=stream)

    def error_response(self, error: ApiError) -> Response:
        return error_response(error)

    @property
    def caller(self) -> CallerInfo | None:
        return self._user.info()


@dataclass(slots=True, eq=False, repr=False)
class HostEvents(EventLog):
    """The log of a process, opened when it is first read."""

    _services: Callable[[], "Services"]

    def types(self) -> Mapping[str, EventType]:
        return self._services().events.log.types()

    def read(self, stream: str, after: int, limit: int = 100) -> Sequence[Event]:
        return self._services().events.log.read(stream, after, limit)

    def newest(self, stream: str) -> int:
        return self._services().events.log.newest(stream)
