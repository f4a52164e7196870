"""The Flask application: Flask dispatches every route, with a faster URL map and final responses.

Plugins' blueprints and request hooks apply to every route, because every request passes through Flask's
own context, hooks and error handlers. Three steps are replaced, because their cost exceeds that of a
short query: matching the URL (:class:`RouteTable`), the response (:class:`~strongroom.web.response`),
and parsing and serialization (:class:`~strongroom.web.routing.Operation`).
"""

from collections.abc import Callable, Iterable
from functools import cache
from typing import Any, Final
from urllib.parse import urlsplit, urlunsplit

import flask
from flask import Flask, request
from flask.globals import request_ctx
from werkzeug.exceptions import NotFound
from werkzeug.routing import MapAdapter, RequestRedirect, Rule

from strongroom import errors
from strongroom.web.errors import error_response, register_error_handlers
from strongroom.web.middleware import NO_ROUTE, note_route
from strongroom.web.request import MAX_JSON_BYTES, PublicUrl, request_id
from strongroom.web.response import JsonProvider
from strongroom.web.services import get_service

NO_STORE: Final = "no-store"
"""The default Cache-Control of responses to requests with a token."""

_TOKEN_HEADERS: Final = ("HTTP_AUTHORIZATION", "HTTP_X_ACCESS_TOKEN")


class LazyRule(Rule):
    """A rule that compiles its two functions for ``url_for`` when they are first used.

    Few are ever used, and compiling all of them takes longer than the rest of :func:`create_app`.
    """

    def _compile_builder(self, append_unknown: bool = True) -> Callable[..., tuple[str, str]]:
        compiled = cache(super()._compile_builder)

        def build(rule: Rule, /, **values: Any) -> tuple[str, str]:
            return compiled(append_unknown)(rule, **values)

        return build


class Application(Flask):
    """A Flask application whose responses are those of the API, whichever code creates them."""

    json_provider_class = JsonProvider
    url_rule_class = LazyRule

    def __init__(self, name: str) -> None:
        super().__init__(name, static_folder=None)
        # A path with an empty segment is a 404; by default, Werkzeug redirects to the path without it.
        self.url_map.merge_slashes = False
        self.config["MAX_CONTENT_LENGTH"] = MAX_JSON_BYTES
        self._routes: RouteTable | None = None
        register_error_handlers(self)

    def create_url_adapter(self, request: flask.Request | None) -> MapAdapter | None:
        """Match the URL of a request; return Werkzeug's adapter only if that could not be done.

        Raises:
            NotFound: no route can have such a path.
        """
        if request is None:
            return super().create_url_adapter(None)
        path = request.environ.get("PATH_INFO", "")
        # PostgreSQL rejects NUL. Werkzeug ignores repeated leading slashes.
        if "\0" in path or path.startswith("//"):
            raise NotFound
        if self._routes is None:
            # Flask accepts no routes after its first request, so the table is complete.
            self._routes = RouteTable(self.url_map.iter_rules())
        found = self._routes.match(request.method, request.path)
        if found is None:
            return super().create_url_adapter(request)
        request.url_rule, request.view_args = found
        return None

    def url_for(self, endpoint: str, **values: Any) -> str:
        """Do the same as Flask, also in a request that :meth:`create_url_adapter` has matched."""
        context = request_ctx._get_current_object()  # type: ignore[attr-defined]  # noqa: SLF001
        if context.url_adapter is None:
            context.url_adapter = super().create_url_adapter(context.request)
        return super().url_for(endpoint, **values)

    def process_response(self, response: flask.Response) -> flask.Response:
        """Run the hooks of plugins, then add the headers that every response has."""
        if isinstance(request.routing_exception, RequestRedirect):
            response = _redirect(request.routing_exception)
        response = super().process_response(response)
        rule, environ, headers = request.url_rule, request.environ, response.headers
        note_route(environ, rule.rule if rule else NO_ROUTE, request_id())
        headers["X-Request-Id"] = request_id()
        headers["X-Content-Type-Options"] = "nosniff"
        if "Cache-Control" not in headers and (
            environ["REQUEST_METHOD"] != "GET" or any(name in environ for name in _TOKEN_HEADERS)
        ):
            headers["Cache-Control"] = NO_STORE
        return response


def _redirect(redirect: RequestRedirect) -> flask.Response:
    # Werkzeug builds the URL from the Host header, which the client controls, so only its path is used.
    target = urlsplit(redirect.new_url)
    response = error_response(errors.MovedPermanently())
    response.headers["Location"] = get_service(PublicUrl).root + urlunsplit(("", "", *target[2:]))
    return response


class _Node:
    """A position in a path.

    ``is_exact`` is false where a rule begins that only Werkzeug can match.
    """

    __slots__ = ("is_exact", "parameter", "rules", "segments")

    def __init__(self) -> None:
        self.segments: dict[str, _Node] = {}
        self.parameter: _Node | None = None
        self.rules: dict[str, tuple[Rule, tuple[str, ...]]] = {}
        self.is_exact = True


class RouteTable:
    """Matches paths of fixed segments and text parameters, such as ``/users/<user_id>``.

    Such a path is matched in a fraction of the time that Werkzeug's map takes. Fixed segments take
    precedence over parameters, as in Werkzeug. All else is left to Werkzeug: other converters, trailing
    slashes, automatic responses to OPTIONS, and the errors 404 and 405.

    Args:
        rules: all rules of the application.
    """

    def __init__(self, rules: Iterable[Rule]) -> None:
        self._root = _Node()
        for rule in rules:
            self._add(rule)

    def match(self, method: str, path: str) -> tuple[Rule, dict[str, str]] | None:
        """Return the rule of a request with its path parameters, or ``None`` if Werkzeug must match."""
        try:
            found = _find(self._root, method, path.split("/"), 1, ())
        except _NotExact:
            return None
        if found is None:
            return None
        rule, names, values = found
        return rule, dict(zip(names, values, strict=True))

    def _add(self, rule: Rule) -> None:
        node, names = self._root, []
        for segment in rule.rule.split("/")[1:]:
            name = segment[1:-1]
            if segment == f"<{name}>" and name.isidentifier():
                names.append(name)
                if node.parameter is None:
                    node.parameter = _Node()
                node = node.parameter
            elif not segment or "<" in segment:
                node.is_exact = False
                return
            else:
                node = node.segments.setdefault(segment, _Node())
        if rule.defaults or rule.redirect_to or rule.build_only:
            node.is_exact = False
        for method in rule.methods or ():
            # Flask sets this attribute, and answers OPTIONS itself.
            if method != "OPTIONS" or not getattr(rule, "provide_automatic_options", False):
                node.rules.setdefault(method, (rule, tuple(names)))


class _NotExact(Exception):
    """Only Werkzeug can match the path."""


def _find(
    node: _Node, method: str, segments: list[str], index: int, values: tuple[str, ...]
) -> tuple[Rule, tuple[str, ...], tuple[str, ...]] | None:
    """Return the rule, its parameters' names and their values for the segments from ``index`` on."""
    if not node.is_exact:
        raise _NotExact
    if index == len(segments):
        found = node.rules.get(method)
        return found and (*found, values)
    segment = segments[index]
    if (child := node.segments.get(segment)) is not None:
        match = _find(child, method, segments, index + 1, values)
        if match is not None:
            return match
    if node.parameter is not None and segment:
        return _find(node.parameter, method, segments, index + 1, (*values, segment))
    return None
