"""Finds, loads and checks plugins, and logs calls of their hooks.

``STRONGROOM_TRACE_HOOKS=1`` enables it. The trace contains only names, never values. Hooks neither
receive nor return options, so the trace cannot contain secrets.
"""

import inspect
import os
import re
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from pathlib import Path
from types import FunctionType, MappingProxyType, ModuleType
from typing import Any, Final, TypeVar

import pluggy

from strongroom.foundation.config.plugin_discovery import (
    InstalledPlugins,
    PluginFiles,
    installed_plugins,
    load_plugin_file,
)
from strongroom.foundation.config.schema import option_fault
from strongroom.foundation.config.sources import suggestion
from strongroom.foundation.database.plugin_tables import tables_fault
from strongroom.foundation.errors import catalogue
from strongroom.foundation.plugins import hookspecs
from strongroom.foundation.plugins.form_faults import form_fault
from strongroom.foundation.plugins.hook_calls import SlowHooks, failure, one_line, own
from strongroom.plugin_api import API_VERSION, Extension, NoOptions
from strongroom.plugin_api.captcha import CaptchaProvider
from strongroom.plugin_api.events import ACTOR, AuditedEvent, EventType
from strongroom.plugin_api.factors import SecondFactor
from strongroom.plugin_api.keys import KeyProvider
from strongroom.plugin_api.login import LoginMethod
from strongroom.plugin_api.messages import MessageSender
from strongroom.plugin_api.password_schemes import PasswordScheme
from strongroom.plugin_api.scanning import ContentScanner
from strongroom.plugin_api.state import PluginTables
from strongroom.plugin_api.storage import SignedUploads, StorageBackend, StorageWrapper
from strongroom.plugin_api.web import ErrorKind

VARIABLE: Final = "STRONGROOM_TRACE_HOOKS"

_EVENT_NAME: Final = re.compile(r"[a-z][a-z0-9-]{0,31}\.[a-z][a-z0-9_-]{0,31}")


def trace_hooks(manager: pluggy.PluginManager) -> None:
    """Trace the hook calls of a manager, if the environment variable is set."""
    if os.environ.get(VARIABLE, "") not in ("", "0"):
        manager.add_hookcall_monitoring(_before, _after)


def _before(hook_name: str, hook_impls: Sequence[pluggy.HookImpl], _: Mapping[str, Any]) -> None:
    for implementation in hook_impls:
        _say(f"{hook_name}: calling {implementation.plugin_name}")


def _after(
    outcome: "pluggy.Result[Any]",
    hook_name: str,
    hook_impls: Sequence[pluggy.HookImpl],
    _: Mapping[str, Any],
) -> None:
    if outcome.exception is not None:
        # Only the type of the exception; the error message of the server contains its text.
        _say(f"{hook_name}: raised {type(outcome.exception).__name__}")
    elif hook_impls:
        names = [_name(item) for result in outcome.get_result() for item in result or ()]
        _say(f"{hook_name}: got {', '.join(names) or 'nothing'}")


def _name(item: object) -> str:
    if isinstance(item, type):
        return f"{item.__module__}.{item.__qualname__}"
    # Blueprints and commands have a name, kinds of errors have a code.
    named = getattr(item, "name", None) or getattr(item, "code", None)
    return f"{type(item).__name__} {named}" if isinstance(named, str) else type(item).__name__


def _say(text: str) -> None:
    sys.stderr.write(f"strongroom: hook {text}\n")


_NAME: Final = re.compile(r"[a-z][a-z0-9_]*")


def attribute_fault(extension: type[Extension[Any]]) -> str | None:
    """Return the first attribute that is missing or wrong with the expected one, or ``None``."""
    for base, attribute, is_right, rule in _RULES:
        if issubclass(extension, base) and not is_right(getattr(extension, attribute, None)):
            return f"{attribute} must be {rule}"
    return form_fault(extension) or _options_fault(extension.options_type)


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and bool(_NAME.fullmatch(value))


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value)


def _are_texts(value: Any) -> bool:
    is_collection = isinstance(value, (frozenset, set, tuple, list))
    return is_collection and bool(value) and all(map(_is_text, value))


def _is_size(value: Any) -> bool:
    return isinstance(value, property) or (isinstance(value, int) and value > 0)


def _are_options(value: Any) -> bool:
    return isinstance(value, type) and is_dataclass(value)


_RULES: Final[tuple[tuple[type[Any], str, Callable[[Any], bool], str], ...]] = (
    (Extension, "name", _is_name, "lowercase letters, digits and underscores"),
    (CaptchaProvider, "kind", _is_text, 'a string, such as "image"'),
    (MessageSender, "channels", _are_texts, 'a set of channels, such as frozenset({"sms"})'),
    (ContentScanner, "head_only", lambda value: isinstance(value, bool), "True or False"),
    (PasswordScheme, "options_type", lambda value: value is NoOptions, "NoOptions"),
    (SignedUploads, "max_size", _is_size, "the largest upload in bytes, a positive int"),
    (Extension, "options_type", _are_options, "a dataclass whose fields are made by option()"),
)


def _options_fault(options_type: type[Any]) -> str | None:
    for field in fields(options_type):
        if "help" not in field.metadata:
            return f"options_type: the field {field.name} of {options_type.__name__} needs option()"
    if fault := option_fault(options_type):
        return f"options_type: {options_type.__name__}.{fault}"
    return None


ExtensionT = TypeVar("ExtensionT", bound=Extension[Any])

Offered = Mapping[str, type[ExtensionT]]
"""Extensions of one kind, by the names that the configuration uses."""

_ERROR_STATUSES = range(400, 600)
_ERROR_CODE = re.compile(r"error\.[a-z0-9]+(-[a-z0-9]+)*")


class PluginError(Exception):
    """A plugin cannot be used. The message is one line with its name and the reason."""


@dataclass(frozen=True, slots=True)
class Plugin:
    """A loaded plugin."""

    name: str
    module: ModuleType
    version: str
    file: Path | None = None
    """The file of a one-file plugin."""

    def __str__(self) -> str:
        place = f" ({self.file})" if self.file else ""
        return f'plugin "{self.name}"{place}'


class PluginManager:
    """The plugins of one application, and the extensions that they have registered."""

    def __init__(
        self,
        builtin: Sequence[ModuleType],
        enabled: Sequence[str],
        files: PluginFiles = MappingProxyType({}),
    ) -> None:
        """Load the built-in modules, the installed plugins named in ``enabled``, and one-file plugins.

        Raises:
            PluginError: a plugin is missing, fails to import, or is incompatible.
        """
        self.slow_hooks = SlowHooks()
        self._pluggy = pluggy.PluginManager("strongroom")
        self._pluggy.add_hookspecs(hookspecs)
        trace_hooks(self._pluggy)
        self.plugins: list[Plugin] = []
        self._extensions: list[tuple[Plugin, type[Extension[Any]]]] = []
        self._hooks: dict[str, list[str]] = {}
        self._register_all(builtin, enabled, files)
        # Collected at once, so that a plugin that registers something wrong is refused at the start,
        # not at its first use.
        self.storage_backends: Offered[StorageBackend[Any]] = self._collect(
            "register_storage_backends", StorageBackend
        )
        self.storage_wrappers: Offered[StorageWrapper[Any]] = self._collect(
            "register_storage_wrappers", StorageWrapper, self.storage_backends
        )
        self.key_providers: Offered[KeyProvider[Any]] = self._collect(
            "register_key_providers", KeyProvider
        )
        self.login_methods: Offered[LoginMethod[Any]] = self._collect(
            "register_login_methods", LoginMethod
        )
        self.second_factors: Offered[SecondFactor[Any]] = self._collect(
            "register_second_factors", SecondFactor
        )
        self.captcha_providers: Offered[CaptchaProvider[Any]] = self._collect(
            "register_captcha_providers", CaptchaProvider
        )
        self.message_senders: Offered[MessageSender[Any]] = self._collect(
            "register_message_senders", MessageSender
        )
        self.content_scanners: Offered[ContentScanner[Any]] = self._collect(
            "register_content_scanners", ContentScanner
        )
        self.password_schemes: Offered[PasswordScheme] = self._collect(
            "register_password_schemes", PasswordScheme
        )
        self.errors: Mapping[str, ErrorKind] = self._collect_errors()
        self.options_types: Mapping[str, type[Any]] = dict(self._collect_options_types())
        self.tables: Mapping[str, PluginTables] = dict(self._collect_tables())
        self.event_types: Mapping[str, EventType] = dict(self._collect_event_types())

    def _register_all(
        self, builtin: Sequence[ModuleType], enabled: Sequence[str], files: PluginFiles
    ) -> None:
        for module in builtin:
            self._register(Plugin(module.__name__.rpartition(".")[2], module, "built in"))
        # Built-in extensions come first, so a plugin that reuses one of their names is refused.
        installed = installed_plugins()
        for name in enabled:
            self._register(_load(name, installed))
        for name, path in files.items():
            self._register(_load_file(name, path))

    def packages(self) -> list[str]:
        """Return the packages of the installed plugins that are enabled. One-file plugins have none."""
        modules = [plugin.module for plugin in self.plugins if plugin.file is None]
        roots = (module.__name__.partition(".")[0] for module in modules)
        return [root for root in dict.fromkeys(roots) if root != __name__.partition(".")[0]]

    def extensions_of(self, plugin: Plugin) -> list[type[Extension[Any]]]:
        """Return the extensions that a plugin has registered."""
        return [extension for owner, extension in self._extensions if owner is plugin]

    def find_owner(self, extension: type[Extension[Any]]) -> Plugin:
        """Return the plugin that has registered an extension."""
        return next(owner for owner, registered in self._extensions if registered is extension)

    def hooks_of(self, plugin: Plugin) -> list[str]:
        """Return the names of the hooks that a plugin implements."""
        return self._hooks[plugin.name]

    def call(self, hook: str, **arguments: Any) -> Iterable[tuple[Plugin, Any]]:
        """Call a hook of each plugin separately, and yield the items that each returned.

        Raises:
            PluginError: a plugin raised, or returned something that cannot be iterated.
        """
        for plugin in self.plugins:
            yield from ((plugin, item) for item in self.call_one(plugin, hook, **arguments))

    def call_one(self, plugin: Plugin, hook: str, **arguments: Any) -> list[Any]:
        """Call a hook of one plugin, and return the items that it returned.

        Raises:
            PluginError: the plugin raised, or returned something that cannot be iterated.
        """
        items: list[Any] = []
        for result in self._results(plugin, hook, arguments):
            if not isinstance(result, Iterable) or isinstance(result, str | bytes):
                raise PluginError(f"{plugin} returned {result!r} from {hook}; return a list")
            items += result
        return items

    def call_with_host(self, plugin: Plugin, hook: str, host: Any) -> list[Any]:
        """Call a hook of one plugin, whose arguments are all the plugin's host.

        Raises:
            PluginError: the plugin raised, or returned something that cannot be iterated.
        """
        return self.call_one(plugin, hook, **dict.fromkeys(_arguments_of(hook), host))

    def run_with_host(self, plugin: Plugin, hook: str, host: Any) -> None:
        """Call a hook of one plugin, whose arguments are all the plugin's host; ignore its result.

        Raises:
            PluginError: the plugin raised.
        """
        self._results(plugin, hook, dict.fromkeys(_arguments_of(hook), host))

    def _results(self, plugin: Plugin, hook: str, arguments: Mapping[str, Any]) -> list[Any]:
        """Return the result of a plugin's hook in a list, which is empty if it has none."""
        # Most plugins have few of the hooks, and pluggy would prepare a call for each.
        if hook not in self.hooks_of(plugin):
            return []
        # Call each plugin separately, so that an error can name the plugin.
        others = [other.module for other in self.plugins if other is not plugin]
        caller = self._pluggy.subset_hook_caller(hook, others)
        try:
            results = self.slow_hooks.timed(plugin, hook, lambda: _complete(caller(**arguments)))
        except Exception as error:
            raise PluginError(failure(plugin, hook, error)) from error
        # pluggy leaves out a None.
        if not results and hook.startswith("register_"):
            raise PluginError(f"{plugin} returned None from {hook}; return what it registers, or []")
        return results

    def _register(self, plugin: Plugin) -> None:
        _check_api_version(plugin)
        _check_markers(plugin)
        if plugin.name in {other.name for other in self.plugins}:
            hint = "; rename the file" if plugin.file else "; list it once"
            raise PluginError(f"{plugin} is enabled twice{hint}")
        try:
            self._pluggy.register(plugin.module, plugin.name)
            # register() accepts unknown hooks; only check_pending() refuses them.
            self._pluggy.check_pending()
        except pluggy.PluginValidationError as error:
            raise PluginError(f"{plugin} is invalid: {_explain(plugin, error)}") from error
        self.plugins.append(plugin)
        callers = self._pluggy.get_hookcallers(plugin.module) or ()
        self._hooks[plugin.name] = [caller.name for caller in callers]

    def _collect(
        self, hook: str, kind: type[Any], taken: Mapping[str, Any] = MappingProxyType({})
    ) -> dict[str, Any]:
        collected: dict[str, Any] = {}
        owners: dict[str, Plugin] = {}
        for plugin, item in self.call(hook):
            _check_extension(plugin, hook, item, kind)
            if item.name in taken:
                raise PluginError(f'{plugin} claims the name "{item.name}" in {hook}, which is taken')
            if item.name in collected:
                raise PluginError(
                    f'{owners[item.name]} and {plugin} both claim the name "{item.name}" in {hook}'
                )
            collected[item.name], owners[item.name] = item, plugin
            own(item, plugin)
            self._extensions.append((plugin, item))
        return collected

    def _collect_options_types(self) -> Iterator[tuple[str, type[Any]]]:
        for plugin in self.plugins:
            for options_type in self._results(plugin, "register_options", {}):
                if not _are_options(options_type):
                    raise PluginError(
                        f"{plugin} returned {options_type!r} from register_options; expected a dataclass"
                    )
                if fault := _options_fault(options_type):
                    raise PluginError(f"{plugin}: {fault}")
                yield plugin.name, options_type

    def _collect_tables(self) -> Iterator[tuple[str, PluginTables]]:
        for plugin in self.plugins:
            for declared in self._results(plugin, "register_tables", {}):
                if fault := tables_fault(plugin.name, declared):
                    raise PluginError(f"{plugin}: {fault}")
                yield plugin.name, declared

    def _collect_event_types(self) -> Iterator[tuple[str, EventType]]:
        taken: set[str] = set()
        for plugin, item in self.call("register_event_types"):
            if fault := _event_fault(item, taken):
                raise PluginError(f"{plugin}: {fault}")
            taken.add(item.type.name)
            # What the plugin records, and the alarms of its second factors.
            for owner in (plugin.name, *self._factors_of(plugin)):
                yield f"{owner}.{item.action}", item.type

    def _factors_of(self, plugin: Plugin) -> Iterator[str]:
        for extension in self.extensions_of(plugin):
            if issubclass(extension, SecondFactor):
                yield extension.name

    def _collect_errors(self) -> dict[str, ErrorKind]:
        # Clients rely on the meaning of a code, so a plugin must not reuse one of the core's.
        taken = {kind.code for kind in catalogue()}
        errors: dict[str, ErrorKind] = {}
        for plugin, item in self.call("register_errors"):
            _check_error(plugin, item)
            if item.code in taken | errors.keys():
                raise PluginError(f'{plugin} claims the error code "{item.code}", which is taken')
            errors[item.code] = item
        return errors


def _complete(results: list[Any]) -> list[Any]:
    """Return the results of a hook, with the items of generators, whose code is part of the hook."""
    return [list(result) if isinstance(result, Iterator) else result for result in results]


def _event_fault(item: Any, taken: Collection[str]) -> str | None:
    """Return why an item of ``register_event_types`` cannot be registered, or ``None``."""
    if not isinstance(item, AuditedEvent):
        return f"returned {item!r} from register_event_types; expected an AuditedEvent"
    name = item.type.name
    if not _EVENT_NAME.fullmatch(name):
        return f'the type of events "{name}" must be two words, such as "share.created"'
    if name in taken:
        return f'the type of events "{name}" is taken'
    if item.type.is_of_tenant_stream or ACTOR not in item.type.fields:
        return f'the type of events "{name}" must be of the stream of the server, with the field ACTOR'
    return None


def _load(name: str, installed: InstalledPlugins) -> Plugin:
    candidates = installed.get(name, [])
    if not candidates:
        distribution = f"strongroom-{name.replace('_', '-')}"
        hint = suggestion(name, list(installed))
        raise PluginError(f'plugin "{name}" is not installed; pip install {distribution}, or {hint}')
    # The same entry point may be listed twice, for example by an editable install; that is no conflict.
    if len({candidate.value for candidate in candidates}) > 1:
        values = " and ".join(sorted(candidate.value for candidate in candidates))
        raise PluginError(f'plugin "{name}" is installed twice, as {values}; uninstall one of them')
    entry_point = candidates[0]
    try:
        module = entry_point.load()
    except Exception as error:
        raise PluginError(f'plugin "{name}" failed to import: {one_line(error)}') from error
    return Plugin(name, module, entry_point.dist.version if entry_point.dist else "unknown")


def _load_file(name: str, path: Path) -> Plugin:
    if not _NAME.fullmatch(name):
        raise PluginError(f"{path}: rename it: a plugin has lowercase letters, digits and underscores")
    try:
        module = load_plugin_file(name, path)
    except Exception as error:
        raise PluginError(f'plugin "{name}" failed to import: {one_line(error)} ({path})') from error
    plugin = Plugin(name, module, "file", path)
    if not _implementations(module):
        raise PluginError(f"{plugin} has no hooks; decorate its functions with hookimpl")
    return plugin


def _check_api_version(plugin: Plugin) -> None:
    stated = getattr(plugin.module, "API_VERSION", None)
    if not isinstance(stated, str) or not re.fullmatch(r"\d+\.\d+", stated):
        raise PluginError(f'{plugin} must state API_VERSION = "{API_VERSION}"')
    (major, minor), (our_major, our_minor) = (
        map(int, text.split(".")) for text in (stated, API_VERSION)
    )
    if major != our_major or minor > our_minor:
        remedy = "install a newer version of the plugin" if major < our_major else "upgrade strongroom"
        raise PluginError(
            f"{plugin} was written for plugin API {stated}; this server has {API_VERSION}; {remedy}"
        )


def _check_extension(plugin: Plugin, hook: str, item: Any, kind: type[Extension[Any]]) -> None:
    if not (isinstance(item, type) and issubclass(item, kind)):
        raise PluginError(
            f"{plugin} returned {item!r} from {hook}; expected a subclass of {kind.__name__}"
        )
    if kind is StorageBackend and issubclass(item, StorageWrapper):
        raise PluginError(f"{plugin}: {item.__name__} belongs in register_storage_wrappers")
    # Checked now, because an abstract class would only fail when it is created.
    if inspect.isabstract(item):
        missing = ", ".join(sorted(item.__abstractmethods__))
        raise PluginError(f"{plugin}: {item.__name__} lacks the methods: {missing}")
    if fault := attribute_fault(item):
        raise PluginError(f"{plugin}: {item.__name__}.{fault}")


def _check_error(plugin: Plugin, item: Any) -> None:
    if not isinstance(item, ErrorKind):
        raise PluginError(f"{plugin} returned {item!r} from register_errors; expected an ErrorKind")
    if not _ERROR_CODE.fullmatch(item.code) or item.status not in _ERROR_STATUSES:
        rule = 'a status of 400 to 599 and a code like "error.riddle-unknown"'
        raise PluginError(f'{plugin}: the error "{item.code}" must have {rule}')


@cache
def _arguments_of(hook: str) -> Sequence[str]:
    return tuple(inspect.signature(getattr(hookspecs, hook)).parameters)


def hook_names() -> list[str]:
    """Return the names of all hooks."""
    return [name for name, hook in vars(hookspecs).items() if hasattr(hook, "strongroom_spec")]


def hooks_with_host() -> list[str]:
    """Return the hooks that register what a plugin builds for its host."""
    names = [name for name in hook_names() if name.startswith("register_")]
    return [name for name in names if "host" in _arguments_of(name)]


def _explain(plugin: Plugin, error: pluggy.PluginValidationError) -> str:
    # For a misspelt hook, suggest the right name instead of pluggy's message.
    hooks = hook_names()
    for name in _implementations(plugin.module):
        if name not in hooks:
            return f'there is no hook "{name}"; {suggestion(name, hooks)}'
        if unknown := _unknown_argument(plugin.module, name):
            right = ", ".join(_arguments_of(name)) or "none"
            return f'{name} has no argument "{unknown}"; it may have: {right}'
    return one_line(error)


def _unknown_argument(module: ModuleType, hook: str) -> str | None:
    """Return the first argument of a plugin's function that the hook does not have, or ``None``."""
    parameters = inspect.signature(getattr(module, hook)).parameters.values()
    # pluggy passes no argument that has a default.
    names = [item.name for item in parameters if item.default is item.empty]
    return next((name for name in names if name not in _arguments_of(hook)), None)


def _check_markers(plugin: Plugin) -> None:
    """Check that each function with the name of a hook is one."""
    decorated = _implementations(plugin.module)
    for name in hook_names():
        item = vars(plugin.module).get(name)
        is_own = isinstance(item, FunctionType) and item.__module__ == plugin.module.__name__
        if is_own and name not in decorated and decorated:
            remedy = "decorate it with hookimpl, or rename it"
            raise PluginError(f"{plugin}: {name} has the name of a hook; {remedy}")


def _implementations(module: ModuleType) -> list[str]:
    """Return the names of the functions of a module that are decorated with ``hookimpl``."""
    # Functions only: to read an attribute of Flask's `request`, if it is imported, needs a request.
    functions = {name: item for name, item in vars(module).items() if isinstance(item, FunctionType)}
    return [name for name, function in functions.items() if hasattr(function, "strongroom_impl")]
