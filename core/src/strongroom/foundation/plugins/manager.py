"""Finds and loads plugins, calls their hooks, and collects what they register."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import Any, TypeVar

import pluggy

from strongroom.foundation.config.plugin_discovery import (
    InstalledPlugins,
    PluginFiles,
    installed_plugins,
    load_plugin_file,
)
from strongroom.foundation.config.sources import suggestion
from strongroom.foundation.database.plugin_tables import tables_fault
from strongroom.foundation.errors import catalogue
from strongroom.foundation.plugins import hookspecs
from strongroom.foundation.plugins.hook_calls import (
    SlowHooks,
    failure,
    find_import_place,
    find_line,
    one_line,
    own,
)
from strongroom.foundation.plugins.hook_trace import trace_hooks
from strongroom.foundation.plugins.plugin import Plugin, PluginError
from strongroom.foundation.plugins.plugin_validation import (
    NAME,
    are_options,
    check_api_version,
    check_error,
    check_extension,
    check_markers,
    event_fault,
    explain,
    hook_arguments,
    implementations,
    options_fault,
    token_type_fault,
)
from strongroom.plugin_api import Extension
from strongroom.plugin_api.captcha import CaptchaProvider
from strongroom.plugin_api.events import EventType
from strongroom.plugin_api.factors import SecondFactor
from strongroom.plugin_api.keys import KeyProvider
from strongroom.plugin_api.login import LoginMethod
from strongroom.plugin_api.messages import MessageSender
from strongroom.plugin_api.password_schemes import PasswordScheme
from strongroom.plugin_api.scanning import ContentScanner
from strongroom.plugin_api.state import PluginTables
from strongroom.plugin_api.storage import StorageBackend, StorageWrapper
from strongroom.plugin_api.web import ErrorKind

ExtensionT = TypeVar("ExtensionT", bound=Extension[Any])

Offered = Mapping[str, type[ExtensionT]]
"""Extensions of one kind, by the names that the configuration uses."""


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
        self.token_types: Mapping[str, Sequence[str]] = self._collect_token_types()

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

    def get_extensions(self, plugin: Plugin) -> list[type[Extension[Any]]]:
        """Return the extensions that a plugin has registered."""
        return [extension for owner, extension in self._extensions if owner is plugin]

    def find_owner(self, extension: type[Extension[Any]]) -> Plugin:
        """Return the plugin that has registered an extension."""
        return next(owner for owner, registered in self._extensions if registered is extension)

    def get_hooks(self, plugin: Plugin) -> list[str]:
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
        return self.call_one(plugin, hook, **dict.fromkeys(hook_arguments(hook), host))

    def run_with_host(self, plugin: Plugin, hook: str, host: Any) -> None:
        """Call a hook of one plugin, whose arguments are all the plugin's host; ignore its result.

        Raises:
            PluginError: the plugin raised.
        """
        self._results(plugin, hook, dict.fromkeys(hook_arguments(hook), host))

    def _results(self, plugin: Plugin, hook: str, arguments: Mapping[str, Any]) -> list[Any]:
        """Return the result of a plugin's hook in a list, which is empty if it has none."""
        # Most plugins have few of the hooks, and pluggy would prepare a call for each.
        if hook not in self.get_hooks(plugin):
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
        check_api_version(plugin)
        check_markers(plugin)
        if plugin.name in {other.name for other in self.plugins}:
            hint = "; rename the file" if plugin.file else "; list it once"
            raise PluginError(f"{plugin} is enabled twice{hint}")
        try:
            self._pluggy.register(plugin.module, plugin.name)
            # register() accepts unknown hooks; only check_pending() refuses them.
            self._pluggy.check_pending()
        except pluggy.PluginValidationError as error:
            raise PluginError(f"{plugin} is invalid: {explain(plugin, error)}") from error
        self.plugins.append(plugin)
        callers = self._pluggy.get_hookcallers(plugin.module) or ()
        self._hooks[plugin.name] = [caller.name for caller in callers]

    def _collect(
        self, hook: str, kind: type[Any], taken: Mapping[str, Any] = MappingProxyType({})
    ) -> dict[str, Any]:
        collected: dict[str, Any] = {}
        owners: dict[str, Plugin] = {}
        for plugin, item in self.call(hook):
            check_extension(plugin, hook, item, kind)
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
                if not are_options(options_type):
                    raise PluginError(
                        f"{plugin} returned {options_type!r} from register_options; expected a dataclass"
                    )
                if fault := options_fault(options_type):
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
            if fault := event_fault(item, taken):
                raise PluginError(f"{plugin}: {fault}")
            taken.add(item.type.name)
            # What the plugin records, and the alarms of its second factors.
            for owner in (plugin.name, *self._get_factors(plugin)):
                yield f"{owner}.{item.action}", item.type

    def _collect_token_types(self) -> dict[str, list[str]]:
        types: dict[str, list[str]] = {}
        for plugin, item in self.call("register_token_types"):
            if fault := token_type_fault(item):
                raise PluginError(f"{plugin} returned {item!r} from register_token_types; {fault}")
            types.setdefault(plugin.name, []).append(item)
        return types

    def get_event_types(self, plugin: Plugin) -> Mapping[str, EventType]:
        """Return the types of a plugin's events by the actions of their audit records."""
        owners = {plugin.name, *self._get_factors(plugin)}
        return {
            action: item for action, item in self.event_types.items() if action.split(".")[0] in owners
        }

    def _get_factors(self, plugin: Plugin) -> Iterator[str]:
        for extension in self.get_extensions(plugin):
            if issubclass(extension, SecondFactor):
                yield extension.name

    def _collect_errors(self) -> dict[str, ErrorKind]:
        # Clients rely on the meaning of a code, so a plugin must not reuse one of the core's.
        taken = {kind.code for kind in catalogue()}
        errors: dict[str, ErrorKind] = {}
        for plugin, item in self.call("register_errors"):
            check_error(plugin, item)
            if item.code in taken | errors.keys():
                raise PluginError(f'{plugin} claims the error code "{item.code}", which is taken')
            errors[item.code] = item
        return errors


def _complete(results: list[Any]) -> list[Any]:
    """Return the results of a hook, with the items of generators, whose code is part of the hook."""
    return [list(result) if isinstance(result, Iterator) else result for result in results]


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
        place = find_import_place(entry_point.module, error)
        raise PluginError(f'plugin "{name}" failed to import: {one_line(error)}{place}') from error
    return Plugin(name, module, entry_point.dist.version if entry_point.dist else "unknown")


def _load_file(name: str, path: Path) -> Plugin:
    if not NAME.fullmatch(name):
        raise PluginError(f"{path}: rename it: a plugin has lowercase letters, digits and underscores")
    try:
        module = load_plugin_file(name, path)
    except Exception as error:
        place = find_line(error.__traceback__, lambda file: file == str(path)) or path
        raise PluginError(f'plugin "{name}" failed to import: {one_line(error)} ({place})') from error
    plugin = Plugin(name, module, "file", path)
    if not implementations(module):
        raise PluginError(f"{plugin} has no hooks; decorate its functions with hookimpl")
    return plugin
