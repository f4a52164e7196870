"""The hosts of all plugins of a process, the calls of hooks that receive them, and the life cycle."""

import logging
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NoReturn

from strongroom.clock import Clock, SystemClock
from strongroom.config import Settings
from strongroom.plugin_api import NoOptions
from strongroom.plugin_api.host import FactorT, MethodT, ScannerT
from strongroom.plugin_host.host import PluginHost
from strongroom.plugins.manager import Plugin, PluginError, PluginManager, hooks_with_host

if TYPE_CHECKING:
    from strongroom.assembly.services import Services

logger = logging.getLogger(__name__)


class PluginHosts:
    """The host of each enabled plugin.

    Args:
        settings: the settings of the core.
        plugins: the enabled plugins.
        options: the options of each plugin that has any, by its name.
        clock: the source of timestamps.
        services: returns the services of the process; see :class:`PluginHost`.
        kind: the class of the hosts.
    """

    def __init__(
        self,
        settings: Settings,
        plugins: PluginManager,
        options: Mapping[str, Any],
        clock: Clock,
        services: Callable[[], "Services"],
        kind: type[PluginHost] = PluginHost,
    ) -> None:
        self.plugins = plugins
        self._hosts = {
            plugin.name: kind(
                plugin.name,
                options.get(plugin.name, NoOptions()),
                settings,
                clock,
                services,
            )
            for plugin in plugins.plugins
        }

    def of(self, plugin: str) -> PluginHost:
        """Return the host of an enabled plugin."""
        return self._hosts[plugin]

    def call(self, hook: str) -> Iterator[tuple[Plugin, Any]]:
        """Call a hook of each plugin with its host, and yield the items that each returned.

        Raises:
            PluginError: a plugin raised, or returned something that cannot be iterated.
        """
        for plugin in self.plugins.plugins:
            yield from ((plugin, item) for item in self.call_one(plugin, hook))

    def call_one(self, plugin: Plugin, hook: str) -> list[Any]:
        """Call a hook of one plugin with its host, and return the items that it returned.

        Raises:
            PluginError: the plugin raised, or returned something that cannot be iterated.
        """
        return self.plugins.call_with_host(plugin, hook, self.of(plugin.name))

    def run(self, plugin: Plugin, hook: str) -> None:
        """Call a hook of one plugin with its host, and ignore what it returned.

        Raises:
            PluginError: the plugin raised.
        """
        self.plugins.run_with_host(plugin, hook, self.of(plugin.name))


class PluginLifeCycle:
    """Runs the hooks ``start`` and ``stop`` of all plugins, once each.

    Plugins start in the order of ``plugins.enabled`` and stop in the reverse order. Only a plugin that
    has started is stopped.
    """

    def __init__(self, hosts: PluginHosts) -> None:
        self._hosts = hosts
        self._started: list[Plugin] = []

    def start(self) -> None:
        """Start all plugins.

        Raises:
            PluginError: a plugin raised; those before it have been stopped again.
        """
        for plugin in self._hosts.plugins.plugins:
            try:
                self._hosts.run(plugin, "start")
            except PluginError:
                self.stop()
                raise
            self._started.append(plugin)

    def stop(self) -> None:
        """Stop the plugins that have started; failures are logged and do not propagate."""
        while self._started:
            try:
                self._hosts.run(self._started.pop(), "stop")
            except PluginError as error:
                logger.exception("%s", error)  # noqa: TRY401  names the plugin and the hook


class _OfflineHost(PluginHost):
    def login_method(self, kind: type[MethodT]) -> MethodT | None:
        """Return ``None``, as if the configuration did not enable it."""

    def second_factor(self, kind: type[FactorT]) -> FactorT | None:
        """Return ``None``, as if the configuration did not enable it."""

    def content_scanner(self, kind: type[ScannerT]) -> ScannerT | None:
        """Return ``None``, as if the configuration did not enable it."""


def offline_hosts(settings: Settings, plugins: PluginManager, options: Mapping[str, Any]) -> PluginHosts:
    """Return hosts without services, to check what the hooks of plugins register."""
    return PluginHosts(settings, plugins, options, SystemClock(), _refuse_services, _OfflineHost)


def _refuse_services() -> NoReturn:
    raise RuntimeError("a hook may keep its host, but must not use the server's data")


def registration_fault(hosts: PluginHosts, plugin: Plugin) -> str | None:
    """Return the reason why a plugin cannot register what it builds for its host, or ``None``."""
    try:
        for hook in hooks_with_host():
            hosts.call_one(plugin, hook)
    except PluginError as error:
        return str(error)
    return None
