"""Adapts a plugin to the protocol of what a server consists of."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Final, NoReturn, TypeVar

from sqlalchemy import Connection

from strongroom.activity.events.declarations import audited_event
from strongroom.activity.events.delivery import SubscriberSink
from strongroom.assembly.plugin_host.hosts import PluginHosts
from strongroom.assembly.plugin_host.state import HostTransaction
from strongroom.assembly.registry import Registry, require_own_events
from strongroom.foundation.plugins.hook_calls import failure, named_if_stuck
from strongroom.foundation.plugins.plugin import Plugin, PluginError
from strongroom.foundation.plugins.plugin_validation import hooks_with_host
from strongroom.identity.sessions.pending_login import LoginTransaction
from strongroom.plugin_api.audit import AuditSentence
from strongroom.plugin_api.erasers import TenantEraser
from strongroom.plugin_api.events import EventSink, EventSubscriber
from strongroom.plugin_api.exports import UserExport
from strongroom.plugin_api.jobs import Job
from strongroom.plugin_api.login_conditions import LoginFacts
from strongroom.plugin_api.metrics import Metric
from strongroom.plugin_api.pruning import PruneStep
from strongroom.plugin_api.request import bind_to_host
from strongroom.plugin_api.resources import ResourceKind
from strongroom.plugin_api.state import Transaction
from strongroom.web.core_events import CoreEvent
from strongroom.web.parts import FileErasure, FindOwner, LoginCheck, Part, UserEnding

T = TypeVar("T")
R = TypeVar("R")

_NAME: Final = re.compile(r"[a-z][a-z0-9_]{0,31}")


@dataclass(slots=True, eq=False, repr=False)
class PluginPart(Part):
    """A plugin as a part. Each hook checks what the plugin returns.

    Raises:
        PluginError: the plugin raised, or returned something that cannot be used.
    """

    plugin: Plugin = field()  # no default, unlike in the base class
    _hosts: PluginHosts

    def register_blueprints(self) -> Iterator[Any]:
        yield from self._call("register_blueprints")

    def register_event_types(self) -> Iterator[CoreEvent]:
        for action, event_type in self._hosts.plugins.get_event_types(self.plugin).items():
            yield audited_event(event_type, [action])

    def register_event_sinks(self) -> Iterator[EventSink]:
        for sink in self._items("register_event_sinks", EventSink):
            yield self._named(sink)
        for subscriber in self._items("register_event_subscribers", EventSubscriber):
            yield SubscriberSink(self.plugin.name, self._named(subscriber))

    def register_jobs(self) -> Iterator[Job]:
        return self._items("register_jobs", Job)

    def register_prune_steps(self) -> Iterator[PruneStep]:
        return self._items("register_prune_steps", PruneStep)

    def register_tenant_erasers(self) -> Iterator[TenantEraser]:
        hook = "register_tenant_erasers"
        return (partial(self._run, hook, erase) for erase in self._functions(hook))

    def register_file_erasers(self) -> Iterator[FileErasure]:
        hook = "register_file_erasers"
        return (partial(self._run, hook, _within(erase)) for erase in self._functions(hook))

    def register_deactivations(self) -> Iterator[UserEnding]:
        return map(_within, self._functions("register_deactivations"))

    def register_login_conditions(self) -> Iterator[LoginCheck]:
        make_facts = self._hosts.get(self.plugin.name).make_login_facts
        for check in self._functions("register_login_conditions"):
            yield _for_login(check, make_facts)

    def register_address_owners(self) -> Iterator[FindOwner]:
        return map(_within, self._functions("register_address_owners"))

    def register_user_exports(self) -> Iterator[UserExport]:
        for export in self._items("register_user_exports", UserExport):
            # So that names are unique.
            yield replace(export, name=f"{self.plugin.name.replace('_', '-')}-{export.name}")

    def register_audit_sentences(self) -> Iterator[AuditSentence]:
        return self._items("register_audit_sentences", AuditSentence)

    def register_resource_kinds(self) -> Iterator[ResourceKind]:
        return self._items("register_resource_kinds", ResourceKind)

    def register_metrics(self) -> Iterator[Metric]:
        return self._items("register_metrics", Metric)

    def start(self) -> None:
        self._hosts.run(self.plugin, "start")

    def stop(self) -> None:
        remedy = "its hook stop must end what start began"
        with named_if_stuck(f"{self.plugin} has not stopped", remedy):
            self._hosts.run(self.plugin, "stop")

    def refuse(self, message: str) -> NoReturn:
        raise PluginError(f"{self.plugin} {message}")

    def _call(self, hook: str) -> list[Any]:
        return self._hosts.call_one(self.plugin, hook)

    def _items(self, hook: str, kind: type[T]) -> Iterator[T]:
        for item in self._call(hook):
            if not isinstance(item, kind):
                self.refuse(f"returned {item!r} from {hook}; expected a {kind.__name__}")
            yield item

    def _functions(self, hook: str) -> Iterator[Callable[..., Any]]:
        for item in self._call(hook):
            if not callable(item):
                self.refuse(f"returned {item!r} from {hook}; expected a function")
            # A route of another plugin may have caused the call.
            yield bind_to_host(self._hosts.get(self.plugin.name), item)

    def _run(self, hook: str, function: Callable[..., Any], *arguments: Any) -> None:
        """Call a function of the plugin; an error of its code names the plugin and the line."""
        try:
            function(*arguments)
        except Exception as error:
            raise PluginError(failure(self.plugin, hook, error)) from error

    def _named(self, item: T) -> T:
        name = getattr(item, "name", None)
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            rule = "at most 32 lowercase letters, digits and underscores"
            self.refuse(f"has an event sink or subscriber {name!r}; its name must be {rule}")
        return item


def plugin_parts(hosts: PluginHosts) -> list[PluginPart]:
    """Return the parts of all plugins."""
    return [PluginPart(plugin, hosts) for plugin in hosts.plugins.plugins]


def registration_fault(hosts: PluginHosts, plugin: Plugin) -> str | None:
    """Return the reason why a server would refuse what a plugin registers, or ``None``."""
    # Imports all features, which few commands need.
    from strongroom.assembly.features import FEATURES, core_events

    part = PluginPart(plugin, hosts)
    registry = Registry(FEATURES, [part])
    try:
        require_own_events(core_events(), part)
        for hook in hooks_with_host():
            hosts.call_one(plugin, hook)
        registry.require_valid()
        registry.metrics()
    except PluginError as error:
        return str(error)
    return None


def _within(function: Callable[[Transaction, T], R]) -> Callable[[Connection, T], R]:
    """Return a function of a plugin for the connection of the core's transaction."""

    def run(connection: Connection, subject: T) -> R:
        return function(HostTransaction(connection), subject)

    return run


def _for_login(
    check: Callable[[Transaction, LoginFacts], None],
    make_facts: Callable[[LoginTransaction], LoginFacts],
) -> LoginCheck:
    """Return a function of a plugin for a login in the core's transaction."""

    def run(login: LoginTransaction) -> None:
        check(HostTransaction(login.connection), make_facts(login))

    return run
