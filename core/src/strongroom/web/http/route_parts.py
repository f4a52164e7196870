"""The parts of a core route: the parts of a plugin's route, and parts that only the core declares."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from functools import partial
from typing import Any, Final, TypeVar

from marshmallow import EXCLUDE, RAISE, Schema

from strongroom.foundation.operations import OperationRule
from strongroom.plugin_api.authentication import Scope, Sensitive
from strongroom.plugin_api.web import (
    Access,
    Limit,
    Route,
    RouteCallers,
    RouteOptions,
    RouteRequest,
    RouteResponse,
)
from strongroom.web.http.access import SAFE_METHODS
from strongroom.web.http.input_bounds import CALLER_BYTES, PUBLIC_BYTES
from strongroom.web.http.parsing import parse_body, parse_form, parse_query

PartT = TypeVar("PartT")

PUBLIC_LIMIT: Final = "public_per_address"
"""The key in ``[limits]`` for changes by clients without a token, where the route names no other."""


class OperationOptions(RouteOptions, total=False):
    """The keywords of :meth:`routing.Blueprint.operation`, which describes them."""

    rule: OperationRule | None
    also: Mapping[OperationRule, str]
    any_tenant: bool
    impersonation: bool
    verifies_login: bool
    select_body: Callable[[], type[Schema]] | None
    form: type[Schema] | None
    max_body: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationCallers(RouteCallers):
    """Who may call an operation; see :meth:`routing.Blueprint.operation`."""

    rule: OperationRule | None = None
    also: Mapping[OperationRule, str] = field(default_factory=dict)
    any_tenant: bool = False
    impersonation: bool = False
    verifies_login: bool = False

    @property
    def row(self) -> OperationRule:
        """The row of the operation in a table of operations, or what takes its place."""
        scope = None if self.scope is None else Scope(self.scope)
        return self.rule or OperationRule("", scope, self.sensitive)

    @property
    def step_up(self) -> tuple[Sensitive | None, str | None]:
        """The effect that needs a recent second factor, and the requests that have it, if not all."""
        if self.row.sensitive is not None:
            return self.row.sensitive, None
        rules = ((rule.sensitive, condition) for rule, condition in self.also.items() if rule.sensitive)
        return next(rules, (None, None))


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationRequest(RouteRequest):
    """What an operation takes; see :meth:`routing.Blueprint.operation`."""

    select_body: Callable[[], type[Schema]] | None = None
    form: type[Schema] | None = None
    max_body: int | None = None

    def parsers(self, *, ignores_unknown: bool) -> dict[str, Callable[[], Any]]:
        """Return the functions that parse the input, by the names of the view's parameters."""
        parsers: dict[str, Callable[[], Any]] = {}
        if self.query is not None:
            parsers["query"] = partial(parse_query, self.query, EXCLUDE if ignores_unknown else RAISE)
        select_body = self.select_body
        if select_body is not None:
            parsers["body"] = lambda: parse_body(select_body())
        elif self.body is not None:
            parsers["body"] = partial(parse_body, self.body)
        if self.form is not None:
            parsers["form"] = partial(parse_form, self.form)
        return parsers


OPERATION_PARTS = (OperationCallers, OperationRequest, RouteResponse)


@dataclass(frozen=True, slots=True)
class OperationRoute:
    """A route with the parts of the core, and its path from the root of the server."""

    method: str
    path: str
    view: Callable[..., Any]
    callers: OperationCallers
    request: OperationRequest
    response: RouteResponse

    @property
    def is_safe(self) -> bool:
        """Whether the method changes nothing."""
        return self.method in SAFE_METHODS

    @property
    def limit(self) -> Limit | None:
        """The rate limit."""
        is_public = not needs_caller(self.callers.access)
        default = PUBLIC_LIMIT if is_public and not self.is_safe else None
        return default if self.callers.limit is None else self.callers.limit

    @property
    def max_body(self) -> int:
        """The maximum size of a body that is read as a whole, in bytes."""
        default = CALLER_BYTES if needs_caller(self.callers.access) else PUBLIC_BYTES
        return self.request.max_body or default

    @property
    def ignores_unknown(self) -> bool:
        """Whether unknown query parameters are ignored.

        A page or a file that people open by a link without a token ignores them unless it states
        otherwise: mail trackers, messengers and cache busters append parameters to such links.
        """
        if self.request.any_query is not None:
            return self.request.any_query
        has_link = self.method in ("GET", "HEAD") and self.response.returns is None
        return has_link and not needs_caller(self.callers.access)


def operation_route(route: Route, prefix: str = "") -> OperationRoute:
    """Return a route of a plugin or of the core with the parts of the core."""
    return OperationRoute(
        route.method,
        f"{prefix}{route.path}",
        route.view,
        _widened(OperationCallers, route.callers),
        _widened(OperationRequest, route.request),
        route.response,
    )


def _widened(kind: type[PartT], part: Any) -> PartT:
    if isinstance(part, kind):
        return part
    return kind(**{item.name: getattr(part, item.name) for item in fields(part)})


def needs_caller(access: Access) -> bool:
    """Return whether a route is closed to clients without a token."""
    return access in (Access.USER, Access.ADMIN)
