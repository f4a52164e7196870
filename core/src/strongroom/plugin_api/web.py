"""Routes of a plugin's own, and what the server lends to them.

Whatever a route of a plugin does to users goes through :class:`Server`, so that limits, captchas, the
record and the tokens are the same as on every other path::

    @hookimpl
    def register_blueprints(server: Server) -> list[Blueprint]:
        routes = server.blueprint("riddles", description="Log in by a riddle.")

        @routes.operation("POST", "/api/v1/riddle-authorizations", access=Access.PUBLIC,
                          body=AnswerSchema, returns=server.tokens_schema, errors=server.login_errors)
        def log_in_by_riddle(body: dict[str, str]) -> Any:
            return server.log_in("riddle", {"answer": body["answer"]})

        return [routes]
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Protocol, TypeVar

from strongroom.plugin_api.login import Credential, LoginMethod, VerificationCode

ViewT = TypeVar("ViewT", bound=Callable[..., Any])
MethodT = TypeVar("MethodT", bound=LoginMethod[Any])


class Access(Enum):
    """Who may call a route. Every route states one."""

    PUBLIC = "anybody"
    OPTIONAL = "anybody; a token is checked if there is one"
    USER = "any logged-in user"
    ADMIN = "administrators"


@dataclass(frozen=True, slots=True)
class ErrorKind:
    """One way to refuse.

    Args:
        status: the HTTP status.
        code: stable and machine-readable, ``error.`` and words with hyphens; no other has it.
        message: one sentence for developers, which may change.
    """

    status: int
    code: str
    message: str


@dataclass(frozen=True, slots=True)
class FieldError:
    """What is wrong with one field of a request, and what would be right."""

    field: str
    code: str
    message: str


class ApiError(Exception):
    """A client is told of an error of a kind that the plugin has registered.

    Args:
        kind: which.
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
        """The stable code."""
        return self.kind.code


@dataclass(frozen=True, slots=True)
class State:
    """A ``state`` (RFC 6749, section 10.12) for one use by one browser.

    Args:
        value: what goes out and comes back; it begins with the purpose and a dot.
        expires_at: milliseconds since the Unix epoch.
    """

    value: str = field(repr=False)
    expires_at: int


class Blueprint(Protocol):
    """A plugin's routes; made by :meth:`Server.blueprint`."""

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

        The view is given its path parameters by name, the query as the keyword ``query`` and the
        body as the keyword ``body``. Its name, in camel case, is the ``operationId`` of OpenAPI, and
        its docstring the description.

        Args:
            method: the HTTP method.
            path: the path, with parameters as ``<name>``.
            access: who may call it.
            body: the marshmallow schema of a JSON body.
            query: that of the query parameters.
            returns: that of the answer; without one the view returns a Flask response.
            status: the status of success.
            errors: what else may be answered: :class:`ErrorKind` and what :class:`Server` names.
            document: additions to the OpenAPI operation.
        """


class Server(ABC):
    """The server, as a plugin's routes see it. What is of a request works within one only."""

    tokens_schema: type[Any]
    """The marshmallow schema of what :meth:`log_in` returns."""

    credentials_schema: type[Any]
    """The marshmallow schema of ``{"credentials": [...]}``, for what :meth:`bind` returns."""

    credential_schema: type[Any]
    """The marshmallow schema of the one credential that was bound, for what :meth:`bind` returns."""

    done_schema: type[Any]
    """The marshmallow schema of ``{"success": true}``."""

    login_errors: Sequence[Any]
    """What :meth:`log_in` may raise, for the documentation."""

    bind_errors: Sequence[Any]
    """What :meth:`bind` may raise, likewise."""

    unbind_errors: Sequence[Any]
    """What :meth:`unbind` may raise, likewise."""

    state_errors: Sequence[Any]
    """What :meth:`issue_state` and :meth:`spend_state` may raise, likewise."""

    @property
    @abstractmethod
    def public_url(self) -> str:
        """The URL that clients reach the server by, without a slash at the end."""

    @abstractmethod
    def login_method(self, kind: type[MethodT]) -> MethodT | None:
        """Return the login method of a class, or ``None`` where the configuration does not use it."""

    @abstractmethod
    def blueprint(self, name: str, *, description: str) -> Blueprint:
        """Return an empty set of routes, whose name is their tag in OpenAPI."""

    @abstractmethod
    def user_id(self) -> str | None:
        """Return who is calling, if the request carries a token and the route looks at it."""

    @abstractmethod
    def log_in(self, method: str, proof: Mapping[str, str]) -> Any:
        """Let a login method look at a proof; return what the route answers with: tokens.

        Throttling, the user, suspension, the record and the headers are those of every login.
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
        """Let a login method check a proof, and bind what it shows to the calling user.

        A token alone binds nothing: the user proves to be there by a code to a contact that is held;
        without contacts, by the current password; without a password, by a login of the last 5 minutes.

        Args:
            user_id: whose path it is: an id, or ``me``; only the user may.
            method: the login method.
            proof: what the method needs.
            replaced: told what the user holds by now, and what is added, returns which of it gives
                way, such as another account of the same platform.
            held_code: a code of the purpose ``bind``, sent to a contact that the user holds; ``None``
                takes the one of the header ``X-Verification-Code``.
            current_password: the user's password.
        """

    @abstractmethod
    def unbind(self, user_id: str, kinds: Collection[str]) -> Any:
        """Take all credentials of some kinds from the calling user.

        It takes a verification code in the header ``X-Verification-Code``, and an e-mail address or
        mobile number that remains: nobody is left without a way in.
        """

    @abstractmethod
    def issue_state(self, purpose: str, data: Mapping[str, str], *, for_user: bool = False) -> State:
        """Make a state, and bind it to the browser by a cookie of the answer.

        Args:
            purpose: what it may be spent for: a word.
            data: what :meth:`spend_state` returns; kept on the server.
            for_user: whether only the calling user may spend it.
        """

    @abstractmethod
    def spend_state(self, value: str, purpose: str, *, for_user: bool = False) -> Mapping[str, str]:
        """Use up a state, and return its data; the arguments are those it was issued with.

        It is refused when it is unknown, too old, used, or of another browser, user or purpose.
        """
