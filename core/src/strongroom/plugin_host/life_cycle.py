"""Starts and stops plugins in a serving process."""

import logging

from strongroom.plugin_host.hosts import PluginHosts
from strongroom.plugins.manager import Plugin, PluginError

logger = logging.getLogger(__name__)


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
