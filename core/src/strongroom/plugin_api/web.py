"""Routes of plugins, and the API of the server, their host.

A plugin's routes change users only through :class:`HostAPI`, so that limits, captchas, the audit log and
the tokens are the same as on the core's routes::

    @hookimpl
    def register_blueprints(host: HostAPI) -> list[Blueprint]:
        routes = host.blueprint("riddles", description="Log in by a riddle.")

        @routes.operation("POST", "/api/v1/riddle-authorizations", access=Access.PUBLIC,
                          body=AnswerSchema, returns=host.tokens_schema, errors=host.login_errors)
        def log_in_by_riddle(body: dict[str, str]) -> Any:
            return host.log_in("riddle", {"answer": body["answer"]})

        return [routes]
"""

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from strongroom.plugin_api.login import Credential, LoginMethod, VerificationCode

ViewT = TypeVar("ViewT", bound=Callable[..., Any])
HookT = TypeVar("HookT", bound=Callable[..., Any])
MethodT = TypeVar("MethodT", bound=LoginMethod[Any])


class Access(Enum):
    """The callers that a route admits. Every route states one value."""

    PUBLIC = "all clients"
    OPTIONAL = "all clients; a token is checked if there is one"
    USER = "any logged-in user"
    ADMIN = "administrators"


@dataclass(frozen=True, slots=True)
class ErrorKind:
    """A kind of error response.

    Args:
        status: the HTTP status.
        code: a unique, stable, machine-readable code: ``error.`` and words with hyphens.
        message: one sentence for developers, which may change.
    """

    status: int
    code: str
    message: str


@dataclass(frozen=True, slots=True)
class FieldError:
    """An error of one request field. The message names the expected value."""

    field: str
    code: str
    message: str


class ApiError(Exception):
    """An error response of a kind that the plugin has registered.

    Args:
        kind: the registered kind.
        details: the invalid fields.
    """

    def __init__(self, kind: ErrorKind, *, details: Sequence[FieldError] = ()) -> None:
        super().__init__(kind.message)
        self.kind = kind
        self.details = tuple(details)

    @property
    def status(self) -> int:
        """The HTTP status."""
        return self.kind.status

    @property
    def code(self) -> str:
        """The stable error code."""
        return self.kind.code


@dataclass(frozen=True, slots=True)
class State:
    """A ``state`` (RFC 6749, section 10.12) for one use by one browser.

    Args:
        value: the parameter of the redirect; it begins with the purpose and a dot.
        expires_at: milliseconds since the Unix epoch.
    """

    value: str = field(repr=False)
    expires_at: int


class Blueprint(Protocol):
    """A plugin's routes and hooks of requests, created by :meth:`HostAPI.blueprint`."""

    def operation(
        self,
        method: str,
        path: str,
        *,
        access: Access,
        body: type[Any] | None = None,
        query: type[Any] | None = None,
        returns: type[Any] | None = None,
        status: int = 200,
        errors: Sequence[Any] = (),
        document: dict[str, Any] | None = None,
    ) -> Callable[[ViewT], ViewT]:
        """Register a view for a method and a path.

        The view receives its path parameters by name, the query as the keyword ``query`` and the body
        as the keyword ``body``. In OpenAPI, its name in camel case is the ``operationId``, and its
        docstring is the description.

        Args:
            method: the HTTP method.
            path: the path, with parameters as ``<name>``.
            access: the callers that are admitted.
            body: the marshmallow schema of the JSON body.
            query: the marshmallow schema of the query parameters.
            returns: the marshmallow schema of the response; without it, the view returns a Flask
                response.
            status: the HTTP status of success.
            errors: possible errors: :class:`ErrorKind`, and the errors that :class:`HostAPI` lists.
            document: additions to the OpenAPI operation.
        """

    def before_app_request(self, hook: HookT) -> HookT:
        """Register a hook of Flask that runs before each request, those of the core's routes included.

        The hook has no arguments. It returns ``None``, or the Flask response that replaces the route's,
        or raises :class:`ApiError`. It runs before the token is checked.
        """

    def after_app_request(self, hook: HookT) -> HookT:
        """Register a hook of Flask that runs after each request, those of the core's routes included.

        The hook receives the Flask response, which may be an error, and returns it or another one. It
        must not read the body, which may be a large file.
        """


class HostAPI(ABC):
    """The server's API for plugin routes. Request-bound methods may only be called during a request."""

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

    @property
    @abstractmethod
    def public_url(self) -> str:
        """The public URL of the server, without a trailing slash."""

    @abstractmethod
    def login_method(self, kind: type[MethodT]) -> MethodT | None:
        """Return the login method of a class, or ``None`` if the configuration does not enable it."""

    @abstractmethod
    def blueprint(self, name: str, *, description: str) -> Blueprint:
        """Return an empty set of routes. Its name is the OpenAPI tag."""

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
    def issue_state(self, purpose: str, data: Mapping[str, str], *, for_user: bool = False) -> State:
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


if TYPE_CHECKING:
    Server = HostAPI
else:
    # Hidden from type checkers, because it would make every misspelt name of this module valid.
    def __getattr__(name: str) -> type[HostAPI]:
        """Return the class for its deprecated name ``Server``, of plugin API 1.0."""
        if name != "Server":
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        warnings.warn(f"{__name__}.Server is deprecated: use HostAPI", DeprecationWarning, stacklevel=2)
        return HostAPI
