"""The type of a WSGI application, for middlewares."""

from collections.abc import Callable, Iterable

WsgiApp = Callable[..., Iterable[bytes]]
