"""Routes of plugins: who may call them, and their errors.

A plugin's routes are functions of a module, as the core's are. They change users only through
:class:`~strongroom.plugin_api.host.HostAPI`, so that limits, captchas, the audit log and the tokens are
the same as on the core's routes::

    routes = Blueprint("riddles", description="Log in by a riddle.")

    @routes.operation("POST", "/api/v1/riddle-authorizations", access=Access.PUBLIC, body=AnswerSchema,
                      returns=IssuedTokensSchema, errors=(HostErrors.LOG_IN,))
    def log_in_by_riddle(body: dict[str, str]) -> Any:
        return current_host().logins.log_in("riddle", {"answer": body["answer"]})

    @hookimpl
    def register_blueprints() -> list[Blueprint]:
        return [routes]
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from enum import Enum
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Final, Required, TypedDict, TypeVar, Unpack

from strongroom.plugin_api.authentication import Sensitive

_METHOD: Final = re.compile("[A-Z]+")
ViewT = TypeVar("ViewT", bound=Callable[..., Any])
HookT = TypeVar("HookT", bound=Callable[..., Any])
PartT = TypeVar("PartT")


class Access(Enum):
    """The callers that a route accepts. Every route states one value."""

    PUBLIC = "all clients"
    OPTIONAL = "all clients; a token is checked if there is one"
    USER = "any logged-in user"
    ADMIN = "administrators"


REQUESTED_HOST: Final = "strongroom.requested_host"
"""The variable of the environ of a mounted application with the header Host of the request.

``HTTP_HOST`` and ``wsgi.url_scheme`` are the ones of ``server.public_url``. A client sends any Host, so
it may be compared with URLs in other headers of the request, and never be part of one in a response.
"""

BODY_BYTES: Final = 64 * 1024
"""The maximum size of a request body of a mounted application that declares no larger one, in bytes."""


@dataclass(frozen=True, slots=True)
class LargeBody:
    """A route of a mounted application whose request bodies may exceed :data:`BODY_BYTES`.

    The application must not read such a body before it has verified the caller and, in a session of a
    browser, the secret of the form, which is in the query or a header of such a request.

    Args:
        method: the HTTP method.
        path: the path below the prefix, with parameters as ``<name>``.
        max_bytes: the maximum size; ``None``: ``[files] max_file_bytes``, for a body that is read as a
            stream.
        is_form: whether the body is a form of HTML, whose parsers keep it in memory and in the temporary
            folder. Without it, forms of the route have at most :data:`BODY_BYTES`, too.
    """

    method: str
    path: str
    max_bytes: int | None = None
    is_form: bool = False


@dataclass(frozen=True, slots=True)
class MountedApplication:
    """A WSGI application (PEP 3333) with what it declares.

    Args:
        prefix: the path prefix below which it serves all requests, such as ``/browse``.
        large_bodies: the routes that accept large request bodies.
    """

    prefix: str
    application: "WSGIApplication"
    large_bodies: Sequence[LargeBody] = ()


@dataclass(frozen=True, slots=True)
class StartPage:
    """A page for people that the server's start page links to.

    Args:
        path: its path, such as ``/account/``.
        labels: the text of the link by language, at least ``en``.
        is_home: whether ``/`` leads browsers to it, once the server is set up. At most one
            page is the home.
    """

    path: str
    labels: Mapping[str, str]
    is_home: bool = False


@dataclass(frozen=True, slots=True)
class PasswordPage:
    """The page on which users set a password by a link that an administrator has issued.

    It sends the token and the password to ``POST /users/password-links``. Opening it changes nothing,
    because programs open links in messages, too.

    Args:
        path: its path, to which the token is appended, such as ``/account/password-links/``.
        restoring_path: the path of the page on which users take back a former contact, likewise. It
            sends the token and the password to ``POST /users/contact-restorations``.
            ``[users] restore_url`` replaces it. Without both, notices of changed contacts have no link.
    """

    path: str
    restoring_path: str | None = None


@dataclass(frozen=True, slots=True)
class CodePage:
    """The page of links in e-mails with login codes.

    Its requests for codes have ``"link": true``. Opening the page changes nothing, because programs open
    links, too. It remembers the id and the recipient of the code in the browser, shows a form to that
    browser only, and sends it as ``verificationCode`` with ``POST /authorizations``: the secret in place
    of the code.

    Args:
        path: its path, to which ``ID.SECRET`` is appended, such as ``/account/l/``.
    """

    path: str


@dataclass(frozen=True, slots=True)
class InvitationPage:
    """The page of links in e-mails with invitations to a tenant.

    It gets the invitation by ``POST /api/v1/invitation-previews``. Opening it changes nothing, because
    programs open links, too: the user accepts or declines by a form.

    Args:
        path: its path, to which the secret is appended, such as ``/account/invitations/``.
    """

    path: str


@dataclass(frozen=True, slots=True)
class ErrorKind:
    """A kind of error response.

    Args:
        status: the HTTP status.
        code: a unique, stable, machine-readable code: ``error.`` and words with hyphens.
        message: one sentence for developers and, on pages of errors, for people. It may change.
        retry_after: seconds until a repetition may succeed, for the header ``Retry-After``. A
            503 without it has 10.
    """

    status: int
    code: str
    message: str
    retry_after: int | None = field(default=None, kw_only=True)


@dataclass(frozen=True, slots=True)
class FieldError:
    """An error of one request field. The message names the expected value."""

    field: str
    code: str
    message: str


class ApiError(Exception):
    """An error response, of a kind that the plugin has registered or of one of the core's.

    The core's errors derive from this class, so ``except ApiError as error`` catches those that
    :class:`HostAPI` raises; ``error.code`` distinguishes them.

    Args:
        kind: the registered kind.
        details: the invalid fields.
    """

    status: int
    """The HTTP status."""
    code: str
    """The stable error code."""
    details: tuple[FieldError, ...]
    """The invalid fields."""
    retry_after: int | None
    """The seconds of ``Retry-After``; ``None`` for the default of the status."""
    scope: str | None = None
    """The scope that the caller lacks, of ``error.insufficient-scope``."""

    def __init__(self, kind: ErrorKind, *, details: Sequence[FieldError] = ()) -> None:
        super().__init__(kind.message)
        self.status, self.code = kind.status, kind.code
        self.details = tuple(details)
        self.retry_after = kind.retry_after

    @property
    def kind(self) -> ErrorKind:
        """The kind of the error, with its message."""
        return ErrorKind(self.status, self.code, str(self), retry_after=self.retry_after)


@dataclass(frozen=True, slots=True)
class State:
    """A ``state`` (RFC 6749, section 10.12) for one use by one browser.

    Args:
        value: the parameter of the redirect: at most 128 letters and digits, because some platforms
            allow nothing else. It begins with :func:`prefix_of_state`.
        expires_at: milliseconds since the Unix epoch.
    """

    value: str = field(repr=False)
    expires_at: int


def prefix_of_state(purpose: str) -> str:
    """Return what the states of a purpose begin with: the purpose and a zero.

    It routes a redirect; that a state has the purpose is proven by spending it only.
    """
    return f"{purpose}0"


@dataclass(frozen=True, slots=True)
class RestResponse:
    """The response to :meth:`HostAPI.rest`.

    Args:
        status: the HTTP status.
        json: the body, if it is JSON; otherwise ``None``.
        retry_after: the seconds of ``Retry-After``, if the response has it.
        headers: the headers by their names in lowercase; several of one name are joined by a comma
            (RFC 9110, section 5.3).
        content: the body.
        pieces: the body of a success with ``stream``, to be read once.
    """

    status: int
    json: Any = field(repr=False)
    retry_after: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    content: bytes = field(default=b"", repr=False)
    pieces: Iterable[bytes] = field(default=(), repr=False)

    @property
    def error(self) -> str | None:
        """The code of an error, such as ``error.not-found``; ``None`` for another response."""
        is_error = self.status >= 400 and isinstance(self.json, dict)  # noqa: PLR2004  RFC 9110, section 15
        return str(self.json["error"]["code"]) if is_error else None


class HostErrors(Enum):
    """Errors of methods of :class:`HostAPI`, for the ``errors`` of an operation."""

    LOG_IN = "log_in"
    """Of :meth:`LoginsAPI.log_in`."""
    BIND = "bind"
    """Of :meth:`LoginsAPI.bind`."""
    UNBIND = "unbind"
    """Of :meth:`LoginsAPI.unbind`."""
    STATES = "states"
    """Of :meth:`LoginsAPI.issue_state` and :meth:`LoginsAPI.consume_state`."""
    FACTORS = "factors"
    """Of all methods of :attr:`HostAPI.factors`."""
    UPLOADS = "uploads"
    """Of all methods of :attr:`HostAPI.uploads`."""


PROOF_PARAMETERS: Final[list[dict[str, Any]]] = [
    {
        "name": "X-Verification-Code",
        "in": "header",
        "required": False,
        "schema": {"type": "string", "pattern": r"^\s*[^.]+\..+$"},
        "description": "`{id}.{code}` of a code sent to one of the user's contacts",
    },
    {
        "name": "X-Current-Password",
        "in": "header",
        "required": False,
        "schema": {"type": "string"},
        "description": "The current password, percent-encoded UTF-8 (`encodeURIComponent`)",
    },
]
"""The OpenAPI parameters of a fresh proof, for the ``document`` of an operation that requires one."""

Limit = str | Callable[[], Any]
"""A key of ``[limits]``, or a function that counts the request.

To refuse the request, the function raises an error or returns a response.
"""

HeaderNames = Sequence[str] | Mapping[str, str]
"""Names of headers that the core describes, or headers with their descriptions."""


@dataclass(frozen=True, slots=True)
class Location:
    """How to build the URL of a created resource, for the header ``Location`` of a 201.

    Args:
        endpoint: the names of a blueprint and of a view of it, joined by a period, such as
            ``boxes.get_box``; if possible the view for GET of the resource.
        fields: the members of the view's result, by the names of the path parameters of that route. All
            other parameters are the request's.
    """

    endpoint: str
    fields: Mapping[str, str]


class RouteOptions(TypedDict, total=False):
    """The keywords of :meth:`Blueprint.operation`, which describes them."""

    access: Required[Access]
    scope: str | None
    authenticators: Sequence[str]
    sensitive: Sensitive | None
    limit: Limit | None
    body: type[Any] | None
    query: type[Any] | None
    any_query: bool | None
    request_headers: HeaderNames
    returns: type[Any] | None
    status: int
    errors: Sequence[Any]
    compress: bool
    response_headers: HeaderNames
    location: Location | None
    document: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class RouteCallers:
    """Who may call a route, and how often; see :meth:`Blueprint.operation`."""

    access: Access
    scope: str | None = None
    authenticators: Sequence[str] = ()
    sensitive: Sensitive | None = None
    limit: Limit | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RouteRequest:
    """What a route takes; see :meth:`Blueprint.operation`."""

    body: type[Any] | None = None
    query: type[Any] | None = None
    any_query: bool | None = None
    request_headers: HeaderNames = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RouteResponse:
    """What a route returns; see :meth:`Blueprint.operation`."""

    returns: type[Any] | None = None
    status: int = 200
    errors: Sequence[Any] = ()
    compress: bool = False
    response_headers: HeaderNames = ()
    location: Location | None = None
    document: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Route:
    """A route as it was declared."""

    method: str
    path: str
    view: Callable[..., Any]
    callers: RouteCallers
    request: RouteRequest
    response: RouteResponse


class Blueprint:
    """Routes and hooks of requests, recorded when their module is imported.

    The hook ``register_blueprints`` returns them, and the server registers them once per application.
    Views, functions of limits and hooks get their plugin's host by
    :func:`strongroom.plugin_api.request.current_host`.

    Args:
        name: the OpenAPI tag, unique on the server.
        description: the description of the tag.
        parameters: the descriptions of path parameters by name, for OpenAPI. ``tenant_id``,
            ``user_id``, ``file_id`` and others that the core's routes share have one without it.
    """

    parts: ClassVar[tuple[type[Any], ...]] = (RouteCallers, RouteRequest, RouteResponse)
    """The classes of the parts of a route."""

    def __init__(
        self, name: str, *, description: str = "", parameters: Mapping[str, str] = MappingProxyType({})
    ) -> None:
        self.name = name
        self.description = description
        self.parameters = parameters
        self.routes: list[Route] = []
        self.hooks: list[tuple[str, Callable[..., Any]]] = []

    def operation(
        self, method: str, path: str, **options: Unpack[RouteOptions]
    ) -> Callable[[ViewT], ViewT]:
        """Register a view for a method and a path.

        The view receives its path parameters by name, as texts, the query as the keyword ``query`` and
        the body as the keyword ``body``: dictionaries with the names of the fields of their schemas.
        In OpenAPI, its name in camel case is the ``operationId``, and its docstring is the description.

        If the schema of a GET has a ``revision``, its responses have an entity tag. The views of changes
        on its path, and below it with the same schema, then receive the keyword ``revision`` and compare
        it in their transaction: the expected revision of If-Match or of the body, or ``None`` for any.
        The platform turns their error of the status 409 into 412 if If-Match became false.

        A POST with the status 201 or 202 that needs a token accepts the header Idempotency-Key: the view
        is called once, and a repeated request gets the stored first response.

        Args:
            method: the HTTP method.
            path: the path, with parameters as ``<name>``.
            access: the callers that may use the route.
            body: the marshmallow schema of the JSON body, which has at most 256 KiB, or 64 KiB if the
                route needs no token.
            query: the marshmallow schema of the query parameters.
            returns: the marshmallow schema of the response; without it, the view returns a Flask
                response.
            status: the HTTP status of success.
            errors: possible errors: :class:`ErrorKind` and :class:`HostErrors`.
            limit: the rate limit, counted before the token and the input are read: a key of
                ``[limits]``, per client address, or a function that calls :meth:`LimitsAPI.check_rate`,
                and may return the response of a refusal. Without one, ``public_per_address`` limits the
                routes that change something and need no token.
            any_query: whether unknown query parameters are ignored, as redirects of other servers need
                (RFC 6749, section 4.1.2); otherwise they are refused by name. By default, they are
                ignored by routes that people open by a link: routes of GET and HEAD that need no token
                and have no schema of their response, such as pages and public files.
            compress: whether a JSON response of at least 1 KiB is compressed for clients that accept it.
                Only for a GET, such as of a list, whose response never has a secret, not even in a URL:
                the size of a compressed response reveals a secret to a client that chooses other
                parts of it, such as names (BREACH). A member whose name ends in words such as "token" or
                "url" stops the start.
            scope: a :class:`~strongroom.plugin_api.authentication.Scope`, with which access keys are
                accepted; without one, none is. Keys that are limited to a tenant are accepted only if
                the path has the parameter ``<tenant_id>``.
            authenticators: the names of the authenticators, such as ``basic``, that are accepted in
                addition to bearer tokens.
            sensitive: what the route changes, if users with a second factor must have proven it lately;
                others receive ``error.step-up-required``.
            request_headers: the headers that the view reads, with descriptions, or the names of headers
                that the core describes; scripts of the origins in ``[server] cors_origins`` may send
                them.
            response_headers: the headers of success, likewise; such scripts may read them.
            location: the :class:`Location` of a resource that a 201 has created. Without one, the header
                is the URL of the request, unless the view returns it with the value, as
                ``value, {"Location": url}``.
            document: members that are merged into the OpenAPI operation.

        Raises:
            TypeError: an option is unknown, ``access`` is none, or the method is not in capitals.
        """
        if not _METHOD.fullmatch(method):
            raise TypeError(f"{method} {path}: write the method in capitals, such as GET")
        parts = _route_parts(self.parts, {**options}, f"{method} {path}")

        def record(view: ViewT) -> ViewT:
            self.add(Route(method, path, view, *parts))
            # The undecorated view, so that other code and tests can call it directly.
            return view

        return record

    def add(self, route: Route) -> None:
        """Add a route that was declared elsewhere."""
        self.routes.append(route)

    def extended(self, *others: "Blueprint") -> "Blueprint":
        """Return a blueprint of the same name that also has the routes and hooks of others."""
        extended = type(self)(
            self.name,
            description=self.description,
            parameters={
                name: text for each in (self, *others) for name, text in each.parameters.items()
            },
        )
        for blueprint in (self, *others):
            for route in blueprint.routes:
                extended.add(route)
            extended.hooks.extend(blueprint.hooks)
        return extended

    def after_request(self, hook: HookT) -> HookT:
        """Register a hook of Flask that runs after each request to the routes of this blueprint.

        The hook receives the Flask response, which may be an error, and returns it or another one.
        """
        self.hooks.append(("after_request", hook))
        return hook

    def before_app_request(self, hook: HookT) -> HookT:
        """Register a hook of Flask that runs before each request, also of the core's routes.

        The hook has no arguments. It returns ``None``, or the Flask response that replaces the route's,
        or raises :class:`ApiError`. It runs before the token is checked.
        """
        self.hooks.append(("before_app_request", hook))
        return hook

    def after_app_request(self, hook: HookT) -> HookT:
        """Register a hook of Flask that runs after each request, also of the core's routes.

        The hook receives the Flask response, which may be an error, and returns it or another one. It
        must not read the body, which may be a large file.
        """
        self.hooks.append(("after_app_request", hook))
        return hook


def _route_parts(kinds: Sequence[type[Any]], options: dict[str, Any], route: str) -> tuple[Any, ...]:
    """Return the parts of a route; each takes the options that have the names of its fields.

    Raises:
        TypeError: as :meth:`Blueprint.operation`.
    """
    if not isinstance(options.get("access"), Access):
        raise TypeError(f"{route}: state who may call the route, such as access=Access.USER")
    names = [{item.name for item in fields(kind)} for kind in kinds]
    if unknown := options.keys() - set().union(*names):
        known = ", ".join(sorted(set().union(*names)))
        raise TypeError(f"{route}: there is no option {min(unknown)!r}; use one of {known}")
    return tuple(
        kind(**{name: options[name] for name in options.keys() & own})
        for kind, own in zip(kinds, names, strict=True)
    )


if TYPE_CHECKING:
    from wsgiref.types import WSGIApplication
