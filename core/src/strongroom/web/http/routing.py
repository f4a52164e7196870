"""Operations: a route is declared once, with its access, limit, schemas, errors and documentation.

An :class:`Operation` is the view function that Flask calls. It does for every route, in this order: the
rate limit, authentication, parsing, the view, and the response.
"""

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from http import HTTPStatus
from types import MappingProxyType
from typing import Any, Final, TypeVar, cast

import flask
import flask_smorest
import werkzeug
from marshmallow import EXCLUDE, RAISE, Schema

from strongroom.foundation.caller import ANY_TENANT
from strongroom.foundation.errors import Forbidden, NotFound, PreconditionFailed, RevisionConflict
from strongroom.foundation.json_text import encode_json
from strongroom.foundation.limits.service import RateLimits
from strongroom.foundation.operations import OperationRule
from strongroom.foundation.plugins.hook_calls import WrongResult
from strongroom.plugin_api.authentication import Scope, Sensitive
from strongroom.plugin_api.web import ApiError
from strongroom.web.http.access import (
    SAFE_METHODS,
    Access,
    authenticate,
    current_identity,
    require_recent_factor,
    require_verified_login,
)
from strongroom.web.http.content_coding import require_codable
from strongroom.web.http.headers import REQUEST_HEADERS, RESPONSE_HEADERS
from strongroom.web.http.idempotency import HEADER, creates, respond_once
from strongroom.web.http.input_bounds import CALLER_BYTES, PUBLIC_BYTES
from strongroom.web.http.locations import Location, own_url
from strongroom.web.http.openapi_descriptions import path_parameters
from strongroom.web.http.parsing import parse_body, parse_form, parse_query, refuse_query
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
from strongroom.web.http.route_descriptions import (
    ErrorKinds,
    HeaderNames,
    Json,
    RouteDescription,
    described_headers,
)

logger = logging.getLogger(__name__)

ViewT = TypeVar("ViewT", bound=Callable[..., Any])

PUBLIC_LIMIT: Final = "public_per_address"
"""The key in ``[limits]`` for changes by clients without a token, where the route names no other."""

Limit = str | Callable[[], Any]
"""A key in ``[limits]``, or a function that counts the request.

To refuse the request, the function raises an error or returns a response.
"""


class Operation:
    """A route with everything that was declared about it; see :meth:`Blueprint.operation`.

    The view may return a value for the schema, or a tuple with the status, the headers or both, or a
    complete response.
    """

    def __init__(
        self,
        view: Callable[..., Any],
        description: RouteDescription,
        *,
        limit: Limit | None,
        max_body: int | None,
        inputs: Mapping[str, Callable[[], Any]],
        ignores_unknown: bool,
        reads_query: bool,
        location: Location | None,
        verifies_login: bool,
        admits: Sequence[str] = (),
        any_tenant: bool = False,
        admits_impersonation: bool = False,
        request_headers: Iterable[str] = (),
        has_own_preconditions: bool = True,
        creates: bool = False,
        compress: bool = False,
    ) -> None:
        access = description.access
        if verifies_login and access is not Access.USER:
            raise ValueError("only views for any logged-in user can verify the login themselves")
        self.description = description
        self.rule, self.also = description.rule, description.also
        self.scope = description.rule.scope
        self.sensitive, self.sensitive_if = description.sensitive, description.sensitive_if
        self.admits = tuple(admits)
        self.admits_impersonation = admits_impersonation
        self._tenant_id = ANY_TENANT if any_tenant else None
        self.owner = "the server"
        self.__name__ = view.__name__
        self.__doc__ = view.__doc__
        self.access = access
        self._view = view
        self.limit = limit
        self.max_body = max_body or (CALLER_BYTES if needs_caller(access) else PUBLIC_BYTES)
        self.inputs = inputs
        self.ignores_unknown = ignores_unknown
        self._refuses_query = not (reads_query or ignores_unknown)
        self._returns = description.returns
        self.has_revision = has_revision(description.returns)
        self._status = description.status
        self._location = location
        self._verifies_login = verifies_login
        self._has_own_preconditions = has_own_preconditions
        self.creates = creates
        self.compress = compress
        self.reader: Operation | None = None
        self._names: frozenset[str] = frozenset()
        self.request_headers = frozenset(request_headers)
        self.response_headers = frozenset(description.response_headers)

    @cached_property
    def _serialize(self) -> Convert | None:
        # On first use, because building all of them takes a thirtieth of a start.
        return serializer(self._returns) if self._returns else None

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
        if self.description.query is not None:
            inputs["query"] = self.description.query().load({})
        if self._verifies_login:
            inputs["caller"] = current_identity()
        return cast("JsonRepresentation", self._represented(_unpacked(self._view(**inputs))[0]))

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
            impersonation=self.admits_impersonation,
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
        if status == HTTPStatus.CREATED and "Location" not in headers:
            # Resources without a URL are identified by that of the request, as RFC 9110 has it.
            location = self._location.url(value, parameters) if self._location else own_url()
            headers = {**headers, "Location": location}
        represented = self._represented(value)
        if isinstance(represented, str):
            return json_response(represented, status, headers)
        return represented.response(status, headers)

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


def needs_caller(access: Access) -> bool:
    """Return whether a route is closed to clients without a token."""
    return access in (Access.USER, Access.ADMIN)


def _is_linked(method: str, access: Access, returns: type[Schema] | None) -> bool:
    """Return whether a route is a page or a file that people open by a link without a token.

    Mail trackers, messengers and cache busters append parameters to such links, so a route of this kind
    ignores unknown ones.
    """
    return method in ("GET", "HEAD") and returns is None and not needs_caller(access)


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

    They are described when the OpenAPI document is built, because few processes ever build it: ADR 0086.

    Args:
        parameters: the descriptions of path parameters by name, in addition to
            :data:`openapi_descriptions.PATH_PARAMETERS` and instead of those.
    """

    def __init__(
        self, *arguments: Any, parameters: Mapping[str, str] = MappingProxyType({}), **options: Any
    ) -> None:
        super().__init__(*arguments, **options)
        self._parameters = parameters
        self._routes: list[tuple[str, str | None, Any, Json]] = []

    def add_url_rule(
        self,
        rule: str,
        endpoint: str | None = None,
        view_func: Any = None,
        provide_automatic_options: bool | None = None,
        **options: Any,
    ) -> None:
        """Register a route, and remember it for its description."""
        self._routes.append((rule, endpoint, view_func, options))
        super().add_url_rule(rule, endpoint, view_func, provide_automatic_options, **options)

    def described(self) -> flask_smorest.Blueprint:
        """Return a blueprint of the same routes, with the descriptions of their operations."""
        blueprint = flask_smorest.Blueprint(
            self.name, self.import_name, url_prefix=self.url_prefix, description=self.description
        )
        for rule, endpoint, view, options in self._routes:
            is_described = isinstance(view, Operation)
            own = blueprint.doc(**view.description.operation())(view) if is_described else view
            parameters = path_parameters(f"{self.url_prefix or ''}{rule}", self._parameters)
            blueprint.add_url_rule(rule, endpoint, own, **{**options, "parameters": parameters})
        return blueprint

    def operation(
        self,
        method: str,
        path: str,
        *,
        access: Access,
        body: type[Schema] | None = None,
        select_body: Callable[[], type[Schema]] | None = None,
        query: type[Schema] | None = None,
        form: type[Schema] | None = None,
        returns: type[Schema] | None = None,
        status: int = 200,
        errors: ErrorKinds = (),
        limit: Limit | None = None,
        max_body: int | None = None,
        any_query: bool | None = None,
        compress: bool = False,
        location: Location | None = None,
        verifies_login: bool = False,
        rule: OperationRule | None = None,
        also: Mapping[OperationRule, str] = MappingProxyType({}),
        scope: str | None = None,
        admits: Sequence[str] = (),
        any_tenant: bool = False,
        impersonation: bool = False,
        sensitive: Sensitive | None = None,
        request_headers: HeaderNames = (),
        response_headers: HeaderNames = (),
        document: dict[str, Any] | None = None,
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
                address, or a function. By default, :data:`PUBLIC_LIMIT` for routes that change
                something and need no token, and none for all others.
            max_body: the maximum size of a body that is read as a whole; by default
                :data:`PUBLIC_BYTES` or :data:`CALLER_BYTES`.
            any_query: whether unknown query parameters are ignored instead of refused; by default, as
                :func:`_is_linked` decides.
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
                operation admits no access keys.
            admits: the names of the authenticators, such as ``basic``, that the operation admits.
            any_tenant: whether keys that are limited to a tenant are admitted although the path names
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
            ValueError: ``compress`` of an operation whose response may have a secret.
        """
        if limit is None and method not in SAFE_METHODS and not needs_caller(access):
            limit = PUBLIC_LIMIT
        any_query = _is_linked(method, access, returns) if any_query is None else any_query
        inputs = _parsers(body, select_body, query, form, any_query=any_query)
        row = rule or OperationRule("", None if scope is None else Scope(scope), sensitive)

        whole_path = f"{self.url_prefix or ''}{path}"
        if compress:
            require_codable(method, whole_path, returns)
        step_up, step_up_if = _step_up(row, also)
        read = described_headers(request_headers, REQUEST_HEADERS)
        sent = described_headers(response_headers, RESPONSE_HEADERS)
        if status == HTTPStatus.CREATED:
            sent["Location"] = RESPONSE_HEADERS["Location"]
        if has_revision(returns):
            sent["ETag"] = RESPONSE_HEADERS["ETag"]

        def decorate(view: ViewT) -> ViewT:
            description = RouteDescription(
                view_name=view.__name__,
                access=access,
                body=body,
                query=query,
                form=form,
                returns=returns,
                status=status,
                errors=errors,
                rule=row,
                also=also,
                sensitive=step_up,
                sensitive_if=step_up_if,
                request_headers=read,
                response_headers=sent,
                is_limited=limit is not None,
                is_of_tenant="<tenant_id>" in whole_path,
                additions=document or {},
            )
            if method == "GET" and has_revision(returns):
                description = description.with_preconditions(reads=True)
            is_creating = creates(method, status, has_caller=needs_caller(access))
            if is_creating:
                description = description.with_idempotency()
            headers = {*description.request_headers, *_documented_headers(document or {})}
            operation: Any = Operation(
                view,
                description,
                limit=limit,
                max_body=max_body,
                inputs=inputs,
                ignores_unknown=any_query,
                reads_query=query is not None,
                location=location,
                verifies_login=verifies_login,
                admits=admits,
                any_tenant=any_tenant,
                admits_impersonation=impersonation or (method in SAFE_METHODS and step_up is None),
                request_headers=headers,
                creates=is_creating,
                compress=compress,
                has_own_preconditions=method in SAFE_METHODS or "If-Match" in headers,
            )
            self.route(path, methods=[method])(operation)
            # The undecorated view, so that other code and tests can call it directly.
            return view

        return decorate


def _step_up(
    rule: OperationRule, also: Mapping[OperationRule, str]
) -> tuple[Sensitive | None, str | None]:
    """Return the effect that needs a recent second factor, and the requests that have it, if not all."""
    if rule.sensitive is not None:
        return rule.sensitive, None
    conditions = ((other.sensitive, condition) for other, condition in also.items() if other.sensitive)
    return next(conditions, (None, None))


def _documented_headers(document: Json) -> Iterator[str]:
    """Yield the request headers in additions to an OpenAPI operation."""
    for parameter in document.get("parameters", ()):
        if parameter.get("in") == "header":
            yield parameter["name"]


def _parsers(
    body: type[Schema] | None,
    select_body: Callable[[], type[Schema]] | None,
    query: type[Schema] | None,
    form: type[Schema] | None,
    *,
    any_query: bool,
) -> dict[str, Callable[[], Any]]:
    """Return the functions that parse the input of a route, by the names of the view's parameters."""
    parsers: dict[str, Callable[[], Any]] = {}
    if query is not None:
        parsers["query"] = partial(parse_query, query, EXCLUDE if any_query else RAISE)
    if select_body is not None:
        parsers["body"] = lambda: parse_body(select_body())
    elif body is not None:
        parsers["body"] = partial(parse_body, body)
    if form is not None:
        parsers["form"] = partial(parse_form, form)
    return parsers
