"""The host of a plugin: the server's API that the hooks receive as ``host``.

Each plugin has a host of its own, which knows the plugin's name, options and data. It exists wherever
the plugin's code runs: in requests, in commands and in jobs. A command opens the server's services when
it first uses one of them.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from threading import RLock
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar

from strongroom.plugin_api.authentication import CallerInfo
from strongroom.plugin_api.browser import BrowserAPI
from strongroom.plugin_api.events import EventLog
from strongroom.plugin_api.extension import Extension
from strongroom.plugin_api.factors import FactorsAPI
from strongroom.plugin_api.files import Delegation, FilesAPI
from strongroom.plugin_api.grants import GrantsAPI
from strongroom.plugin_api.leases import LeasesAPI
from strongroom.plugin_api.limits import LimitsAPI
from strongroom.plugin_api.logins import LoginsAPI
from strongroom.plugin_api.paging import ListsAPI
from strongroom.plugin_api.provisioning import ProvisioningAPI
from strongroom.plugin_api.rendering import PagesAPI
from strongroom.plugin_api.secrets import SecretsAPI
from strongroom.plugin_api.server import ServerAPI
from strongroom.plugin_api.signing import SigningAPI
from strongroom.plugin_api.state import PluginDatabase, Transaction, UserStore, ValueStore
from strongroom.plugin_api.tenants import TenantsAPI
from strongroom.plugin_api.uploads import UploadsAPI
from strongroom.plugin_api.users import UsersAPI

if TYPE_CHECKING:
    from strongroom.plugin_api.web import ApiError, RestResponse

T = TypeVar("T")
ExtensionT = TypeVar("ExtensionT", bound=Extension[Any])

_BUILDING: Final = RLock()
"""Held while a service is built, which may get other services of its host."""


class Clock(Protocol):
    """The time."""

    def now(self) -> int:
        """Return the time in milliseconds since the Unix epoch."""


class HostAPI(ABC):
    """The server's API for one plugin. Request-bound methods may only be called during a request."""

    @property
    @abstractmethod
    def options(self) -> Any:
        """The options of ``[plugins.NAME]``, of the type that the hook ``register_options`` returned."""

    def get_service(self, kind: type[T]) -> T:
        """Return the plugin's own service of a type, which its first use builds by ``kind(host)``.

        There is one per host, so that hooks, jobs and views share it. Views get it by
        :func:`strongroom.plugin_api.request.get_service`.
        """
        services: dict[type[Any], Any] = self.__dict__.setdefault("_own_services", {})
        if kind not in services:
            with _BUILDING:
                if kind not in services:
                    services[kind] = _build_service(kind, self)
        service: T = services[kind]
        return service

    @property
    @abstractmethod
    def clock(self) -> Clock:
        """The clock of the server. Tests replace it, so use it instead of the system's time."""

    @property
    @abstractmethod
    def database(self) -> PluginDatabase:
        """Transactions over the plugin's own tables."""

    @property
    @abstractmethod
    def files(self) -> FilesAPI:
        """The files and folders that the caller can access; see :mod:`strongroom.plugin_api.files`."""

    @property
    @abstractmethod
    def uploads(self) -> UploadsAPI:
        """The resumable uploads of the caller, for routes of the plugin."""

    @property
    @abstractmethod
    def tenants(self) -> TenantsAPI:
        """The tenants that the caller belongs to."""

    @property
    @abstractmethod
    def provisioning(self) -> ProvisioningAPI:
        """Users and groups that a company's directory provisions."""

    @property
    @abstractmethod
    def users(self) -> UsersAPI:
        """The users that the caller may read."""

    @property
    @abstractmethod
    def server(self) -> ServerAPI:
        """The state of the server, for pages of its administrators."""

    @property
    @abstractmethod
    def factors(self) -> FactorsAPI:
        """The second factors of the caller."""

    @abstractmethod
    def acting_as(self, user_id: str) -> AbstractContextManager[None]:
        """Make a user the caller of :attr:`files`, :attr:`tenants` and :attr:`users` within a block.

        For jobs, event handlers and commands, which have no request. In a request, it replaces the
        caller, so that the plugin must decide itself whether the request may do that. Each use is an
        audit event ``plugin.act-as`` with the name of the plugin. It is bound to the thread.

        Raises:
            ApiError: ``error.not-found`` or ``error.user-suspended``; such a user can do nothing.
        """

    @abstractmethod
    def acting_for(self, delegation: Delegation) -> AbstractContextManager[None]:
        """Use a user's rights within limits, in :attr:`files` and :attr:`uploads` within a block.

        For requests of people who have no rights of their own, such as visitors of a share link. Each
        call checks in its own query that the user is active and still holds what the delegation
        requires, and that the file is in its folder: nothing is remembered between two calls. It is
        bound to the thread, and not recorded in the audit log; the plugin records what its users gave.
        """

    @abstractmethod
    def audit(
        self,
        action: str,
        target_type: str,
        target_id: str,
        details: Mapping[str, Any] | None = None,
        *,
        transaction: Transaction | None = None,
    ) -> None:
        """Record an action of the caller in the audit log, under the name of the plugin.

        The record, and the event of its type, belong to the transaction: both are committed with the
        rows of the plugin, or neither is. Without one, the record has a transaction of its own, which
        begins after the plugin's has ended; a server that stops in between loses the record.

        Args:
            action: a word such as ``create``; the record's action is ``PLUGIN.create``.
            target_type: what kind of thing was changed, one word.
            target_id: its id, at most 36 characters.
            details: JSON values, without secrets; ``None`` is left out. Points in time are ISO 8601,
                see :func:`strongroom.plugin_api.times.iso_format`.
            transaction: a transaction of ``database.write()``. Call this last in it, because all other
                records wait until it ends.

        Raises:
            TypeError: it is no transaction of ``database.write()``.
        """

    @property
    @abstractmethod
    def limits(self) -> LimitsAPI:
        """Rates, limits of attempts and captchas."""

    @property
    @abstractmethod
    def lists(self) -> ListsAPI:
        """Pages of lists, for routes."""

    @property
    @abstractmethod
    def secrets(self) -> SecretsAPI:
        """Sealed texts, keyed hashes and password hashes of the plugin."""

    @property
    @abstractmethod
    def signing(self) -> SigningAPI:
        """Signed statements for other services."""

    @property
    @abstractmethod
    def grants(self) -> GrantsAPI:
        """What users let the plugin's clients do."""

    @property
    @abstractmethod
    def events(self) -> EventLog:
        """The recorded events, and their types."""

    @property
    @abstractmethod
    def store(self) -> UserStore:
        """Encrypted values of the plugin for users, for plugins that need no table."""

    @property
    @abstractmethod
    def values(self) -> ValueStore:
        """Encrypted values that all workers and nodes share, such as tokens of others."""

    @property
    @abstractmethod
    def leases(self) -> LeasesAPI:
        """Leases by name, across all workers and nodes, for work that one of them does."""

    @property
    @abstractmethod
    def logins(self) -> LoginsAPI:
        """Logins, bindings of credentials, states of redirects, and the logins by a platform."""

    @property
    @abstractmethod
    def public_url(self) -> str:
        """The public URL of the server, without a trailing slash."""

    @abstractmethod
    def notify(self, user_id: str, subject: str, text: str) -> None:
        """Send a message to the e-mail address and mobile number of a user, without waiting for it."""

    @abstractmethod
    def extension(self, kind: type[ExtensionT]) -> ExtensionT | None:
        """Return the extension of a class, or ``None`` if the configuration does not enable it.

        Args:
            kind: a class of the plugin: a login method, a second factor or a content scanner.
        """

    @abstractmethod
    def authenticate(
        self,
        *,
        scope: str | None = None,
        authenticators: Sequence[str] = (),
        token: str | None = None,
        audience: str | None = None,
    ) -> str:
        """Authenticate the request of a mounted WSGI application, and return the user's id.

        Afterwards the user is the caller of :attr:`files`, :attr:`tenants` and :attr:`users`, within
        the limits of the access key if the request presents one. Routes of blueprints need no call:
        their ``access`` does it.

        Args:
            scope: the scope that an access key needs at least, see
                :class:`~strongroom.plugin_api.authentication.Scope`; without one, only access tokens
                are accepted. Each method of :attr:`files` and the others requires its own scope, too.
            authenticators: the names of the authenticators that are accepted, such as ``basic``.
            token: an access token or access key that the plugin has from elsewhere, such as a cookie
                of its own; ``None``: the one in the headers of the request.
            audience: the URI of the application, below :attr:`public_url`, which the tokens of clients
                must be for (RFC 8707); such tokens open no route of the REST API. ``None``: the
                application accepts the tokens of clients for the REST API. Tokens of logins and access
                keys have no audience but this server, and are accepted by both.

        Raises:
            ApiError: with status 401, whose response names the accepted challenges, or 403.
            ValueError: the audience is not below :attr:`public_url`.
        """

    @property
    @abstractmethod
    def pages(self) -> PagesAPI:
        """Pages of the plugin, and what all plugins add to pages."""

    @property
    @abstractmethod
    def browser(self) -> BrowserAPI:
        """The browser of the request, for pages: session, secret of forms, language and login."""

    @abstractmethod
    def rest(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        token: str | None = None,
        headers: Mapping[str, str] | None = None,
        stream: bool = False,
    ) -> "RestResponse":
        """Send a request to the server's own REST API, within the process, for the current client.

        For pages that do what a client of the REST API does, such as log in with a second factor. The
        request has the address, the User-Agent, the languages and the id of the browser's request, so
        limits and records are the same; it has no other header of the browser, no cookie and no token.

        Args:
            method: the HTTP method.
            path: the path and the query, without the base path of the server.
            body: the JSON body, or ``bytes`` or a binary file that can seek, of the type
                in the header ``Content-Type``; ``None`` sends none.
            token: an access token.
            headers: further headers, such as ``Accept-Language``.
            stream: whether the body of a success is in :attr:`RestResponse.pieces`, of any size, such as
                an export's, for a Flask response.

        Raises:
            ValueError: the response has more than 16 MiB, without ``stream``. Read files by
                :attr:`files`.
        """

    @abstractmethod
    def error_response(self, error: "ApiError") -> Any:
        """Return the Flask response to an error, with the JSON body that all errors have.

        A mounted WSGI application may also let an ``ApiError`` propagate, with the same result.
        """

    @property
    @abstractmethod
    def caller(self) -> CallerInfo | None:
        """The user that :attr:`files`, :attr:`tenants` and :attr:`users` act as.

        ``None`` without a user: the request has no token, or its route is public.
        """


def _build_service(kind: Callable[..., T], host: HostAPI) -> T:
    return kind(host)
