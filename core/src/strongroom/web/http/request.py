"""The current request: the services of its application, its id, client, origin and headers.

The composition root registers the services; views get them by their type.
"""

import re
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache, cached_property
from random import getrandbits
from typing import Any, Final, TypeVar

from flask import Flask, Request, has_request_context, request
from flask.ctx import RequestContext, _AppCtxGlobals
from flask.globals import _cv_app, _cv_request
from flask.sessions import NullSession
from werkzeug.routing import Rule

from strongroom.foundation.caller import GrantLimits, Origin
from strongroom.foundation.errors import ValidationFailed
from strongroom.plugin_api.login import Client
from strongroom.web.http.trusted_proxies import TrustedProxies

T = TypeVar("T")

_KEY = "strongroom"
CALLER: Final = "strongroom.caller"
"""The key in the WSGI environ of the caller, once authenticated."""


def register_service(app: Flask, kind: type[Any], service: object) -> None:
    """Register the service of a type."""
    app.extensions.setdefault(_KEY, {})[kind] = service


def get_service(kind: type[T]) -> T:
    """Return the current application's service of a type."""
    # The variable behind ``current_app``, whose proxy takes longer than the look-up.
    services = _cv_app.get().app.extensions.get(_KEY)
    if services is None:
        services = _current_context().app.extensions[_KEY]
    service: T = services[kind]
    return service


def has_service(kind: type[Any]) -> bool:
    """Return whether the current application has a service of a type."""
    return kind in _current_context().app.extensions[_KEY]


_NO_SESSION: Final = NullSession()
_ID_KEY: Final = "strongroom.request-id"
_MOUNT_KEY: Final = "strongroom.mount"
_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")


@dataclass(frozen=True, slots=True)
class PublicUrl:
    """The public scheme, host and port of the server, as configured."""

    root: str


class OperationContext(RequestContext):
    """The context of a request for an operation, matched without creating Flask's request object.

    Views that need no more than headers never create it. It is the application's context, too, because
    creating two objects takes longer; Flask 3.2 has a single one as well.
    """

    url_adapter = None
    flashes = None
    _session = _NO_SESSION

    def __init__(
        self, app: Flask, environ: dict[str, Any], rule: Rule, parameters: dict[str, str]
    ) -> None:
        # The base class's constructor would create the request and a URL adapter.
        self.app = app
        self.environ = environ
        self.rule = rule
        self.parameters = parameters
        self._after_request_functions = []
        self._cv_tokens = []

    @cached_property
    def g(self) -> _AppCtxGlobals:
        """Flask's namespace of the request, created on first use."""
        return self.app.app_ctx_globals_class()

    @cached_property
    def request(self) -> Request:  # type: ignore[override]  # an attribute of the base class
        """Flask's request object, created on first use."""
        # Not populated: a reference from the environ would be a cycle, and each one costs a collection.
        request = self.app.request_class(self.environ, populate_request=False)
        request.url_rule, request.view_args = self.rule, self.parameters
        return request

    def close(self) -> None:
        """Close the files of a form that was parsed."""
        if (request := self.__dict__.get("request")) is not None:
            request.close()

    @cached_property
    def client(self) -> Client:
        """The client of the request."""
        return _get_client(self.environ)


def mounted_environ() -> dict[str, Any]:
    """Return a copy of the environ of the current request, for an application mounted in the server.

    While an application of Flask's serves the request, the variables of Flask refer to it. The functions
    of this module then find the server's own context in the environ.
    """
    return {**current_environ(), _MOUNT_KEY: _current_context()}


def set_mounted_environ(environ: dict[str, Any] | None) -> None:
    """Have :func:`page_request` find the request of a mounted application without a context of Flask's.

    Args:
        environ: the application's; ``None`` once it has answered, because the environ refers to
            the context of the request, and each cycle costs a collection.
    """
    server: Any = _current_context()
    server.mounted_environ = environ


def page_request() -> Request:
    """Return the request whose form the current page or route reads, so that both read the same body.

    In an application without Flask, it is the last request of Werkzeug with the application's environ.
    """
    context = _cv_request.get()
    environ: dict[str, Any] | None = getattr(context, "mounted_environ", None)
    if environ is None:
        return context.request
    return environ.get("werkzeug.request") or Request(environ)


def _current_context() -> RequestContext:
    """Return the context of the current request to the server, also within a mounted application."""
    context = _cv_request.get()
    return context if isinstance(context, OperationContext) else _context_of_server(context)


def _context_of_server(context: RequestContext) -> RequestContext:
    """Return the context of the server's request in which a mounted application has made its own."""
    mount: OperationContext | None = context.request.environ.get(_MOUNT_KEY)
    return context if mount is None else mount


def current_environ() -> dict[str, Any]:
    """Return the WSGI environ of the current request."""
    context = _cv_request.get()
    if isinstance(context, OperationContext):
        # Hot: each request calls this several times, see ADR 0076.
        return context.environ
    return _context_of_server(context).request.environ


def request_path() -> str:
    """Return the decoded path of the current request."""
    path: str = current_environ()["PATH_INFO"]
    return path.encode("latin-1").decode(errors="replace")


def method() -> str:
    """Return the HTTP method of the request."""
    name: str = current_environ()["REQUEST_METHOD"]
    return name


def client() -> Client:
    """Return the client of the request."""
    context = _cv_request.get()
    if isinstance(context, OperationContext):
        return context.client
    return _get_client(current_environ())


def client_address() -> str:
    """Return the address of the client. No other code may read it from the request."""
    # Hot: most requests need no more of their client, see ADR 0076.
    return _get_address(current_environ())


def _get_address(environ: dict[str, Any]) -> str:
    return get_service(TrustedProxies).client_address(
        environ.get("REMOTE_ADDR") or "", environ.get("HTTP_X_FORWARDED_FOR") or ""
    )


def _get_client(environ: dict[str, Any]) -> Client:
    return Client(
        address=_get_address(environ),
        # Truncated, because both are stored in rows.
        user_agent=environ.get("HTTP_USER_AGENT", "")[:512],
        device_id=environ.get("HTTP_X_DEVICE_ID", "")[:128] or None,
    )


def origin() -> Origin:
    """Return the origin of the request, for audit records."""
    sender, environ = client(), current_environ()
    caller = environ.get(CALLER)
    identity = caller and caller.identity
    impersonator_id = identity and identity.actor_id
    sent = (sender.address, sender.user_agent, find_request_id(environ), languages())
    key = caller and caller.key
    client_id = key.client_id if isinstance(key, GrantLimits) else None
    return Origin(*sent, impersonator_id=impersonator_id, client_id=client_id)


def request_origin() -> Origin:
    """Return the origin of the current request; an empty one outside of requests."""
    return origin() if has_request_context() else Origin()


_PRESENTED_LOCKS: Final[ContextVar[Collection[str]]] = ContextVar("presented-locks", default=())


def request_locks() -> Collection[str]:
    """Return the ids of the locks that are presented: in ``Lock-Token``, or by a plugin."""
    sent = header("Lock-Token") if has_request_context() else None
    in_header = re.findall(r"[^\s,<>]+", sent) if sent else ()
    return frozenset((*in_header, *_PRESENTED_LOCKS.get()))


@contextmanager
def presenting_locks(lock_ids: Collection[str]) -> Iterator[None]:
    """Present locks for the changes within a block, which is bound to the thread."""
    token = _PRESENTED_LOCKS.set(lock_ids)
    try:
        yield
    finally:
        _PRESENTED_LOCKS.reset(token)


def header(name: str) -> str | None:
    """Return a header of the request.

    Werkzeug's ``request.headers`` raises and catches an error internally for an absent header, which
    makes looking for five of them as expensive as the rest of a short request.
    """
    value: str | None = current_environ().get(_environ_key(name))
    return value


@cache
def _environ_key(name: str) -> str:
    return "HTTP_" + name.upper().replace("-", "_")


def request_id() -> str:
    """Return the id of the request: the one that the client sent if it is valid, otherwise a new one."""
    return find_request_id(current_environ())


def find_request_id(environ: dict[str, Any]) -> str:
    """Return the id of the request with an environ."""
    identifier: str | None = environ.get(_ID_KEY)
    if identifier is None:
        offered = environ.get("HTTP_X_REQUEST_ID")
        # Unique, not secret, so no system call is needed. Python reseeds after a fork.
        random = f"{getrandbits(128):032x}"
        identifier = offered if offered and _REQUEST_ID.fullmatch(offered) else random
        environ[_ID_KEY] = identifier
    return identifier


def current_request_id() -> str | None:
    """Return the id of the current request, if there is one."""
    return request_id() if has_request_context() else None


def languages() -> tuple[str, ...]:
    """Return the client's languages by descending preference (RFC 9110, section 12.5.4)."""
    return tuple(language for language, quality in request.accept_languages if quality > 0)


PAIR_PATTERN: Final = r"^\s*[^.]+\..+$"
"""The form of a header with two parts, as a pattern of JSON Schema."""


def header_pair(name: str) -> tuple[str, str] | None:
    """Return the two parts of a header ``{id}.{secret}``, or ``None`` if the header is absent.

    Raises:
        ValidationFailed: the header has a different form.
    """
    value = header(name)
    if value is None:
        return None
    identifier, _, secret = value.strip().partition(".")
    if not identifier or not secret:
        raise ValidationFailed.of_field(name, "invalid", "Must be like {id}.{answer}.")
    return identifier, secret
