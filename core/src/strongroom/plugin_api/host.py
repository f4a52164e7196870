"""The host of a plugin: the server's API that the hooks receive as ``host``.

Each plugin has a host of its own, which knows the plugin's name, options and data. It exists wherever
the plugin's code runs: in requests, in commands and in jobs. A command opens the server's services when
it first uses one of them.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from strongroom.plugin_api.events import EventLog
from strongroom.plugin_api.files import FilesAPI, TenantsAPI, UsersAPI
from strongroom.plugin_api.login import Credential, LoginMethod, VerificationCode
from strongroom.plugin_api.state import PluginDatabase, UserStore

if TYPE_CHECKING:
    from strongroom.plugin_api.web import ApiError, Blueprint, State

MethodT = TypeVar("MethodT", bound=LoginMethod[Any])


class Clock(Protocol):
    """The time."""

    def now(self) -> int:
        """Return the time in milliseconds since the Unix epoch."""


class HostAPI(ABC):
    """The server's API for one plugin. Request-bound methods may only be called during a request."""

    tokens_schema: type[Any]
    """The marshmallow schema of the result of :meth:`log_in`."""

    credentials_schema: type[Any]
    """The marshmallow schema of ``{"credentials": [...]}``, for the result of :meth:`bind`."""

    credential_schema: type[Any]
    """The marshmallow schema of the new credential only, for the result of :meth:`bind`."""

    done_schema: type[Any]
    """The marshmallow schema of ``{"success": true}``."""

    login_errors: Sequence[Any]
    """Errors that :meth:`log_in` may raise, for the ``errors`` of an operation."""

    bind_errors: Sequence[Any]
    """Errors that :meth:`bind` may raise, for the ``errors`` of an operation."""

    unbind_errors: Sequence[Any]
    """Errors that :meth:`unbind` may raise, for the ``errors`` of an operation."""

    state_errors: Sequence[Any]
    """Errors that :meth:`issue_state` and :meth:`spend_state` may raise."""

    paging_query: type[Any]
    """The marshmallow schema of ``pageSize`` and ``pageNumber``, to derive a collection's query from."""

    @property
    @abstractmethod
    def plugin(self) -> str:
        """The name of the plugin."""

    @property
    @abstractmethod
    def options(self) -> Any:
        """The options of ``[plugins.NAME]``, of the type that the hook ``register_options`` returned."""

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
    def tenants(self) -> TenantsAPI:
        """The tenants that the caller belongs to."""

    @property
    @abstractmethod
    def users(self) -> UsersAPI:
        """The users that the caller may read."""

    @abstractmethod
    def acting_as(self, user_id: str) -> AbstractContextManager[None]:
        """Make a user the caller of :attr:`files`, :attr:`tenants` and :attr:`users` within a block.

        For jobs, event handlers and commands, which have no request. In a request, it replaces the
        caller, so that the plugin must decide itself whether the request may do that. Each use is an
        audit event ``plugin.act-as`` with the name of the plugin. It is bound to the thread.

        Raises:
            ApiError: ``error.not-found`` or ``error.user-suspended``; such a user can do nothing.
        """

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
    def public_url(self) -> str:
        """The public URL of the server, without a trailing slash."""

    @abstractmethod
    def seal(self, text: str) -> str:
        """Encrypt a secret for the plugin's own tables. No other plugin can decrypt it."""

    @abstractmethod
    def unseal(self, sealed: str) -> str:
        """Decrypt a text from :meth:`seal`.

        Raises:
            ValueError: another plugin or another installation has encrypted it.
        """

    @abstractmethod
    def notify(self, user_id: str, subject: str, text: str) -> None:
        """Send a message to the e-mail address and mobile number of a user, without waiting for it."""

    @abstractmethod
    def collection_schema(self, item: type[Any]) -> type[Any]:
        """Return the marshmallow schema of a page of records, the result of :meth:`collection`."""

    @abstractmethod
    def collection(self, items: Sequence[Any], total: int, query: Mapping[str, Any]) -> Any:
        """Return the response body of a page, with the links to other pages.

        Args:
            items: the records of the page.
            total: the number of all records.
            query: the parsed query, with the fields of :attr:`paging_query`.
        """

    @abstractmethod
    def login_method(self, kind: type[MethodT]) -> MethodT | None:
        """Return the login method of a class, or ``None`` if the configuration does not enable it."""

    @abstractmethod
    def blueprint(self, name: str, *, description: str) -> "Blueprint":
        """Return an empty set of routes. Its name is the OpenAPI tag."""

    @abstractmethod
    def authenticate(self, *, scope: str | None = None, admits: Sequence[str] = ()) -> str:
        """Authenticate the request of a mounted WSGI application, and return the user's id.

        Afterwards the user is the caller of :attr:`files`, :attr:`tenants` and :attr:`users`, within
        the limits of the access key if the request presents one. Routes of blueprints need no call:
        their ``access`` does it.

        Args:
            scope: the scope that an access key needs at least, see
                :class:`~strongroom.plugin_api.authentication.Scope`; without one, only access tokens
                are admitted. Each method of :attr:`files` and the others requires its own scope, too.
            admits: the names of the authenticators that are admitted, such as ``basic``.

        Raises:
            ApiError: with status 401, whose response names the admitted challenges, or 403.
        """

    @abstractmethod
    def page(
        self,
        template: str,
        *,
        status: int = 200,
        policy: Mapping[str, str] | None = None,
        **values: Any,
    ) -> Any:
        """Return the Flask response with an HTML page of the plugin, in the browser's language.

        The package of the plugin has the folders ``templates``, with Jinja2 templates, and ``messages``,
        with a TOML file of texts per language, such as ``zh.toml``. ``{{ text("key", name=name) }}`` is
        a text of the page's language, with ``{name}`` replaced. ``{% extends "strongroom/page.html"
        %}`` gives a page the look of the server's own; its blocks are ``title``, ``style``, ``main`` and
        ``script``. The Content-Security-Policy admits only scripts and styles with ``nonce="{{ nonce
        }}"``.

        Args:
            template: the file name of the template.
            status: the status code.
            policy: directives that replace those of the strict policy, such as
                ``{"form-action": "'self'"}``.
            values: the other variables of the template.
        """

    @abstractmethod
    def error_response(self, error: "ApiError") -> Any:
        """Return the Flask response to an error, with the JSON body that all errors have.

        A mounted WSGI application may also let an ``ApiError`` propagate, with the same result.
        """

    @abstractmethod
    def user_id(self) -> str | None:
        """Return the caller's user id, if the request has a token and the route checks it."""

    @abstractmethod
    def log_in(self, method: str, proof: Mapping[str, str]) -> Any:
        """Log in with a proof for a login method; return the route's response, with the tokens.

        Rate limits, user lookup, suspension, the audit log and the headers are those of every login.
        """

    @abstractmethod
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
        """Check a proof with a login method, and bind the verified credentials to the calling user.

        The access token is not enough: the user must also present a code sent to a current contact;
        without contacts, the current password; without a password, a login within the last 5 minutes.

        Args:
            user_id: the user in the path, an id or ``me``; it must be the caller.
            method: the name of the login method.
            proof: the proof for the method.
            replaced: called with all credentials of the user, including the new ones; returns those to
                release, such as another account of the same platform.
            held_code: a code for ``bind``, sent to a current contact; ``None``: the code in the header
                ``X-Verification-Code``.
            current_password: the user's current password.
        """

    @abstractmethod
    def unbind(self, user_id: str, kinds: Collection[str]) -> Any:
        """Unbind all credentials of some kinds from the calling user.

        Requires a verification code in the header ``X-Verification-Code``. An e-mail address or mobile
        number must remain, so that the user can still log in.
        """

    @abstractmethod
    def issue_state(self, purpose: str, data: Mapping[str, str], *, for_user: bool = False) -> "State":
        """Issue a state, bound to the browser by a cookie in the response.

        Args:
            purpose: the purpose that :meth:`spend_state` must name; one word.
            data: the result of :meth:`spend_state`; stored on the server.
            for_user: whether only the calling user may use the state.
        """

    @abstractmethod
    def spend_state(self, value: str, purpose: str, *, for_user: bool = False) -> Mapping[str, str]:
        """Use up a state and return its data. The arguments must equal those of :meth:`issue_state`.

        A state is refused if it is unknown, expired or used, or of another browser, user or purpose.
        """
