"""What the OpenAPI document states about a route, from the route's declaration."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from http import HTTPStatus
from itertools import groupby
from typing import Any, Final

from marshmallow import Schema

from strongroom.foundation.errors import (
    FileLocked,
    IdempotencyMismatch,
    IdempotencyRunning,
    IdempotencyUnknown,
    InsufficientScope,
    PreconditionFailed,
    StepUpRequired,
    StrongroomError,
    TokenInvalid,
    TokenRequired,
    TooManyRequests,
    Unavailable,
    ValidationFailed,
)
from strongroom.plugin_api.web import ErrorKind, HeaderNames
from strongroom.web.http.access import Access
from strongroom.web.http.content_coding import require_codable
from strongroom.web.http.errors import ErrorSchema
from strongroom.web.http.header_descriptions import REQUEST_HEADERS, RESPONSE_HEADERS
from strongroom.web.http.idempotency import creates
from strongroom.web.http.representations import has_revision
from strongroom.web.http.route_parts import OperationRoute, needs_caller

ErrorKinds = Sequence[type[StrongroomError] | ErrorKind]
Json = dict[str, Any]

HEADERS_KEY: Final = "x-strongroom-headers"
"""The temporary key of an operation's headers, which ``openapi`` replaces by its own form."""

SENSITIVE_KEY: Final = "x-strongroom-sensitive"
"""The key of what an operation changes, if its callers must have proven their second factor lately."""

SENSITIVE_IF_KEY: Final = "x-strongroom-sensitive-if"
"""The key of the requests of such an operation that need the proof, if not all do."""

SCOPE_KEY: Final = "x-access-key-scope"
"""The key of the scope that an access key needs for an operation."""

SCOPE_IF_KEY: Final = "x-access-key-scope-if"
"""The key of the further scopes that some requests need, each with these requests."""

_NOT_MODIFIED: Final = {"304": {"description": "The client's copy is current"}}
_TOKEN: Final[list[dict[str, list[str]]]] = [{"bearer": []}]


@dataclass(frozen=True, slots=True)
class RouteDescription:
    """What the document states about a route.

    Args:
        errors: the errors that the view raises.
        additions: what the declaration adds to the operation as it is.
        is_idempotent: whether the header Idempotency-Key is accepted.
    """

    route: OperationRoute
    errors: ErrorKinds
    request_headers: Mapping[str, str]
    response_headers: Mapping[str, str]
    additions: Mapping[str, Any]
    is_idempotent: bool = False

    @property
    def returns(self) -> type[Schema] | None:
        """The schema of the response."""
        return self.route.response.returns

    @property
    def status(self) -> int:
        """The status of a successful response."""
        return self.route.response.status

    @property
    def added_headers(self) -> list[str]:
        """The request headers among the additions."""
        parameters = self.additions.get("parameters", ())
        return [item["name"] for item in parameters if item.get("in") == "header"]

    def with_preconditions(self, *, reads: bool = False) -> "RouteDescription":
        """Return the description with If-Match, If-None-Match and what they cause.

        Args:
            reads: whether the operation reads, so that it may answer 304.
        """
        headers = {name: REQUEST_HEADERS[name] for name in ("If-Match", "If-None-Match")}
        additions = self.additions
        if reads:
            responses = {**_NOT_MODIFIED, **additions.get("responses", {})}
            additions = {**additions, "responses": responses}
        return replace(
            self,
            errors=(*self.errors, PreconditionFailed),
            request_headers={**self.request_headers, **headers},
            additions=additions,
        )

    def with_idempotency(self) -> "RouteDescription":
        """Return the description with Idempotency-Key and what it causes."""
        errors = (IdempotencyRunning, IdempotencyUnknown, IdempotencyMismatch, ValidationFailed)
        name, replayed = "Idempotency-Key", "Idempotency-Replayed"
        return replace(
            self,
            errors=(*self.errors, *errors),
            request_headers={**self.request_headers, name: REQUEST_HEADERS[name]},
            response_headers={**self.response_headers, replayed: RESPONSE_HEADERS[replayed]},
            is_idempotent=True,
        )

    def operation(self) -> Json:
        """Return the operation of the OpenAPI document, with schemas as classes."""
        described, additions = self._input(), self.additions
        return {
            HEADERS_KEY: {"request": self.request_headers, "response": self.response_headers},
            **self._rules(),
            "operationId": _camel_case(self.route.view.__name__),
            "security": _security(self.route.callers.access),
            **described,
            **additions,
            "parameters": [*described.get("parameters", ()), *additions.get("parameters", ())],
            "responses": {
                **_described_success(self.status, self.returns),
                **self._refusals(),
                **additions.get("responses", {}),
            },
        }

    def _rules(self) -> Json:
        """Return the extensions of the operation that state its rules."""
        scopes: dict[str, str] = {}
        callers = self.route.callers
        scope, (sensitive, sensitive_if) = callers.row.scope, callers.step_up
        for other, when in callers.also.items():
            if scope and other.scope not in (None, scope):
                earlier = scopes.get(str(other.scope))
                scopes[str(other.scope)] = f"{earlier}; {when}" if earlier else when
        described = {
            SENSITIVE_KEY: sensitive and str(sensitive),
            SENSITIVE_IF_KEY: sensitive_if,
            SCOPE_KEY: scope and str(scope),
            SCOPE_IF_KEY: scopes,
        }
        return {key: value for key, value in described.items() if value}

    def _input(self) -> Json:
        """Return the parameters and the request body."""
        described: Json = {}
        request = self.route.request
        if request.query is not None:
            described["parameters"] = [{"in": "query", "schema": request.query}]
        content = {"application/json": request.body, "application/x-www-form-urlencoded": request.form}
        for media_type, schema in content.items():
            if schema is not None:
                described["requestBody"] = {
                    "required": bool(schema().validate({})),
                    "content": {media_type: {"schema": schema}},
                }
        return described

    def _refusals(self) -> Json:
        """Return the error responses by status."""
        ordered = sorted(self._error_kinds(), key=lambda kind: (kind.status, kind.code))
        return {
            str(status): {
                "description": "; ".join(f"`{kind.code}`: {kind.message}" for kind in group),
                "content": {"application/json": {"schema": ErrorSchema}},
            }
            for status, group in groupby(ordered, key=lambda kind: kind.status)
        }

    def _error_kinds(self) -> set[type[StrongroomError] | ErrorKind]:
        """Return the errors of the view, and those that its declaration implies."""
        kinds = set(self.errors)
        callers, request = self.route.callers, self.route.request
        if self.route.limit is not None:
            # A limit fails closed: 503 while the backend of the counters is unavailable.
            kinds |= {TooManyRequests, Unavailable}
        if callers.row.scope:
            kinds.add(InsufficientScope)
        # A tenant may demand a stronger or newer login.
        if callers.step_up[0] is not None or "<tenant_id>" in self.route.path:
            kinds.add(StepUpRequired)
        if request.body or request.query or request.form:
            kinds.add(ValidationFailed)
        if needs_caller(callers.access):
            kinds |= {TokenRequired, TokenInvalid}
        return kinds


def describe_route(route: OperationRoute) -> RouteDescription:
    """Return the description of a route.

    Raises:
        ValueError: the route compresses a response that may have a secret.
    """
    response = route.response
    if response.compress:
        require_codable(route.method, route.path, response.returns)
    sent = described_headers(response.response_headers, RESPONSE_HEADERS)
    if response.status == HTTPStatus.CREATED:
        sent["Location"] = RESPONSE_HEADERS["Location"]
    if has_revision(response.returns):
        sent["ETag"] = RESPONSE_HEADERS["ETag"]
    read = described_headers(route.request.request_headers, REQUEST_HEADERS)
    if FileLocked in response.errors:
        read["Lock-Token"] = REQUEST_HEADERS["Lock-Token"]
    description = RouteDescription(route, response.errors, read, sent, response.document)
    if route.method == "GET" and has_revision(response.returns):
        description = description.with_preconditions(reads=True)
    if creates(route.method, response.status, has_caller=needs_caller(route.callers.access)):
        description = description.with_idempotency()
    return description


def described_headers(names: HeaderNames, descriptions: Mapping[str, str]) -> dict[str, str]:
    """Return the descriptions of headers by name."""
    return dict(names) if isinstance(names, Mapping) else {name: descriptions[name] for name in names}


def _security(access: Access) -> list[dict[str, list[str]]]:
    """Return the security requirements; each of them accepts a request."""
    if access is Access.PUBLIC:
        return []
    return [*_TOKEN, *([{}] if access is Access.OPTIONAL else [])]


def _described_success(status: int, returns: type[Schema] | None) -> Json:
    content = {"content": {"application/json": {"schema": returns}}} if returns else {}
    return {str(status): {"description": HTTPStatus(status).phrase, **content}}


def _camel_case(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(word.capitalize() for word in others)
