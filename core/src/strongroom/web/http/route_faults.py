"""Faults in the declarations of plugins' routes, found at the start instead of by the first request."""

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from inspect import iscoroutinefunction, signature
from typing import Any, Final

from marshmallow import Schema
from werkzeug.routing import Map

from strongroom.plugin_api.authentication import Sensitive
from strongroom.plugin_api.web import ApiError, ErrorKind, HeaderNames, Location, Route
from strongroom.web.http.header_descriptions import REQUEST_HEADERS, RESPONSE_HEADERS

_STATUSES: Final = range(200, 400)
_PARAMETER: Final = re.compile(r"<(?:[^<>]*:)?(\w+)>")


def route_fault(route: Route, limits: Collection[str]) -> str | None:
    """Return why a route cannot be served, with the remedy; ``None`` if it can.

    Args:
        limits: the keys of ``[limits]``.
    """
    return next(_faults(route, limits), None)


def _faults(route: Route, limits: Collection[str]) -> Iterator[str]:
    request, response = route.request, route.response
    for name, schema in (
        ("body", request.body),
        ("query", request.query),
        ("returns", response.returns),
    ):
        if schema is not None and not _is_subclass(schema, Schema):
            yield f"{name} is {schema!r}; use a class of marshmallow.Schema"
    yield from _caller_faults(route, limits)
    if response.status not in _STATUSES:
        yield f"status is {response.status!r}; use a number from 200 to 399"
    for error in response.errors:
        if not isinstance(error, ErrorKind) and not _is_subclass(error, ApiError):
            yield f"errors has {error!r}; use an ErrorKind or a member of HostErrors"
    yield from _header_faults("request_headers", request.request_headers, REQUEST_HEADERS)
    yield from _header_faults("response_headers", response.response_headers, RESPONSE_HEADERS)
    if response.location is not None and not isinstance(response.location, Location):
        yield f"location is {response.location!r}; use a Location of strongroom.plugin_api.web"
    yield from _view_faults(route)


def _caller_faults(route: Route, limits: Collection[str]) -> Iterator[str]:
    limit, sensitive = route.callers.limit, route.callers.sensitive
    if callable(limit):
        yield from async_faults(limit)
    elif limit is not None and limit not in limits:
        yield f"limit is {limit!r}; use a key of [limits], or a function"
    if sensitive is not None and not isinstance(sensitive, Sensitive):
        yield f"sensitive is {sensitive!r}; use a member of Sensitive"


def _header_faults(option: str, names: HeaderNames, known: Mapping[str, str]) -> Iterator[str]:
    if isinstance(names, str):
        yield f"{option} is {names!r}; use a tuple of names"
    elif not isinstance(names, Mapping) and (unknown := set(names) - known.keys()):
        yield f"{option} has {min(unknown)!r}, which the core does not describe; map it to a description"


def _view_faults(route: Route) -> Iterator[str]:
    yield from async_faults(route.view)
    names = _PARAMETER.findall(route.path)
    inputs = (("query", route.request.query), ("body", route.request.body))
    names += [name for name, schema in inputs if schema is not None]
    # Also of routes that change a representation with a revision, whose views have it.
    own = {"revision": None} if "revision" in signature(route.view).parameters else {}
    try:
        signature(route.view).bind(**dict.fromkeys(names), **own)
    except TypeError as error:
        expected = ", ".join(names) or "none"
        yield f"the view {_name(route.view)}: {error}; its parameters must be: {expected}"


def location_fault(location: Location, parameters: Collection[str], url_map: Map) -> str | None:
    """Return why a location names no route of an application, or cannot be built; ``None`` if it can.

    Args:
        parameters: the path parameters of the route that has the location.
    """
    try:
        rule = next(url_map.iter_rules(location.endpoint))
    except KeyError:
        return f"location names no route: {location.endpoint!r}; use BLUEPRINT.VIEW of a route"
    if unknown := location.fields.keys() - rule.arguments:
        return f"location has {min(unknown)!r}, which is no path parameter of {rule.rule}; remove it"
    if missing := rule.arguments - location.fields.keys() - set(parameters):
        return f"location lacks {min(missing)!r} of {rule.rule}; map it to a member of the result"
    return None


def async_faults(function: Callable[..., Any]) -> Iterator[str]:
    """Yield the fault of a function that would return a coroutine, which nothing awaits."""
    if iscoroutinefunction(function):
        yield f"{_name(function)} is a coroutine function; use def instead of async def"


def _is_subclass(item: Any, kind: type[Any]) -> bool:
    return isinstance(item, type) and issubclass(item, kind)


def _name(function: Callable[..., Any]) -> str:
    return getattr(function, "__name__", repr(function))
