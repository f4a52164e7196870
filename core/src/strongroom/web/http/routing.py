"""Operations: a route is declared once, with its access, limit, schemas, errors and documentation.

An :class:`Operation` is the view function that Flask calls. It does for every route, in this order: the
rate limit, authentication, parsing, the view, and the response.
"""

import logging
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from http import HTTPStatus
from types import MappingProxyType
from typing import Any, Final, TypeVar, Unpack, cast

import flask
import flask_smorest
import werkzeug
from marshmallow import Schema

from strongroom.foundation.caller import ANY_TENANT
from strongroom.foundation.errors import (
    Forbidden,
    NotFound,
    PreconditionFailed,
    RevisionConflict,
    StrongroomError,
)
from strongroom.foundation.json_text import encode_json
from strongroom.foundation.limits.service import RateLimits
from strongroom.foundation.plugins.hook_calls import WrongResult
from strongroom.plugin_api import web
from strongroom.plugin_api.host import HostAPI
from strongroom.plugin_api.request import bind_to_host
from strongroom.plugin_api.web import ApiError, Limit, Route, RouteResponse
from strongroom.web.http.access import (
    Access,
    authenticate,
    current_identity,
    require_recent_factor,
    require_verified_login,
)
from strongroom.web.http.idempotency import HEADER, respond_once
from strongroom.web.http.locations import created_url, own_url
from strongroom.web.http.openapi_descriptions import path_parameters
from strongroom.web.http.parsing import refuse_query
from strongroom.web.http.representations import (
    JsonRepresentation,
    has_preconditions,
    has_revision,
    is_conflict,
    refuse_preconditions,
    stated_revision,
)
from strongroom.web.http.request import current_environ, get_service, header
from strongroom.web.http.response import Convert, Response, json_response, serializer
from strongroom.web.http.route_descriptions import describe_route
from strongroom.web.http.route_faults import async_faults, route_fault
from strongroom.web.http.route_parts import (
    OPERATION_PARTS,
    OperationOptions,
    OperationRoute,
    operation_route,
)

logger = logging.getLogger(__name__)

# A number, because each access to a member of HTTPStatus calls a function in Python.
_CREATED: Final = HTTPStatus.CREATED.value

ViewT = TypeVar("ViewT", bound=Callable[..., Any])


class Operation:
    """A route with everything that was declared about it; see :meth:`Blueprint.operation`.

    The view may return a value for the schema, or a tuple with the status, the headers or both, or a
    complete response.
    """

    def __init__(self, route: OperationRoute) -> None:
        callers, description = route.callers, describe_route(route)
        if callers.verifies_login and callers.access is not Access.USER:
            raise ValueError("only views for any logged-in user can verify the login themselves")
        self.route, self.description = route, description
        self.rule, self.also = callers.row, callers.also
        self.scope = self.rule.scope
        self.sensitive, self.sensitive_if = callers.step_up
        self.authenticators = tuple(callers.authenticators)
        self.accepts_impersonation = callers.impersonation or (route.is_safe and not self.sensitive)
        self._tenant_id = ANY_TENANT if callers.any_tenant else None
        self.owner = "the server"
        self.endpoint = route.view.__name__
        self.__name__, self.__doc__ = route.view.__name__, route.view.__doc__
        self.access = callers.access
        self._view = route.view
        self.limit = route.limit
        self.max_body = route.max_body
        self.ignores_unknown = route.ignores_unknown
        self.inputs = route.request.parsers(ignores_unknown=route.ignores_unknown)
        self._refuses_query = not (route.request.query or route.ignores_unknown)
        self._returns: type[Schema] | None = route.response.returns
        self._status = route.response.status
        self.has_revision = has_revision(self._returns)
        self._location = route.response.location
        self._verifies_login = callers.verifies_login
        self.request_headers = frozenset((*description.request_headers, *description.added_headers))
        self.response_headers = frozenset(description.response_headers)
        self._has_own_preconditions = route.is_safe or "If-Match" in self.request_headers
        self.creates = description.is_idempotent
        self.compress = route.response.compress
        self.reader: Operation | None = None
        self._names: frozenset[str] = frozenset()

    @cached_property
    def _serialize(self) -> Convert | None:
        # On first use, because building all of them takes a thirtieth of a start.
        return serializer(self._returns) if self._returns else None

    def rename(self, name: str) -> None:
        """Give the operation of a plugin another name, because a server has one operation of each."""
        self.__name__ = self.route.view.__name__ = name

    @property
    def view(self) -> Callable[..., Any]:
        """The view, as it was registered."""
        return self._view

    def link(self, reader: "Operation", names: Iterable[str]) -> None:
        """Declare that the operation changes the representation of a GET operation.

        The view then gets the keyword ``revision``: the expected revision, from the body or from
        If-Match, which it compares in the transaction of the change; ``None`` accepts any.

        Args:
            names: the parameters of the path of the GET operation.
        """
        self.reader, self._names = reader, frozenset(names)
        self.description = self.description.with_preconditions()
        self.request_headers |= self.description.request_headers.keys()

    def require_preconditions(self, path: Mapping[str, Any]) -> int | None:
        """Check the preconditions of a change, and return the revision that the change must compare.

        A caller who may change a resource but not read it states its revision.

        Raises:
            PreconditionFailed: If-Match or If-None-Match is false.
            StrongroomError: as the view.
        """
        try:
            return self._represent({**path}).require_preconditions()
        except (Forbidden, NotFound):
            return stated_revision()

    def _represent(self, inputs: dict[str, Any]) -> JsonRepresentation:
        """Return the current representation, by the parameters of the path."""
        if (query := self.route.request.query) is not None:
            inputs["query"] = query().load({})
        if self._verifies_login:
            inputs["caller"] = current_identity()
        return cast("JsonRepresentation", self._represented(_unpacked(self._view(**inputs))[0]))

    def __call__(self, **parameters: Any) -> flask.Response:
        """Serve the current request; ``parameters`` are the path's."""
        # Before the token is verified and anything is parsed, which costs more.
        if self.limit is not None and (refusal := self._count(self.limit)) is not None:
            return self._response(refusal, parameters)
        # Before the query and the body are parsed, so that clients without access learn nothing.
        caller = authenticate(
            self.access,
            verify_login=not self._verifies_login,
            scope=self.scope,
            authenticators=self.authenticators,
            tenant_id=parameters.get("tenant_id", self._tenant_id),
            impersonation=self.accepts_impersonation,
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

    def _count(self, limit: Limit) -> Any:
        """Count the request against the limit, and return a response if that refuses it."""
        if callable(limit):
            return limit()
        get_service(RateLimits).check(limit)
        return None

    def _answer(self, parameters: dict[str, Any]) -> flask.Response:
        environ = current_environ()
        if _has_body(environ):
            # Uploads replace it, and read in pieces.
            flask.request.max_content_length = self.max_body
        if self._refuses_query and environ.get("QUERY_STRING"):
            refuse_query()
        for name, parse in self.inputs.items():
            parameters[name] = parse()
        if self.reader is not None:
            return self._change(self.reader, parameters)
        if self.creates and header(HEADER) is not None:
            reads_body = not self.inputs.keys().isdisjoint(("body", "form"))
            respond = partial(self._viewed, parameters)
            return respond_once(self.__name__, self.request_headers, respond, reads_body=reads_body)
        return self._viewed(parameters)

    def _viewed(self, parameters: dict[str, Any]) -> flask.Response:
        if not self._has_own_preconditions and has_preconditions():
            refuse_preconditions()
        response = self._response(self._view(**parameters), parameters)
        if self.compress and isinstance(response, Response):
            response.may_be_coded = True
        return response

    def _change(self, reader: "Operation", parameters: dict[str, Any]) -> flask.Response:
        """Run a view that compares the revision in its transaction."""
        body = parameters.get("body")
        parameters["revision"] = body.pop("revision", None) if type(body) is dict else None
        if not has_preconditions():
            return self._response(self._view(**parameters), parameters)
        # Of the path alone, and now, because a view may change its parameters.
        path = {name: parameters[name] for name in self._names}
        stated, revision = parameters["revision"], reader.require_preconditions(path)
        parameters["revision"] = revision if stated is None else stated
        try:
            return self._response(self._view(**parameters), parameters)
        except ApiError as error:
            if stated is None and revision is not None and isinstance(error, RevisionConflict):
                raise PreconditionFailed from error
            if is_conflict(error):
                # A concurrent change since then makes the precondition false: 412 instead of 409.
                reader.require_preconditions(path)
            raise

    def _response(self, result: Any, parameters: Mapping[str, Any]) -> flask.Response:
        if type(result) is JsonRepresentation and self._status != _CREATED:
            # Hot: each read of a node, see ADR 0076.
            return result.response(self._status, ())
        if isinstance(result, flask.Response):
            return result
        if isinstance(result, werkzeug.Response):
            # Such as a redirect of Werkzeug's, which lacks what hooks of requests use.
            return cast("flask.Response", flask.Response.force_type(result))
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
        if status == _CREATED and "Location" not in headers:
            # Resources without a URL are identified by the request's (RFC 9110, section 10.2.2).
            location = self._created_url(value, parameters)
            headers = {**headers, "Location": location}
        represented = self._represented(value)
        if isinstance(represented, str):
            return json_response(represented, status, headers)
        return represented.response(status, headers)

    def _created_url(self, value: Any, parameters: Mapping[str, Any]) -> str:
        if self._location is None:
            return own_url()
        try:
            return created_url(self._location, value, parameters)
        except WrongResult as error:
            message = f"{self.owner}: the view {self.__name__}: {error}"
            logger.error("%s", message)  # noqa: TRY400  the line says all
            raise WrongResult(message) from error

    def _represented(self, value: Any) -> str | JsonRepresentation:
        """Return a view's value as JSON, with its revision if the schema has one."""
        if type(value) is JsonRepresentation:
            return value
        if self._serialize is not None:
            value = self._serialize(value)
        text = encode_json(value)
        if not self.has_revision or value.get("revision") is None:
            return text
        return JsonRepresentation(text, value["revision"])


def _has_body(environ: Mapping[str, Any]) -> bool:
    return environ.get("CONTENT_LENGTH", "") not in ("", "0") or "wsgi.input_terminated" in environ


def _unpacked(result: Any) -> tuple[Any, int | None, Mapping[str, str]]:
    """Return a view's value, status and headers."""
    if type(result) is not tuple:
        return result, None, {}
    value, *others = result
    status: int | None = None
    headers: Mapping[str, str] = {}
    for other in others:
        if isinstance(other, int):
            status = other
        elif isinstance(other, Mapping):
            headers = other
    return value, status, headers


class Blueprint(web.Blueprint):
    """The routes of a feature, or of a plugin in one application.

    They are described when the OpenAPI document is built, because few processes ever build it: ADR 0086.

    Args:
        url_prefix: begins the paths of all routes.
        parameters: the descriptions of path parameters by name, in addition to
            :data:`openapi_descriptions.PATH_PARAMETERS` and instead of those.
    """

    parts = OPERATION_PARTS

    def __init__(
        self,
        name: str,
        *,
        description: str = "",
        url_prefix: str = "",
        parameters: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        super().__init__(name, description=description, parameters=parameters)
        self.url_prefix = url_prefix
        self._operations: list[Operation] = []

    @classmethod
    def bound(
        cls,
        recorded: web.Blueprint,
        host: HostAPI,
        host_errors: Mapping[web.HostErrors, Sequence[type[StrongroomError]]],
        limits: Collection[str],
    ) -> "Blueprint":
        """Return the blueprint of a plugin, whose views, limits and hooks get the host.

        Args:
            host_errors: the errors of each group.
            limits: the keys of ``[limits]``.

        Raises:
            ValueError: as :meth:`operation`; or a route cannot be served as it is declared.
        """
        blueprint = cls(recorded.name, description=recorded.description, parameters=recorded.parameters)
        for route in recorded.routes:
            named = replace(route, response=_with_errors(route.response, host_errors))
            if fault := route_fault(named, limits):
                raise ValueError(f"{route.method} {route.path}: {fault}")
            blueprint.add(_bound(named, host))
        for _, hook in recorded.hooks:
            if fault := next(async_faults(hook), None):
                raise ValueError(fault)
        blueprint.hooks = [(kind, bind_to_host(host, hook)) for kind, hook in recorded.hooks]
        return blueprint

    def make_distinct(self, taken: Collection[str], prefix: str) -> None:
        """Begin the names of operations that are taken with a prefix.

        The name of an operation is its ``operationId``, and Idempotency-Keys are distinct for each name.
        """
        for operation in self._operations:
            if operation.__name__ in taken:
                operation.rename(f"{prefix}_{operation.__name__}")

    def add(self, route: Route) -> None:
        super().add(route)
        self._operations.append(Operation(operation_route(route, self.url_prefix)))

    def register(self, app: flask.Flask, base_path: str = "") -> None:
        """Register the routes and hooks in an application.

        Args:
            base_path: begins the paths of all routes.
        """
        app.register_blueprint(self.flask_blueprint(), url_prefix=base_path or None)

    def flask_blueprint(self) -> flask.Blueprint:
        """Return a blueprint of Flask's with the routes and hooks."""
        blueprint = flask.Blueprint(self.name, __name__)
        for operation in self._operations:
            route = operation.route
            blueprint.add_url_rule(route.path, operation.endpoint, operation, methods=[route.method])
        for kind, hook in self.hooks:
            getattr(blueprint, kind)(hook)
        return blueprint

    def described(self) -> flask_smorest.Blueprint:
        """Return a blueprint of the same routes, with the descriptions of their operations."""
        blueprint = flask_smorest.Blueprint(self.name, __name__, description=self.description)
        for operation in self._operations:
            route = operation.route
            blueprint.add_url_rule(
                route.path,
                operation.endpoint,
                blueprint.doc(**operation.description.operation())(operation),
                methods=[route.method],
                parameters=path_parameters(route.path, self.parameters),
            )
        return blueprint

    def operation(
        self, method: str, path: str, **options: Unpack[OperationOptions]
    ) -> Callable[[ViewT], ViewT]:
        """Register a view for a method and a path.

        The view receives the path parameters by name, the query as the keyword ``query``, the body as
        the keyword ``body``, and a form as the keyword ``form``. Its name, in camel case, is the
        ``operationId``, and its docstring the description.

        A representation whose schema has a ``revision`` gets an entity tag, and a view that changes it
        gets the keyword ``revision``: see :mod:`preconditions`. A POST with the status 201 or 202 that
        needs a caller accepts the header Idempotency-Key.

        Args:
            path: the path, with parameters as ``<name>``.
            body: the schema of a JSON body.
            select_body: returns the schema that the body of the current request is loaded by, if that
                depends on its caller; ``body`` then describes all of them.
            query: the schema of the query parameters.
            form: the schema of a URL-encoded form.
            status: the status of a successful response.
            errors: the errors that the view may raise.
            limit: the rate limit, counted before anything is parsed: a key of ``[limits]``, per client
                address, or a function. By default, :data:`route_parts.PUBLIC_LIMIT` for routes that
                change something and need no token, and none for all others.
            max_body: the maximum size of a body that is read as a whole; by default
                :data:`PUBLIC_BYTES` or :data:`CALLER_BYTES`.
            any_query: whether unknown query parameters are ignored instead of refused; by default, as
                :attr:`OperationRoute.ignores_unknown` decides.
            compress: whether a response of at least 1 KiB is compressed for clients that accept it; only
                for a GET whose response has no secret, because its size would reveal one to a client
                that chooses other parts of the response: :mod:`content_coding`.
            location: the Location of a resource that a 201 has created; without one, it is the URL of
                the request unless the view states another.
            verifies_login: whether the view's first query verifies that the login was not revoked,
                which saves a query; such a view receives the keyword ``caller``.
            rule: the row of the operation in a table of operations, which has the scope of access keys
                and the step-up.
            also: further rows, each with the requests that they hold for, such as "`permanently=true`";
                the service then requires what they state.
            scope: the scope of a route without a row, such as one of a plugin; without one, the
                operation accepts no access keys.
            authenticators: the names of the authenticators, such as ``basic``, that it accepts.
            any_tenant: whether keys that are limited to a tenant are accepted although the path names
                no tenant; the view limits its result to the key's tenant.
            impersonation: whether impersonated users may use a route that changes something; they may
                use all others, so a safe method must neither change nor reveal what lasts.
            sensitive: what a route without a row changes, if a stolen token alone must not open it:
                users with a second factor must have proven it lately.
            request_headers: the headers that the view reads; keys of :data:`headers.REQUEST_HEADERS`, or
                other names with their descriptions.
            response_headers: the headers of success; keys of :data:`headers.RESPONSE_HEADERS`, or other
                names with their descriptions.
            document: additions to the OpenAPI operation.

        Raises:
            TypeError: as :meth:`strongroom.plugin_api.web.Blueprint.operation`.
            ValueError: ``compress`` of an operation whose response may have a secret.
        """
        return super().operation(method, path, **options)  # type: ignore[misc]  # further options


def _with_errors(
    response: RouteResponse, host_errors: Mapping[web.HostErrors, Sequence[type[StrongroomError]]]
) -> RouteResponse:
    """Return a response with each error in place of the groups."""
    errors = list[Any]()
    for error in response.errors:
        errors.extend(host_errors[error] if isinstance(error, web.HostErrors) else (error,))
    return replace(response, errors=tuple(errors))


def _bound(route: Route, host: HostAPI) -> Route:
    """Return a route of a plugin whose view and limit get the host."""
    limit = route.callers.limit
    return replace(
        route,
        view=bind_to_host(host, route.view),
        callers=replace(route.callers, limit=bind_to_host(host, limit) if callable(limit) else limit),
    )
