"""The hosts of all plugins of a process, and the calls of hooks that receive them."""

import logging
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, NoReturn

from strongroom.assembly.plugin_host.forms import PluginForms
from strongroom.assembly.plugin_host.host import PluginHost
from strongroom.assembly.plugin_host.page_parts import PageParts, page_parts, registered_login_pages
from strongroom.clock import Clock, SystemClock
from strongroom.foundation.config import Settings
from strongroom.foundation.plugins.hook_calls import is_plugin_code
from strongroom.foundation.plugins.manager import PluginManager
from strongroom.foundation.plugins.plugin import Plugin
from strongroom.plugin_api import Extension, NoOptions
from strongroom.plugin_api.host import ExtensionT
from strongroom.plugin_api.pages import LoginPages

if TYPE_CHECKING:
    from strongroom.assembly.services import Services

logger = logging.getLogger(__name__)

_THREAD_PATIENCE: Final = 1.0
"""Seconds in which threads may end after their plugins have stopped."""


class PluginHosts:
    """The host of each enabled plugin.

    Args:
        options: the options of each plugin that has any, by its name.
        services: returns the services of the process; see :class:`PluginHost`.
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
        self._base_path = settings.server.base_path
        self._hosts = {
            plugin.name: kind(
                plugin.name,
                options.get(plugin.name, NoOptions()),
                settings,
                clock,
                services,
                self,
            )
            for plugin in plugins.plugins
        }

    @cached_property
    def page_parts(self) -> PageParts:
        """What plugins add to pages.

        Raises:
            PluginError: a plugin failed, or returned something that cannot be used.
        """
        return page_parts(self.call, self._base_path)

    @cached_property
    def forms(self) -> PluginForms:
        """The forms of second factors and captchas.

        Raises:
            PluginError: as :attr:`page_parts`.
        """
        return PluginForms(self.plugins, self.page_parts)

    @cached_property
    def applications(self) -> list[tuple[Plugin, Any]]:
        """The WSGI applications of plugins with their prefixes, not checked yet.

        Raises:
            PluginError: a plugin failed.
        """
        return [*self.call("register_wsgi_applications")]

    @cached_property
    def offered_login_pages(self) -> LoginPages | None:
        """The pages on which browsers log in, if a plugin has them.

        Raises:
            PluginError: two plugins have them.
        """
        return registered_login_pages(self.applications)

    def get(self, plugin: str) -> PluginHost:
        """Return the host of an enabled plugin."""
        return self._hosts[plugin]

    def attach(self, extension: Extension[Any]) -> None:
        """Give an extension the host of the plugin that has registered it."""
        extension.attach(self.get(self.plugins.find_owner(type(extension)).name))

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
        return self.plugins.call_with_host(plugin, hook, self.get(plugin.name))

    def run(self, plugin: Plugin, hook: str) -> None:
        """Call a hook of one plugin with its host, and ignore what it returned.

        Raises:
            PluginError: the plugin raised.
        """
        self.plugins.run_with_host(plugin, hook, self.get(plugin.name))


def report_threads(plugins: PluginManager) -> None:
    """Log the threads that keep this process from ending after its plugins have stopped."""
    owners = {thread: _find_owner(thread, plugins) for thread in threading.enumerate()}
    deadline = time.monotonic() + _THREAD_PATIENCE
    for thread, owner in owners.items():
        if owner is None:
            continue
        # Code that stop() has asked to end may still run.
        thread.join(max(0.0, deadline - time.monotonic()))
        if thread.is_alive():
            remedy = "end it in stop() or close(), or make it a daemon"
            logger.warning("%s leaves the thread %s running; %s", owner, thread.name, remedy)


def _find_owner(thread: threading.Thread, plugins: PluginManager) -> Plugin | None:
    """Return the plugin whose code a thread runs, unless the process ends without the thread."""
    if thread.daemon or thread is threading.current_thread():
        return None
    frame = sys._current_frames().get(thread.ident or 0)  # noqa: SLF001  the documented way
    while frame is not None:
        for plugin in plugins.plugins:
            if is_plugin_code(plugin.module, frame.f_code.co_filename):
                return plugin
        frame = frame.f_back
    return None


class _OfflineHost(PluginHost):
    def extension(self, kind: type[ExtensionT]) -> ExtensionT | None:
        """Return ``None``, as if the configuration did not enable it."""


def offline_hosts(settings: Settings, plugins: PluginManager, options: Mapping[str, Any]) -> PluginHosts:
    """Return hosts without services, to check what the hooks of plugins register."""
    return PluginHosts(settings, plugins, options, SystemClock(), _refuse_services, _OfflineHost)


def _refuse_services() -> NoReturn:
    raise RuntimeError("a hook may keep its host, but must not use the server's data")
