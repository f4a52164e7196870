"""What the OpenAPI document states about a route, from the route's declaration."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from http import HTTPStatus
from itertools import groupby
from typing import Any, Final

from marshmallow import Schema

from strongroom.foundation.errors import (
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
from strongroom.foundation.operations import OperationRule
from strongroom.plugin_api.authentication import Sensitive
from strongroom.plugin_api.web import ErrorKind
from strongroom.web.http.access import Access
from strongroom.web.http.errors import ErrorSchema
from strongroom.web.http.headers import REQUEST_HEADERS, RESPONSE_HEADERS

ErrorKinds = Sequence[type[StrongroomError] | ErrorKind]
HeaderNames = Sequence[str] | Mapping[str, str]
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
    """The declaration of a route, as far as the document has it.

    Args:
        view_name: its camel case is the ``operationId``.
        errors: the errors that the view raises.
        sensitive: what the route changes, if callers must have proven their second factor lately.
        sensitive_if: the requests that need the proof, if not all do.
        is_limited: whether requests are counted against a rate limit.
        is_of_tenant: whether the path names a tenant, which may demand a stronger or newer login.
        additions: what the declaration adds to the operation as it is.
    """

    view_name: str
    access: Access
    body: type[Schema] | None
    query: type[Schema] | None
    form: type[Schema] | None
    returns: type[Schema] | None
    status: int
    errors: ErrorKinds
    rule: OperationRule
    also: Mapping[OperationRule, str]
    sensitive: Sensitive | None
    sensitive_if: str | None
    request_headers: Mapping[str, str]
    response_headers: Mapping[str, str]
    is_limited: bool
    is_of_tenant: bool
    additions: Json

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
        )

    def operation(self) -> Json:
        """Return the operation of the OpenAPI document, with schemas as classes."""
        described, additions = self._input(), self.additions
        return {
            HEADERS_KEY: {"request": self.request_headers, "response": self.response_headers},
            **self._rules(),
            "operationId": _camel_case(self.view_name),
            "security": _security(self.access),
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
        for other, when in self.also.items():
            if self.rule.scope and other.scope not in (None, self.rule.scope):
                earlier = scopes.get(str(other.scope))
                scopes[str(other.scope)] = f"{earlier}; {when}" if earlier else when
        described = {
            SENSITIVE_KEY: self.sensitive and str(self.sensitive),
            SENSITIVE_IF_KEY: self.sensitive_if,
            SCOPE_KEY: self.rule.scope and str(self.rule.scope),
            SCOPE_IF_KEY: scopes,
        }
        return {key: value for key, value in described.items() if value}

    def _input(self) -> Json:
        """Return the parameters and the request body."""
        described: Json = {}
        if self.query is not None:
            described["parameters"] = [{"in": "query", "schema": self.query}]
        content = {"application/json": self.body, "application/x-www-form-urlencoded": self.form}
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
        if self.is_limited:
            # A limit fails closed: 503 while the backend of the counters is unavailable.
            kinds |= {TooManyRequests, Unavailable}
        if self.rule.scope:
            kinds.add(InsufficientScope)
        if self.sensitive is not None or self.is_of_tenant:
            kinds.add(StepUpRequired)
        if self.body or self.query or self.form:
            kinds.add(ValidationFailed)
        if self.access in (Access.USER, Access.ADMIN):
            kinds |= {TokenRequired, TokenInvalid}
        return kinds


def described_headers(names: HeaderNames, descriptions: Mapping[str, str]) -> dict[str, str]:
    """Return the descriptions of headers by name."""
    return dict(names) if isinstance(names, Mapping) else {name: descriptions[name] for name in names}


def _security(access: Access) -> list[dict[str, list[str]]]:
    """Return the security requirements; each of them admits a request."""
    if access is Access.PUBLIC:
        return []
    return [*_TOKEN, *([{}] if access is Access.OPTIONAL else [])]


def _described_success(status: int, returns: type[Schema] | None) -> Json:
    content = {"content": {"application/json": {"schema": returns}}} if returns else {}
    return {str(status): {"description": HTTPStatus(status).phrase, **content}}


def _camel_case(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(word.capitalize() for word in others)
