"""The current request of a plugin's route: the plugin's host and services.

A view gets them as the core's views do, by their type::

    @routes.operation("GET", "/api/v1/riddles", access=Access.USER, query=PagingQuery,
                      returns=collection_schema(RiddleSchema))
    def list_riddles(query: dict[str, Any]) -> Any:
        return current_host().lists.collection(get_service(Riddles).list(query), query)
"""

from collections.abc import Callable
from contextvars import ContextVar
from functools import wraps
from typing import TYPE_CHECKING, Any, Final, TypeVar

if TYPE_CHECKING:
    from strongroom.plugin_api.host import HostAPI

T = TypeVar("T")

_HOST: Final[ContextVar["HostAPI"]] = ContextVar("strongroom-host")


def current_host() -> "HostAPI":
    """Return the host of the plugin whose view, limit or hook of requests is being called.

    Erasers and deactivations have it, too, also when a route of another plugin causes them. The body of
    a response is sent later: a generator gets the host before its first ``yield`` from the view that
    creates it.

    Raises:
        RuntimeError: nothing of a plugin's routes is being called.
    """
    host = _HOST.get(None)
    if host is None:
        raise RuntimeError(
            "current_host() outside of a request to a route of the plugin; "
            "hooks get the host as their argument, so pass it on"
        )
    return host


def get_service(kind: type[T]) -> T:
    """Return the service of a type, of the plugin whose view, limit or hook of requests is being called.

    It is :meth:`HostAPI.get_service` of :func:`current_host`.

    Raises:
        RuntimeError: nothing of a plugin's routes is being called.
    """
    return current_host().get_service(kind)


def bind_to_host(host: "HostAPI", function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that calls another one with a host as :func:`current_host`.

    For the server, which binds routes, and for tests of views.
    """

    @wraps(function)
    def call(*arguments: Any, **named: Any) -> Any:
        token = _HOST.set(host)
        try:
            return function(*arguments, **named)
        finally:
            _HOST.reset(token)

    return call
