"""Operations: a route is declared once, with its access, limit, schemas, errors and documentation.

An :class:`Operation` is the view function that Flask calls. It does for every route, in this order: the
rate limit, authentication, parsing, the view, and the response.
"""

import logging
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from http import HTTPStatus
from itertools import groupby
from types import MappingProxyType
from typing import Any, Final, NoReturn, TypeVar
from urllib.parse import quote

import flask
import flask_smorest
from flask import Flask, current_app, url_for
from marshmallow import EXCLUDE, RAISE, Schema

from strongroom.foundation.caller import ANY_TENANT
from strongroom.foundation.errors import (
    InsufficientScope,
    NotImplementedHere,
    StepUpRequired,
    StrongroomError,
    TokenInvalid,
    TokenRequired,
    TooManyRequests,
    Unavailable,
    ValidationFailed,
)
from strongroom.foundation.json_text import encode_json
from strongroom.foundation.limits.service import RateLimits
from strongroom.foundation.operations import OperationRule
from strongroom.foundation.plugins.hook_calls import WrongResult
from strongroom.plugin_api.authentication import Scope, Sensitive
from strongroom.plugin_api.web import ErrorKind
from strongroom.web.http.access import (
    Access,
    authenticate,
    current_identity,
    require_recent_factor,
    require_verified_login,
)
from strongroom.web.http.errors import ErrorSchema
from strongroom.web.http.headers import REQUEST_HEADERS, RESPONSE_HEADERS
from strongroom.web.http.input_bounds import CALLER_BYTES, PUBLIC_BYTES
from strongroom.web.http.parsing import parse_body, parse_form, parse_query, refuse_query
from strongroom.web.http.request import PublicUrl, current_environ, get_service, request_path
from strongroom.web.http.response import Convert, json_response, serializer

logger = logging.getLogger(__name__)

ViewT = TypeVar("ViewT", bound=Callable[..., Any])

ErrorKinds = Sequence[type[StrongroomError] | ErrorKind]
HeaderNames = Sequence[str] | Mapping[str, str]
Json = dict[str, Any]

HEADERS_KEY: Final = "x-strongroom-headers"
"""The temporary key of an operation's headers, which ``openapi`` replaces by its own form."""

SENSITIVE_KEY: Final = "x-strongroom-sensitive"
"""The key of what an operation changes, if its callers must have proven their second factor lately."""

SENSITIVE_IF_KEY: Final = "x-strongroom-sensitive-if"
"""The key of the requests of such an operation that need the proof, if not all do."""

PUBLIC_LIMIT: Final = "public_per_address"
"""The key in ``[limits]`` for changes by clients without a token, where the route names no other."""

Limit = str | Callable[[], Any]
"""A key in ``[limits]``, or a function that counts the request.

To refuse the request, the function raises an error or returns a response.
"""

_SAFE_METHODS: Final = ("GET", "OPTIONS")

SCOPE_KEY: Final = "x-access-key-scope"
"""The key of the scope that an access key needs for an operation."""

SCOPE_IF_KEY: Final = "x-access-key-scope-if"
"""The key of the further scopes that some requests need, each with these requests."""

_TOKEN: Final[list[dict[str, list[str]]]] = [{"bearer": []}]


RESERVED: Final = (
    ("POST", "/api/v1/wechat-qr-codes"),
    ("POST", "/api/v1/wechat-authorizations"),
    ("GET", "/api/v1/wechat-authorizations/scan"),
    ("GET", "/api/v1/wechat-authorizations/callback"),
    ("POST", "/api/v1/miniProgram-authorization"),
    ("POST", "/api/v1/users/<user_id>/wechatIds"),
    ("DELETE", "/api/v1/users/<user_id>/wechatIds"),
    # Features of the core that a server may leave out.
    ("PUT", "/api/v1/tenants/<tenant_id>/files/<file_id>/hold"),
    ("DELETE", "/api/v1/tenants/<tenant_id>/files/<file_id>/hold"),
    ("GET", "/api/v1/tenants/<tenant_id>/holds"),
    ("GET", "/api/v1/tenants/<tenant_id>/retention"),
    ("PUT", "/api/v1/tenants/<tenant_id>/retention"),
    ("POST", "/api/v1/files"),
    ("POST", "/api/v1/files/photos"),
    ("POST", "/api/v1/files/figures"),
    ("POST", "/api/v1/files/covers"),
    ("POST", "/api/v1/files/avatars"),
    ("GET", "/api/v1/files/<file_name>"),
    ("DELETE", "/api/v1/files/<file_name>"),
    ("POST", "/api/v1/tenants/<tenant_id>/direct-uploads"),
    ("POST", "/api/v1/tenants/<tenant_id>/direct-uploads/<upload_id>/complete"),
    ("GET", "/api/v1/quarantine"),
    ("POST", "/api/v1/quarantine/<scan_id>/release"),
    ("DELETE", "/api/v1/quarantine/<scan_id>"),
)
"""Routes of the interface that answer 501 if neither a feature nor a plugin provides them."""


@dataclass(frozen=True, slots=True)
class Location:
    """How to build the URL of a created resource, for the Location header (RFC 9110, section 15.3.2).

    Args:
        endpoint: the Flask endpoint of a route of the resource, if possible the one for GET.
        fields: the members of the view's result, by the names of the path parameters. The others are
            those of the request.
    """

    endpoint: str
    fields: Mapping[str, str]

    def url(self, created: Any, parameters: Mapping[str, Any]) -> str:
        """Return the absolute URL of a resource that a request with path parameters has created."""
        get = created.__getitem__ if isinstance(created, Mapping) else partial(getattr, created)
        values: Json = {name: str(get(member)) for name, member in self.fields.items()}
        rule = next(current_app.url_map.iter_rules(self.endpoint))
        others = {name: parameters[name] for name in rule.arguments - values.keys()}
        return absolute_url(self.endpoint, **others, **values)


def own_url() -> str:
    """Return the public URL of the request, without its query."""
    return get_service(PublicUrl).root + quote(request_path())


def absolute_url(endpoint: str, **values: Any) -> str:
    """Return the public URL of an endpoint. It never depends on the Host header of the request."""
    return get_service(PublicUrl).root + _path_of(endpoint, values)


def _path_of(endpoint: str, values: Mapping[str, Any]) -> str:
    """Return the path of an endpoint, as ``url_for``.

    That creates Flask's request and searches all rules, which takes as long as several queries.
    """
    app = current_app
    # Blueprints of plugins may name their endpoints relatively, or have defaults for parameters.
    is_plain = not endpoint.startswith(".") and not app.url_default_functions
    found = next(app.url_map.iter_rules(endpoint)).build(values) if is_plain else None
    if found is None:
        return url_for(endpoint, **values)
    script_name: str = current_environ().get("SCRIPT_NAME", "")
    return script_name + found[1]


class Operation:
    """A route with everything that was declared about it; see :meth:`Blueprint.operation`.

    The view may return a value for the schema, or a tuple with the status, the headers or both, or a
    complete response.
    """

    def __init__(
        self,
        view: Callable[..., Any],
        *,
        access: Access,
        limit: Limit | None,
        max_body: int | None,
        inputs: Mapping[str, Callable[[], Any]],
        refuses_query: bool,
        returns: type[Schema] | None,
        status: int,
        location: Location | None,
        verifies_login: bool,
        rule: OperationRule,
        also: Mapping[OperationRule, str],
        admits: Sequence[str] = (),
        any_tenant: bool = False,
        request_headers: Iterable[str] = (),
        response_headers: Iterable[str] = (),
    ) -> None:
        if verifies_login and access is not Access.USER:
            raise ValueError("only views for any logged-in user can verify the login themselves")
        self.rule, self.also = rule, also
        self.scope = rule.scope
        self.sensitive, self.sensitive_if = _step_up(rule, also)
        self.admits = tuple(admits)
        self._tenant_id = ANY_TENANT if any_tenant else None
        self.owner = "the server"
        self.__name__ = view.__name__
        self.__doc__ = view.__doc__
        self.access = access
        self._view = view
        self.limit = limit
        self.max_body = max_body or (CALLER_BYTES if needs_caller(access) else PUBLIC_BYTES)
        self.inputs = inputs
        self._refuses_query = refuses_query
        self._returns = returns
        self._status = status
        self._location = location
        self._verifies_login = verifies_login
        self.request_headers = frozenset(request_headers)
        self.response_headers = frozenset(response_headers)

    @cached_property
    def _serialize(self) -> Convert | None:
        # On first use, because building all of them takes a thirtieth of a start.
        return serializer(self._returns) if self._returns else None

    def __call__(self, **parameters: Any) -> flask.Response:
        """Serve the current request; ``parameters`` are those of the path."""
        # Before the token is verified and anything is parsed, which costs more.
        if (refusal := self._count()) is not None:
            return self._response(refusal, parameters)
        # Before the query and the body are parsed, so that clients without access learn nothing.
        caller = authenticate(
            self.access,
            verify_login=not self._verifies_login,
            scope=self.scope,
            admits=self.admits,
            tenant_id=parameters.get("tenant_id", self._tenant_id),
        )
        if self.sensitive is not None and self.sensitive_if is None and caller is not None:
            require_recent_factor(caller)
        if caller is None or not self._verifies_login:
            return self._answer(parameters)
        try:
            parameters["caller"] = caller
            response = self._answer(parameters)
        except Exception:
            # A revoked login takes precedence over any other error.
            current_identity()
            raise
        require_verified_login(caller)
        return response

    def _count(self) -> Any:
        """Count the request against the limit, and return a response if that refuses it."""
        if callable(self.limit):
            return self.limit()
        if self.limit is not None:
            get_service(RateLimits).check(self.limit)
        return None

    def _answer(self, parameters: dict[str, Any]) -> flask.Response:
        if _has_body():
            # Uploads replace it, and read in pieces.
            flask.request.max_content_length = self.max_body
        if self._refuses_query:
            refuse_query()
        for name, parse in self.inputs.items():
            parameters[name] = parse()
        return self._response(self._view(**parameters), parameters)

    def _response(self, result: Any, parameters: Mapping[str, Any]) -> flask.Response:
        if isinstance(result, flask.Response):
            return result
        if result is None:
            wanted = "return a value for its schema, or a response"
            message = f"{self.owner}: the view {self.__name__} returned None; {wanted}"
            logger.error("%s", message)
            raise WrongResult(message)
        value, status, headers = _unpacked(result)
        if isinstance(value, flask.Response):
            value.headers.extend(headers)
            value.status_code = status or value.status_code
            return value
        status = status or self._status
        if status == HTTPStatus.CREATED and "Location" not in headers:
            # Resources without a URL are identified by that of the request, as RFC 9110 has it.
            location = self._location.url(value, parameters) if self._location else own_url()
            headers = {**headers, "Location": location}
        if self._serialize is not None:
            value = self._serialize(value)
        return json_response(encode_json(value), status, headers)


def needs_caller(access: Access) -> bool:
    """Return whether a route is closed to clients without a token."""
    return access in (Access.USER, Access.ADMIN)


def _has_body() -> bool:
    environ = current_environ()
    return environ.get("CONTENT_LENGTH", "") not in ("", "0") or "wsgi.input_terminated" in environ


def _unpacked(result: Any) -> tuple[Any, int | None, Mapping[str, str]]:
    """Return a view's value, status and headers."""
    if type(result) is not tuple:
        return result, None, {}
    value, *others = result
    status = next((other for other in others if isinstance(other, int)), None)
    return value, status, next((other for other in others if isinstance(other, Mapping)), {})


class Blueprint(flask_smorest.Blueprint):  # type: ignore[misc]  # flask-smorest has no types
    """The routes of a feature.

    They are described when the OpenAPI document is built, because few processes ever build it.
    """

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._descriptions: list[tuple[Any, Callable[[], Json]]] = []
        self._documentation: list[Callable[[], None]] = []

    def _store_endpoint_docs(self, *arguments: Any, **options: Any) -> None:
        self._documentation.append(partial(super()._store_endpoint_docs, *arguments, **options))

    def register_views_in_doc(self, *arguments: Any, **options: Any) -> None:
        """Describe the routes in the OpenAPI document."""
        for operation, describe in self._descriptions:
            operation._apidoc = self.doc(**describe())(operation)._apidoc  # noqa: SLF001  of flask-smorest
        for store in self._documentation:
            store()
        super().register_views_in_doc(*arguments, **options)

    def operation(
        self,
        method: str,
        path: str,
        *,
        access: Access,
        body: type[Schema] | None = None,
        query: type[Schema] | None = None,
        form: type[Schema] | None = None,
        returns: type[Schema] | None = None,
        status: int = 200,
        errors: ErrorKinds = (),
        limit: Limit | None = None,
        max_body: int | None = None,
        any_query: bool = False,
        location: Location | None = None,
        verifies_login: bool = False,
        rule: OperationRule | None = None,
        also: Mapping[OperationRule, str] = MappingProxyType({}),
        scope: str | None = None,
        admits: Sequence[str] = (),
        any_tenant: bool = False,
        sensitive: Sensitive | None = None,
        request_headers: HeaderNames = (),
        response_headers: HeaderNames = (),
        document: dict[str, Any] | None = None,
    ) -> Callable[[ViewT], ViewT]:
        """Register a view for a method and a path.

        The view receives the path parameters by name, the query as the keyword ``query``, the body as
        the keyword ``body``, and a form as the keyword ``form``. Its name, in camel case, is the
        ``operationId``, and its docstring the description.

        Args:
            path: the path, with parameters as ``<name>``.
            body: the schema of a JSON body.
            query: the schema of the query parameters.
            form: the schema of a URL-encoded form.
            status: the status of a successful response.
            errors: the errors that the view may raise.
            limit: the rate limit, counted before anything is parsed: a key of ``[limits]``, per client
                address, or a function. By default, :data:`PUBLIC_LIMIT` for routes that change
                something and need no token, and none for all others.
            max_body: the maximum size of a body that is read as a whole; by default
                :data:`PUBLIC_BYTES` or :data:`CALLER_BYTES`.
            any_query: whether unknown query parameters are ignored instead of refused.
            location: the Location of a resource that a 201 has created; without one, it is the URL of
                the request unless the view states another.
            verifies_login: whether the view's first query verifies that the login was not revoked,
                which saves a query; such a view receives the keyword ``caller``.
            rule: the row of the operation in a table of operations, which has the scope of access keys
                and the step-up.
            also: further rows, each with the requests that they hold for, such as "`permanently=true`";
                the service then requires what they state.
            scope: the scope of a route without a row, such as one of a plugin; without one, the
                operation admits no access keys.
            admits: the names of the authenticators, such as ``basic``, that the operation admits.
            any_tenant: whether keys that are limited to a tenant are admitted although the path names
                no tenant; the view limits its result to the key's tenant.
            sensitive: what a route without a row changes, if a stolen token alone must not open it:
                users with a second factor must have proven it lately.
            request_headers: the headers that the view reads; keys of :data:`headers.REQUEST_HEADERS`, or
                other names with their descriptions.
            response_headers: the headers of success; keys of :data:`headers.RESPONSE_HEADERS`, or other
                names with their descriptions.
            document: additions to the OpenAPI operation.
        """
        if limit is None and method not in _SAFE_METHODS and not needs_caller(access):
            limit = PUBLIC_LIMIT
        inputs = _parsers(body, query, form, any_query=any_query)
        row = rule or OperationRule("", None if scope is None else Scope(scope), sensitive)

        whole_path = f"{self.url_prefix or ''}{path}"
        read = _described_headers(request_headers, REQUEST_HEADERS)
        sent = _described_headers(response_headers, RESPONSE_HEADERS)
        if status == HTTPStatus.CREATED:
            sent["Location"] = RESPONSE_HEADERS["Location"]

        def decorate(view: ViewT) -> ViewT:
            operation: Any = Operation(
                view,
                access=access,
                limit=limit,
                max_body=max_body,
                inputs=inputs,
                refuses_query=query is None and not any_query,
                returns=returns,
                status=status,
                location=location,
                verifies_login=verifies_login,
                rule=row,
                also=also,
                admits=admits,
                any_tenant=any_tenant,
                request_headers={*read, *_documented_headers(document or {})},
                response_headers=sent,
            )
            # A limit fails closed: 503 while the backend of the counters is unavailable.
            limited = (TooManyRequests, Unavailable) if limit else ()
            scoped = (InsufficientScope,) if row.scope else ()
            # A tenant may demand a stronger or newer login.
            is_demanding = operation.sensitive is not None or "<tenant_id>" in whole_path
            demanded = (StepUpRequired,) if is_demanding else ()
            kinds = (*errors, *limited, *scoped, *demanded)

            def describe() -> Json:
                described, additions = _described_input(body, query, form), document or {}
                return {
                    HEADERS_KEY: {"request": read, "response": sent},
                    **_described_rules(row, also),
                    "operationId": _camel_case(view.__name__),
                    "security": _security(access),
                    **described,
                    **additions,
                    "parameters": [*described.get("parameters", ()), *additions.get("parameters", ())],
                    "responses": {
                        **_described_success(status, returns),
                        **_refusals(access, kinds, takes_input=bool(inputs)),
                        **additions.get("responses", {}),
                    },
                }

            self._descriptions.append((operation, describe))
            self.route(path, methods=[method])(operation)
            # The undecorated view, so that other code and tests can call it directly.
            return view

        return decorate


def _described_headers(names: HeaderNames, descriptions: Mapping[str, str]) -> dict[str, str]:
    """Return the descriptions of headers by name."""
    return dict(names) if isinstance(names, Mapping) else {name: descriptions[name] for name in names}


def _step_up(
    rule: OperationRule, also: Mapping[OperationRule, str]
) -> tuple[Sensitive | None, str | None]:
    """Return the effect that needs a recent second factor, and the requests that have it, if not all."""
    if rule.sensitive is not None:
        return rule.sensitive, None
    conditions = ((other.sensitive, condition) for other, condition in also.items() if other.sensitive)
    return next(conditions, (None, None))


def _described_rules(rule: OperationRule, also: Mapping[OperationRule, str]) -> Json:
    """Return the extensions of the OpenAPI operation that state its rules."""
    sensitive, condition = _step_up(rule, also)
    scopes: dict[str, str] = {}
    for other, when in also.items():
        if rule.scope and other.scope not in (None, rule.scope):
            earlier = scopes.get(str(other.scope))
            scopes[str(other.scope)] = f"{earlier}; {when}" if earlier else when
    described = {
        SENSITIVE_KEY: sensitive and str(sensitive),
        SENSITIVE_IF_KEY: condition,
        SCOPE_KEY: rule.scope and str(rule.scope),
        SCOPE_IF_KEY: scopes,
    }
    return {key: value for key, value in described.items() if value}


def _security(access: Access) -> list[dict[str, list[str]]]:
    """Return the OpenAPI security requirements; each of them admits a request."""
    if access is Access.PUBLIC:
        return []
    return [*_TOKEN, *([{}] if access is Access.OPTIONAL else [])]


def _documented_headers(document: Json) -> Iterator[str]:
    """Yield the request headers in additions to an OpenAPI operation."""
    for parameter in document.get("parameters", ()):
        if parameter.get("in") == "header":
            yield parameter["name"]


def _parsers(
    body: type[Schema] | None,
    query: type[Schema] | None,
    form: type[Schema] | None,
    *,
    any_query: bool,
) -> dict[str, Callable[[], Any]]:
    """Return the functions that parse the input of a route, by the names of the view's parameters."""
    parsers: dict[str, Callable[[], Any]] = {}
    if query is not None:
        parsers["query"] = partial(parse_query, query, EXCLUDE if any_query else RAISE)
    if body is not None:
        parsers["body"] = partial(parse_body, body)
    if form is not None:
        parsers["form"] = partial(parse_form, form)
    return parsers


def _described_input(
    body: type[Schema] | None, query: type[Schema] | None, form: type[Schema] | None
) -> Json:
    """Return the OpenAPI parameters and request body."""
    described: Json = {}
    if query is not None:
        described["parameters"] = [{"in": "query", "schema": query}]
    content = {"application/json": body, "application/x-www-form-urlencoded": form}
    for media_type, schema in content.items():
        if schema is not None:
            described["requestBody"] = {
                "required": bool(schema().validate({})),
                "content": {media_type: {"schema": schema}},
            }
    return described


def _described_success(status: int, returns: type[Schema] | None) -> Json:
    content = {"content": {"application/json": {"schema": returns}}} if returns else {}
    return {str(status): {"description": HTTPStatus(status).phrase, **content}}


def _refusals(access: Access, errors: ErrorKinds, *, takes_input: bool) -> Json:
    """Return the OpenAPI error responses by status."""
    kinds = set(errors)
    if takes_input:
        kinds.add(ValidationFailed)
    if access in (Access.USER, Access.ADMIN):
        kinds |= {TokenRequired, TokenInvalid}
    ordered = sorted(kinds, key=lambda kind: (kind.status, kind.code))
    return {
        str(status): {
            "description": "; ".join(f"`{kind.code}`: {kind.message}" for kind in group),
            "content": {"application/json": {"schema": ErrorSchema}},
        }
        for status, group in groupby(ordered, key=lambda kind: kind.status)
    }


def _camel_case(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(word.capitalize() for word in others)


def reserved_blueprint(app: Flask, base_path: str) -> Blueprint:
    """Return routes that respond 501, for all reserved routes that no plugin has registered."""
    blueprint = Blueprint("reserved", __name__, description="Provided by plugins that are not enabled.")
    taken = {(method, rule.rule) for rule in app.url_map.iter_rules() for method in rule.methods or ()}
    for method, path in RESERVED:
        if (method, base_path + path) not in taken:
            view = _not_implemented(method, path)
            blueprint.operation(
                method, path, access=Access.PUBLIC, any_query=True, errors=(NotImplementedHere,)
            )(view)
    return blueprint


def _not_implemented(method: str, path: str) -> Callable[..., NoReturn]:
    def view(**_: str) -> NoReturn:
        raise NotImplementedHere

    words = re.sub("/<[^>]*>", "", path.removeprefix("/api/v1")).replace("-", "_").replace("/", "_")
    view.__name__ = f"{method.lower()}{words}"
    view.__doc__ = "Answer 501: the plugin of this route is not enabled."
    return view
