"""The Flask application: one dispatch for all routes, compiled where Flask's own is slow.

Plugins' blueprints, request hooks and error handlers apply to every route. Flask spends several times
the duration of a short query on steps that are the same for every request, so they are prepared once:

- URLs are matched by :class:`RouteTable`; all other URLs by Werkzeug's map.
- Hooks are called only for routes that have some; which, is known at the first request, because Flask
  accepts no registrations afterwards.
- Flask's own method serves routes with teardown functions or URL preprocessors, and all routes while a
  signal has receivers.
- Input, output and responses are prepared per :class:`~strongroom.web.http.routing.Operation`.
"""

import logging
from collections.abc import Callable, Iterable, Mapping
from contextvars import copy_context
from functools import partial
from typing import Any, Final
from urllib.parse import urlsplit, urlunsplit

import flask
from flask import Flask
from flask.ctx import RequestContext
from flask.globals import _cv_app, _cv_request, request_ctx
from flask.sessions import NullSession
from flask.signals import (
    appcontext_popped,
    appcontext_pushed,
    appcontext_tearing_down,
    request_finished,
    request_started,
    request_tearing_down,
)
from werkzeug.exceptions import MethodNotAllowed, NotFound
from werkzeug.exceptions import NotImplemented as MethodNotImplemented
from werkzeug.routing import MapAdapter, RequestRedirect, Rule

from strongroom.foundation import errors
from strongroom.foundation.cache import Cache
from strongroom.web.http.bounded_body import FormRequest
from strongroom.web.http.caching import DEFAULT_POLICY
from strongroom.web.http.content_coding import code_page, code_response
from strongroom.web.http.dispatch.route_table import Direct, Hook, Hooks, RouteTable
from strongroom.web.http.errors import error_response, register_error_handlers
from strongroom.web.http.input_bounds import LARGEST_BYTES
from strongroom.web.http.middleware import NO_ROUTE, note_route
from strongroom.web.http.mounts import ContextIterator, Mount
from strongroom.web.http.request import (
    OperationContext,
    PublicUrl,
    current_environ,
    find_request_id,
    get_service,
)
from strongroom.web.http.response import JsonProvider, Response
from strongroom.web.http.routing import Operation

logger = logging.getLogger(__name__)

Builder = Callable[..., tuple[str, str]]
"""A function of Werkzeug that returns the domain and the path of a URL."""
_URL_ROOT: Final = ("HTTP_HOST", "SERVER_NAME", "SERVER_PORT", "SCRIPT_NAME", "wsgi.url_scheme")
"""The variables that the beginning of a URL depends on."""

_MAX_HOSTS: Final = 64
_NOSNIFF: Final = ("X-Content-Type-Options", "nosniff")


class LazyRule(Rule):
    """A rule that compiles its two functions for ``url_for`` when they are first used.

    Few are ever used, and compiling all of them takes longer than the rest of :func:`create_app`.
    """

    def _compile_builder(self, append_unknown: bool = True) -> Builder:
        compile_builder = super()._compile_builder
        compiled: Builder | None = None

        # Without functools.cache, whose construction for all rules takes a tenth of create_app.
        def build(rule: Rule, /, **values: Any) -> tuple[str, str]:
            nonlocal compiled
            if compiled is None:
                compiled = compile_builder(append_unknown)
            return compiled(rule, **values)

        return build


_METHODS: Final = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")

_SERVER_OPTIONS: Final = Rule("/*", methods=["OPTIONS"])
_SERVER_OPTIONS.provide_automatic_options = True  # type: ignore[attr-defined]  # an attribute of Flask


def _is_of_server(request: flask.Request) -> bool:
    """Return whether a request is about the server in general (RFC 9110, section 9.3.7)."""
    return request.method == "OPTIONS" and request.environ.get("PATH_INFO") == "*"


class Application(Flask):
    """A Flask application with the API's responses, for errors and plugins as well."""

    json_provider_class = JsonProvider
    request_class = FormRequest
    url_rule_class = LazyRule

    def __init__(self, name: str) -> None:
        super().__init__(name, static_folder=None)
        # A path with an empty segment is a 404; by default, Werkzeug redirects to the path without it.
        self.url_map.merge_slashes = False
        self.config["MAX_CONTENT_LENGTH"] = LARGEST_BYTES
        self._routes: RouteTable | None = None
        self._builders: Cache[tuple[Any, ...], MapAdapter | None] = Cache(_MAX_HOSTS)
        self.mounts: list[Mount] = []
        register_error_handlers(self)

    def wsgi_app(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        """Serve a request (PEP 3333); operations directly, all other views as Flask does."""
        path = environ.get("PATH_INFO", "")
        if not path.isascii():
            path = path.encode("latin-1").decode(errors="replace")
        method = environ["REQUEST_METHOD"]
        if self.mounts and method.isupper() and (mount := self._find_mount(path)):
            return self._serve_mount(mount, environ, start_response)
        match = None if _is_invalid(path) else self._get_routes().find(method, path)
        if match is None or match[0].direct is None or _has_receivers():
            return super().wsgi_app(environ, start_response)
        route, values = match
        context = OperationContext(
            self, environ, route.rule, dict(zip(route.names, values, strict=True))
        )
        # Flask's push() would open a session and send signals; its pop() would call teardown functions.
        app_token = _cv_app.set(context)  # type: ignore[arg-type]  # see OperationContext
        token = _cv_request.set(context)
        try:
            return self._serve(context, match[0].direct)(environ, start_response)
        finally:
            _cv_request.reset(token)
            _cv_app.reset(app_token)
            context.close()

    def _find_mount(self, path: str) -> Mount | None:
        for mount in self.mounts:
            if path.startswith(mount.prefix) and mount.covers(path) and not _is_invalid(path):
                return mount
        return None

    def _serve_mount(
        self, mount: Mount, environ: dict[str, Any], start_response: Any
    ) -> Iterable[bytes]:
        """Serve a request by a mounted application, in a context that lasts until the body is sent."""
        context = copy_context()
        body = context.run(self._answer_of_mount, mount, environ, start_response)
        return body if isinstance(body, list) else ContextIterator(body, context)

    def _answer_of_mount(
        self, mount: Mount, environ: dict[str, Any], start_response: Any
    ) -> Iterable[bytes]:
        context = OperationContext(self, environ, mount.rule, {})
        # Never reset, because the caller discards the whole copy of the context.
        _cv_app.set(context)  # type: ignore[arg-type]  # see OperationContext
        _cv_request.set(context)
        direct = Direct(mount, *self._get_routes().app_hooks)
        return self._serve(context, direct)(environ, start_response)

    def _serve(self, context: OperationContext, direct: Direct) -> flask.Response:
        try:
            response: Any = self._replacement(direct.before) if direct.before else None
            if response is None:
                response = direct.view(**context.parameters)
            for hook in (*context._after_request_functions, *direct.after):  # noqa: SLF001  of after_this_request
                response = hook(response)
            return self._completed(response)
        except Exception as error:
            try:
                # Flask's own methods, so that error handlers of plugins apply and hooks run on their
                # responses.
                return self.finalize_request(self.handle_user_exception(error))
            except Exception as unhandled:
                return self.handle_exception(unhandled)

    def _replacement(self, before: Iterable[Hook]) -> Any:
        """Call hooks until one returns a response, which replaces the operation's."""
        for hook in before:
            if (result := hook()) is not None:
                # Flask's hooks may return everything that a view may, such as a text or a tuple.
                return self.make_response(result)
        return None

    def request_context(self, environ: dict[str, Any]) -> RequestContext:
        """Return the context of a request, without a session: tokens take its place."""
        # Not populated: a reference from the environ would be a cycle, and each one costs a collection.
        request = self.request_class(environ, populate_request=False)
        return RequestContext(self, environ, request, NullSession())

    def create_url_adapter(self, request: flask.Request | None) -> MapAdapter | None:
        """Match the URL of a request; return Werkzeug's adapter only if that could not be done.

        Raises:
            MethodNotImplemented: the method is not in upper case; methods are case-sensitive (RFC 9110,
                section 9.1), but Flask changes their case.
            NotFound: no route can have such a path.
            MethodNotAllowed: the route of this path has other methods.
        """
        if request is None:
            return None
        if not request.environ["REQUEST_METHOD"].isupper():
            raise MethodNotImplemented
        if _is_of_server(request):
            request.url_rule, request.view_args = _SERVER_OPTIONS, {}
            return None
        if _is_invalid(request.environ.get("PATH_INFO", "")):
            raise NotFound
        routes = self._get_routes()
        match = routes.match(request.method, request.path)
        if match is None:
            methods = routes.methods(request.path)
            if methods and request.method not in methods:
                raise MethodNotAllowed(methods)
            return super().create_url_adapter(request)
        request.url_rule, request.view_args = match
        return None

    def make_default_options_response(self) -> flask.Response:
        """Do the same as Flask, without the methods of other routes that match the path less exactly."""
        is_of_server = _is_of_server(flask.request)
        methods = _METHODS if is_of_server else self._get_routes().methods(flask.request.path)
        if not methods:
            return super().make_default_options_response()
        response = self.response_class()
        response.headers["Allow"] = ", ".join(methods)
        return response

    def url_for(self, endpoint: str, **values: Any) -> str:
        """Do the same as Flask, also in a request that :meth:`create_url_adapter` has matched."""
        context = request_ctx._get_current_object()  # type: ignore[attr-defined]  # noqa: SLF001
        if context.url_adapter is None:
            context.url_adapter = self._make_builder(context.request)
        return super().url_for(endpoint, **values)

    def _make_builder(self, request: flask.Request) -> MapAdapter | None:
        """Return an adapter to build URLs with; binding one takes as long as building ten."""
        # It builds the same URLs in all requests to one host and root.
        root = tuple(map(request.environ.get, _URL_ROOT))
        builder = self._builders.get(root)
        if builder is None:
            builder = super().create_url_adapter(request)
            self._builders.put(root, builder)
        return builder

    def process_response(self, response: flask.Response) -> flask.Response:
        """Run the hooks of plugins, then add the headers that every response has."""
        redirect = flask.request.routing_exception
        if isinstance(redirect, RequestRedirect):
            response = _redirect(redirect)
        return self._completed(super().process_response(response))

    def _completed(self, response: flask.Response) -> flask.Response:
        """Add the headers that every response has, and report the route for metrics and the log.

        Content is compressed last, because hooks read and change the plain one.
        """
        context, environ = _cv_request.get(), current_environ()
        identifier = find_request_id(environ)
        rule = context.rule if isinstance(context, OperationContext) else context.request.url_rule
        note_route(environ, rule.rule if rule else NO_ROUTE, identifier)
        headers = (("X-Request-Id", identifier), _NOSNIFF)
        if isinstance(response, Response):
            response.add_headers(headers, (DEFAULT_POLICY,))
            if response.may_be_coded:
                code_response(response, environ)
        else:
            response.headers.setdefault(*DEFAULT_POLICY)
            response.headers.update(headers)
        code_page(response, environ)
        return response

    def _get_routes(self) -> RouteTable:
        # Flask accepts no routes and no hooks after its first request, so the table stays complete.
        if self._routes is None:
            hooks = self._collect_hooks([None])
            self._routes = RouteTable(self.url_map.iter_rules(), self._direct_endpoints(), hooks)
        return self._routes

    def _direct_endpoints(self) -> dict[str, Direct]:
        """Return each operation that has no functions but its hooks."""
        endpoints: dict[str, Direct] = {}
        for endpoint, view in self.view_functions.items():
            of_endpoint = partial(_functions, _blueprints(endpoint))
            others = (
                *self.teardown_appcontext_funcs,
                *of_endpoint(self.teardown_request_funcs),
                *of_endpoint(self.url_value_preprocessors),
            )
            if isinstance(view, Operation) and not others:
                endpoints[endpoint] = Direct(view, *self._collect_hooks(_blueprints(endpoint)))
        slow = sum(isinstance(view, Operation) for view in self.view_functions.values()) - len(endpoints)
        if slow:
            logger.warning(
                "%d routes take Flask's slower dispatch: a plugin has registered teardown functions or "
                "URL preprocessors for them",
                slow,
            )
        return endpoints

    def _collect_hooks(self, names: Iterable[str | None]) -> Hooks:
        """Return the hooks of the application and of some blueprints, in the order of the calls."""
        before, after = (
            _functions(names, registered)
            for registered in (self.before_request_funcs, self.after_request_funcs)
        )
        return tuple(map(self.ensure_sync, before)), tuple(map(self.ensure_sync, reversed(after)))


def _has_receivers() -> bool:
    """Return whether a signal that Flask sends for each request has receivers."""
    return bool(
        appcontext_popped.receivers
        or appcontext_pushed.receivers
        or appcontext_tearing_down.receivers
        or request_finished.receivers
        or request_started.receivers
        or request_tearing_down.receivers
    )


def _is_invalid(path: str) -> bool:
    # PostgreSQL rejects NUL. Werkzeug ignores repeated leading slashes.
    return "\0" in path or path.startswith("//")


def _functions(names: Iterable[str | None], registered: Mapping[str | None, list[Any]]) -> list[Hook]:
    """Return the functions that are registered for some blueprints, in the same order."""
    return [function for name in names for function in registered.get(name, ())]


def _blueprints(endpoint: str) -> list[str | None]:
    """Return ``None`` for the application, then the blueprints of an endpoint from the outermost."""
    names = endpoint.split(".")[:-1]
    return [None, *(".".join(names[:count]) for count in range(1, len(names) + 1))]


def _redirect(redirect: RequestRedirect) -> flask.Response:
    # Werkzeug builds the URL from the Host header, which the client controls, so only its path is used.
    target = urlsplit(redirect.new_url)
    response = error_response(errors.MovedPermanently())
    response.headers["Location"] = get_service(PublicUrl).root + urlunsplit(("", "", *target[2:]))
    return response
