"""The type of a WSGI application, which several middlewares wrap."""

from collections.abc import Callable, Iterable

WsgiApp = Callable[..., Iterable[bytes]]
