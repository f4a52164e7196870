"""The event sinks, jobs and metrics of plugins: collected from the hooks, and checked."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final

from sqlalchemy import Connection

from strongroom.activity.events.delivery import SubscriberSink
from strongroom.assembly.features import core_events
from strongroom.assembly.plugin_host.hosts import PluginHosts
from strongroom.assembly.plugin_host.state import HostTransaction
from strongroom.foundation.config import Settings
from strongroom.foundation.plugins.manager import Plugin, PluginError
from strongroom.plugin_api.deactivation import Deactivate, Deactivation
from strongroom.plugin_api.events import EventSink, EventSubscriber, matches
from strongroom.plugin_api.exports import UserExport
from strongroom.plugin_api.jobs import Job
from strongroom.plugin_api.metrics import Metric

_NAME: Final = re.compile(r"[a-z][a-z0-9_]{0,31}")


def registered_sinks(hosts: PluginHosts) -> Iterator[EventSink]:
    """Yield the sinks of all plugins, and a sink for each of their subscribers.

    Raises:
        PluginError: a hook failed, or an item is invalid.
    """
    names: set[str] = set()
    known = [*core_events().types, *(item.name for item in hosts.plugins.event_types.values())]
    for plugin, sink in _items(hosts):
        _check_types(plugin, sink.types, known)
        if sink.name in names:
            raise PluginError(f'{plugin}: there is another event sink "{sink.name}"')
        names.add(sink.name)
        yield sink


def _items(hosts: PluginHosts) -> Iterator[tuple[Plugin, EventSink]]:
    for plugin, sink in hosts.call("register_event_sinks"):
        _check(plugin, "register_event_sinks", sink, EventSink)
        yield plugin, sink
    for plugin, subscriber in hosts.call("register_event_subscribers"):
        _check(plugin, "register_event_subscribers", subscriber, EventSubscriber)
        yield plugin, SubscriberSink(plugin.name, subscriber)


def _check(plugin: Plugin, hook: str, item: Any, kind: type[Any]) -> None:
    if not isinstance(item, kind):
        raise PluginError(f"{plugin} returned {item!r} from {hook}; expected a {kind.__name__}")
    name = getattr(item, "name", None)
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        rule = "at most 32 lowercase letters, digits and underscores"
        raise PluginError(f"{plugin}: the name of a {kind.__name__} must be {rule}")


def _check_types(plugin: Plugin, types: Sequence[str], known: Sequence[str]) -> None:
    # A single text would be a sequence of letters, and no letter matches.
    if isinstance(types, str) or not types:
        raise PluginError(f'{plugin}: the types of an event sink must be a tuple such as ("file.*",)')
    for pattern in types:
        if not any(matches([pattern], name) for name in known):
            raise PluginError(f'{plugin}: there are no events "{pattern}"; see the reference of events')


def registered_jobs(hosts: PluginHosts, core: Mapping[str, Job]) -> dict[str, Job]:
    """Return the jobs of the core and of all plugins by their names, such as ``acme.prune``.

    Raises:
        PluginError: a plugin raised, or returned something else, or two jobs of the same name.
    """
    jobs = dict(core)
    for plugin, item in hosts.call("register_jobs"):
        if not isinstance(item, Job):
            raise PluginError(f"{plugin} returned {item!r} from register_jobs; expected a Job")
        name = f"{plugin.name}.{item.name}"
        if name in jobs:
            raise PluginError(f'{plugin} has a second job of the name "{name}"')
        jobs[name] = item
    return jobs


@dataclass(eq=False, repr=False)
class PluginDeactivations:
    """Ends what plugins store for a user. Their hooks are called at its first call in a process."""

    _hosts: PluginHosts

    def __call__(self, connection: Connection, ended: Deactivation) -> None:
        transaction = HostTransaction(connection)
        for deactivate in self._registered:
            deactivate(transaction, ended)

    @cached_property
    def _registered(self) -> Sequence[Deactivate]:
        return [item for _, item in self._hosts.call("register_deactivations")]


class RestoringPage:
    """Returns the URL of the page of links that take back a former contact, if there is one.

    It is that of the deployment, or of a plugin below the configured URL: never of a header of the
    request, so that no client chooses where links lead.
    """

    def __init__(self, hosts: PluginHosts, settings: Settings) -> None:
        self._hosts = hosts
        self._configured = settings.users.restore_url
        self._root = settings.public_root + settings.server.base_path

    def __call__(self) -> str | None:
        if self._configured:
            return self._configured
        return None if self._path is None else self._root + self._path

    @cached_property
    def _path(self) -> str | None:
        pages = (page for _, page in self._hosts.call("register_password_pages"))
        return next((page.restoring_path for page in pages if page.restoring_path), None)


@dataclass(eq=False, repr=False)
class PluginExports:
    """The files of plugins in archives of users' data. Their hooks are called at the first archive."""

    _hosts: PluginHosts

    def __iter__(self) -> Iterator[UserExport]:
        return iter(self._registered)

    @cached_property
    def _registered(self) -> Sequence[UserExport]:
        return [_prefixed(plugin, item) for plugin, item in self._hosts.call("register_user_exports")]


def _prefixed(plugin: Plugin, item: Any) -> UserExport:
    """Return an export whose name begins with that of the plugin, so that names are unique."""
    if not isinstance(item, UserExport):
        expected = "expected a UserExport"
        raise PluginError(f"{plugin} returned {item!r} from register_user_exports; {expected}")
    return replace(item, name=f"{plugin.name.replace('_', '-')}-{item.name}")


def registered_metrics(hosts: PluginHosts) -> Mapping[str, Metric]:
    """Return the metrics of all plugins by their names, such as ``strongroom_acme_imports``.

    Raises:
        PluginError: a plugin raised, or returned something else, or two metrics have the same name.
    """
    metrics: dict[str, Metric] = {}
    for plugin, item in hosts.call("register_metrics"):
        if not isinstance(item, Metric):
            raise PluginError(f"{plugin} returned {item!r} from register_metrics; expected a Metric")
        name = f"strongroom_{plugin.name}_{item.name}"
        if name in metrics:
            raise PluginError(f"{plugin}: another metric has the name {name}")
        metrics[name] = item
    return metrics
