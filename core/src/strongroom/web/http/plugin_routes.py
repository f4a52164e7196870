"""Registers blueprints: which plugin each route and each hook of requests belongs to."""

import logging
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

import flask
from werkzeug.exceptions import HTTPException

from strongroom.foundation.errors import StrongroomError
from strongroom.foundation.plugins.hook_calls import SlowHooks, WrongResult, failure, one_line
from strongroom.foundation.plugins.plugin import Plugin, PluginError
from strongroom.plugin_api import web
from strongroom.plugin_api.host import HostAPI
from strongroom.plugin_api.web import ApiError, HostErrors
from strongroom.web.http.request import current_environ
from strongroom.web.http.route_faults import location_fault
from strongroom.web.http.routing import Blueprint, Operation
from strongroom.web.parts import Part

logger = logging.getLogger(__name__)

Hook = Callable[..., Any]

_PARAMETER: Final = re.compile("<[^>]*>")
_AUTOMATIC: Final = frozenset({"HEAD", "OPTIONS"})
_CORE: Final = "the server"
_LOGGED: Final = "strongroom.faulty_hook"


class RequestHook:
    """A hook of requests of a plugin, whose faults name the plugin.

    Args:
        kind: what the hook was registered by, such as ``after_app_request``.
        slow_hooks: measures the calls.
    """

    def __init__(self, plugin: Plugin, kind: str, function: Hook, slow_hooks: SlowHooks) -> None:
        self._plugin = plugin
        self._name = f"{kind} {getattr(function, '__name__', '')}".strip()
        self._is_after = kind.startswith("after")
        self._function = function
        self._slow_hooks = slow_hooks

    def __call__(self, *arguments: Any) -> Any:
        """Call the hook.

        Raises:
            WrongResult: a hook after the request returned no response.
        """
        try:
            timed = self._slow_hooks.timed
            result = timed(self._plugin, self._name, self._function, *arguments)
        except (ApiError, HTTPException):
            # These are responses, which a hook may raise.
            raise
        except Exception as error:
            self._log(failure(self._plugin, self._name, error))
            raise
        if self._is_after and not isinstance(result, flask.Response):
            message = f"{self._plugin}: {self._name} returned {result!r}; return the response"
            self._log(message)
            raise WrongResult(message)
        return result

    def _log(self, message: str) -> None:
        """Log a fault once per request: the hook also runs on the error response to its fault."""
        environ = current_environ()
        if environ.get(_LOGGED) is not self:
            environ[_LOGGED] = self
            logger.error("%s", message)


def _place_of_both(one: str, other: str) -> str:
    """Return where the endpoints of one plugin are, which have the same route."""
    (blueprint, _, view), (second, _, other_view) = one.rpartition("."), other.rpartition(".")
    if blueprint == second:
        return f"is twice in the blueprint {blueprint}, as {view} and {other_view}"
    return f"is in two blueprints, {one} and {other}"


class PluginRoutes:
    """The routes of an application.

    Args:
        app: the application, which has no routes yet.
        slow_hooks: measures the calls of hooks of requests.
        hosts: returns the host of a plugin by its name.
        host_errors: the errors of each group.
        limits: the keys of ``[limits]``.
        later: the names of blueprints of the core that are registered later.
    """

    def __init__(
        self,
        app: flask.Flask,
        slow_hooks: SlowHooks,
        base_path: str,
        hosts: Callable[[str], HostAPI],
        host_errors: Mapping[HostErrors, Sequence[type[StrongroomError]]],
        limits: Collection[str],
        *,
        later: Collection[str] = (),
    ) -> None:
        self._app = app
        self._hosts = hosts
        self._host_errors = host_errors
        self._limits = limits
        self._later = later
        self._slow_hooks = slow_hooks
        self._base_path = base_path
        self._owners: dict[str, Plugin] = {}

    def register(self, items: Iterable[tuple[Part, Any]]) -> list[Blueprint]:
        """Register the blueprints of the core and of plugins, and return them.

        Raises:
            PluginError: an item of a plugin is no blueprint, or cannot be registered.
        """
        return [self._add(part.plugin, item) for part, item in items]

    def require_locations(self) -> None:
        """Check that the locations of plugins' routes name routes and have their parameters.

        Raises:
            PluginError: a location of a plugin can never be built.
        """
        for rule in self._app.url_map.iter_rules():
            view, plugin = self._app.view_functions[rule.endpoint], self._owners.get(rule.endpoint)
            if plugin is None or not isinstance(view, Operation):
                continue
            location = view.route.response.location
            if location and (fault := location_fault(location, rule.arguments, self._app.url_map)):
                raise PluginError(f"{plugin}: {view.route.method} {rule.rule}: {fault}")

    def require_distinct(self) -> None:
        """Check that no two routes have the same method and path, whatever their parameters are called.

        Raises:
            PluginError: a route of a plugin is also one of the core, or of a plugin.
        """
        known: dict[tuple[str, str], str] = {}
        for rule in self._app.url_map.iter_rules():
            for method in sorted((rule.methods or set()) - _AUTOMATIC):
                key = (method, _PARAMETER.sub("<>", rule.rule))
                other = known.setdefault(key, rule.endpoint)
                if other != rule.endpoint:
                    self._refuse(f"{method} {rule.rule}", other, rule.endpoint)

    def _refuse(self, route: str, one: str, other: str) -> None:
        owners = [self._owners.get(endpoint, _CORE) for endpoint in (one, other)]
        plugins = [owner for owner in owners if isinstance(owner, Plugin)]
        if not plugins:
            return
        # The last one, which came to a route that was there.
        plugin = plugins[-1]
        rest = next((owner for owner in owners if owner is not plugin), None)
        place = f"is also a route of {rest}" if rest else _place_of_both(one, other)
        raise PluginError(f"{plugin}: {route} {place}; choose another path")

    def _add(self, plugin: Plugin | None, item: Any) -> Blueprint:
        if plugin is None:
            blueprint: Blueprint = item
            blueprint.register(self._app, self._base_path)
            return blueprint
        if not isinstance(item, web.Blueprint):
            rule = "expected a Blueprint of strongroom.plugin_api.web"
            raise PluginError(f"{plugin} returned {item!r} from register_blueprints; {rule}")
        if item.name in self._later or item.name in self._app.blueprints:
            fault = f"another blueprint has the name {item.name!r}; choose another name"
            raise PluginError(f"{plugin}: {fault}")
        known, hooks = set(self._app.view_functions), {id(hook) for hook in self._hook_functions()}
        try:
            host = self._hosts(plugin.name)
            blueprint = Blueprint.bound(item, host, self._host_errors, self._limits)
            blueprint.make_distinct(self._operations(), plugin.name)
            blueprint.register(self._app, self._base_path)
        except Exception as error:
            reason = f"a blueprint cannot be registered: {one_line(error)}"
            raise PluginError(f"{plugin}: {reason}") from error
        for endpoint in set(self._app.view_functions) - known:
            self._owners[endpoint] = plugin
            view = self._app.view_functions[endpoint]
            if isinstance(view, Operation):
                view.owner = str(plugin)
        self._wrap(plugin, hooks)
        return blueprint

    def _operations(self) -> set[str]:
        """Return the names of the registered operations."""
        views = self._app.view_functions.values()
        return {view.__name__ for view in views if isinstance(view, Operation)}

    def _hook_lists(self) -> Iterator[tuple[str, list[Any]]]:
        """Yield the hooks of requests with the name of what registers them."""
        tables: dict[str, Mapping[Any, list[Any]]] = {
            "before": self._app.before_request_funcs,
            "after": self._app.after_request_funcs,
        }
        for kind, table in tables.items():
            for scope, functions in table.items():
                yield f"{kind}_app_request" if scope is None else f"{kind}_request", functions

    def _hook_functions(self) -> Iterator[Hook]:
        for _, functions in self._hook_lists():
            yield from functions

    def _wrap(self, plugin: Plugin, known: set[int]) -> None:
        """Replace the hooks that a plugin has added by those that name it."""
        for kind, functions in self._hook_lists():
            for index, function in enumerate(functions):
                if id(function) not in known:
                    synchronous = self._app.ensure_sync(function)
                    functions[index] = RequestHook(plugin, kind, synchronous, self._slow_hooks)
