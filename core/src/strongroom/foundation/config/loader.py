"""Loads and validates the configuration, and parses the options of each extension.

``[storages.NAME]``, ``[keys]`` and ``[captcha]`` contain keys of both; ``[login.NAME]`` and
``[messages.NAME]`` contain only an extension's keys, and ``[plugins.NAME]`` only a plugin's keys.
"""

import re
import typing
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Final, get_type_hints

from marshmallow import ValidationError

from strongroom.foundation.config.accounts import CaptchaSettings
from strongroom.foundation.config.file_settings import KeysSettings, StorageSettings
from strongroom.foundation.config.limits import apply_profile
from strongroom.foundation.config.plugin_discovery import installed_plugins
from strongroom.foundation.config.schema import find_problems, interpret, schema_for
from strongroom.foundation.config.server_settings import PluginsSettings
from strongroom.foundation.config.settings import Settings
from strongroom.foundation.config.sources import (
    FILE_SUFFIX,
    PREFIX,
    ConfigurationError,
    KeyPath,
    Problem,
    RawConfiguration,
    apply_environment,
    read_file,
    suggestion,
)

ExtensionValues = dict[KeyPath, dict[str, Any]]


def split(values: dict[str, Any]) -> tuple[dict[str, Any], ExtensionValues]:
    """Return the core's values, and the extensions' values by the path of their table."""
    # Only the changed levels are copied; the caller's tables are not modified.
    core = dict(values)
    extensions: ExtensionValues = {}
    for section in ("login", "messages", "plugins", "scanning", "second_factors"):
        for name, table in _tables(core.get(section)):
            extensions[section, name] = table
            core[section] = {key: value for key, value in core[section].items() if key != name}
    for name, table in _tables(core.get("storages")):
        own, extensions["storages", name] = _divide(table, StorageSettings)
        core["storages"] = {**core["storages"], name: own}
    if isinstance(core.get("keys"), dict):
        core["keys"], extensions["keys",] = _divide(core["keys"], KeysSettings)
    if isinstance(core.get("captcha"), dict):
        core["captcha"], extensions["captcha",] = _divide(core["captcha"], CaptchaSettings)
    return core, extensions


def _divide(table: dict[str, Any], own_type: type[Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    own_names = {item.name for item in fields(own_type)}
    own = {key: value for key, value in table.items() if key in own_names}
    return own, {key: value for key, value in table.items() if key not in own_names}


def _tables(section: object) -> list[tuple[str, dict[str, Any]]]:
    if not isinstance(section, dict):
        return []
    tables = typing.cast("dict[str, Any]", section)
    return [(name, value) for name, value in tables.items() if isinstance(value, dict)]


_FILE: Final = "file"


def fill(settings: Settings, extension_values: ExtensionValues, raw: RawConfiguration) -> Settings:
    """Return the settings with these defaults, and add the extensions' to ``extension_values``.

    The default storage, key provider and console sender store their files in ``data_dir``. The default
    of ``plugins.enabled`` contains only installed plugins.

    Args:
        settings: the configured values, with fixed defaults for all other keys.
        extension_values: the tables of extensions; modified in place.
        raw: the keys that are set explicitly.
    """
    data_dir = settings.server.data_dir
    if not settings.storages:
        settings.storages["main"] = StorageSettings(backend="local")
        extension_values["storages", "main"] = {"root": str(data_dir / "files")}
    if settings.keys.provider == _FILE:
        keys = extension_values.setdefault(("keys",), {})
        keys.setdefault("path", str(data_dir / "master-keys.json"))
    console = extension_values.setdefault(("messages", "console"), {})
    console.setdefault("outbox", str(data_dir / "outbox.jsonl"))
    if raw.states(("plugins", "enabled")):
        return settings
    enabled = find_installed(settings.plugins.enabled)
    return replace(settings, plugins=replace(settings.plugins, enabled=enabled))


def find_installed(plugins: Sequence[str]) -> tuple[str, ...]:
    """Return the plugins that are installed, in the same order."""
    installed = installed_plugins()
    return tuple(name for name in plugins if name in installed)


_LOOSE_PREFIX: Final = "STRONGROOM_"
_LINK = re.compile(r"(tcp|udp)://")
"""Service links: Docker and Kubernetes set variables such as STRONGROOM_SERVER_PORT to such URLs."""


def refuse_misspelt_variables(environment: Mapping[str, str]) -> None:
    """Reject variables such as ``STRONGROOM_SERVER__PORT``: a key with the wrong underscores.

    Raises:
        ConfigurationError: there are such variables; one problem each.
    """
    problems = list(_misspelt(environment))
    if problems:
        raise ConfigurationError(problems)


def _misspelt(environment: Mapping[str, str]) -> Iterator[Problem]:
    for name in sorted(environment):
        if not name.upper().startswith(_LOOSE_PREFIX) or name.startswith(PREFIX):
            continue
        meant = _meant(name)
        if meant is not None and not _LINK.match(environment[name]):
            message = f"is not read, because sections and keys are separated by two underscores; {meant}"
            yield Problem(f"environment {name}", "", message)


def _meant(name: str) -> str | None:
    """Return "did you mean ...?" if the name contains a section and a key, else ``None``."""
    words = name.upper().removeprefix(_LOOSE_PREFIX)
    for section, kind in get_type_hints(Settings).items():
        prefix = f"{section.upper()}_"
        if not words.lstrip("_").startswith(prefix):
            continue
        key = words.lstrip("_").removeprefix(prefix)
        if key.startswith("_") or _is_key(kind, key.removesuffix(FILE_SUFFIX)):
            return f'did you mean "{PREFIX}{section.upper()}__{key.lstrip("_")}"?'
    return None


def _is_key(kind: Any, key: str) -> bool:
    declared = getattr(kind, "__dataclass_fields__", None)
    return declared is not None and key.lower() in {item.name for item in fields(kind)}


@dataclass(slots=True)
class Configuration:
    """The settings of the core, the raw tables of extensions, and the problems collected so far.

    ``selection`` is a cache of :func:`strongroom.foundation.plugins.selection.select`.
    """

    settings: Settings
    raw: RawConfiguration
    extension_values: ExtensionValues
    problems: list[Problem] = field(default_factory=list)
    selection: object = None
    _consumed: set[KeyPath] = field(default_factory=set)

    def consume(self, path: KeyPath) -> None:
        """Mark the table at ``path`` as used by an extension, even if its keys cannot be checked."""
        self._consumed.add(path)

    def options(self, path: KeyPath, options_type: type[Any]) -> Any:
        """Parse the table at ``path``; if it is invalid, collect its problems and return ``None``."""
        self.consume(path)
        values = self.extension_values.get(path, {})
        try:
            return schema_for(options_type).load(interpret(values, options_type))
        except ValidationError as error:
            self.problems += find_problems(error.messages_dict, options_type, path, self.raw)
            return None

    def add_error(self, path: KeyPath, message: str, *, is_temporary: bool = False) -> None:
        """Collect a problem of a key, with the origin of its value; see :class:`Problem`."""
        self.problems.append(self.problem(path, message, is_temporary=is_temporary))

    def problem(self, path: KeyPath, message: str, *, is_temporary: bool = False) -> Problem:
        """Return a problem of a key, with the origin of its value, without collecting it."""
        return Problem(self.raw.origin(path), ".".join(path), message, is_temporary)

    def reject_unknown(
        self, known: Mapping[str, list[str]], disabled: Callable[[str], str | None]
    ) -> None:
        """Collect a problem for each table that no extension has consumed.

        Args:
            known: the valid names by section, for the suggestion in the message.
            disabled: returns how to enable what has a name, or ``None``.
        """
        for path in self.extension_values.keys() - self._consumed:
            hint = disabled(path[-1]) or suggestion(path[-1], known[path[0]])
            self.add_error(path, f"no enabled plugin has such a section; {hint}")

    def raise_if_invalid(self) -> None:
        """Raise the collected problems as one error.

        Raises:
            ConfigurationError: there is at least one problem.
        """
        if self.problems:
            raise ConfigurationError(self.problems)


def load(path: Path | None, environment: Mapping[str, str]) -> Configuration:
    """Load the configuration from the file, if given, and the environment.

    Raises:
        ConfigurationError: a key of the core is unknown, or a value is invalid.
    """
    refuse_misspelt_variables(environment)
    raw = read_file(path) if path else RawConfiguration()
    apply_environment(raw, environment)
    apply_profile(raw)
    core_values, extension_values = split(raw.values)
    try:
        settings: Settings = schema_for(Settings).load(interpret(core_values, Settings))
    except ValidationError as error:
        raise ConfigurationError(find_problems(error.messages_dict, Settings, (), raw)) from error
    # After validation, because these defaults depend on other keys.
    settings = fill(settings, extension_values, raw)
    return Configuration(settings, raw, extension_values)


def plugins_settings(path: Path | None, environment: Mapping[str, str]) -> PluginsSettings:
    """Return the section ``[plugins]`` even if the rest of the configuration is invalid."""
    try:
        raw = read_file(path) if path else RawConfiguration()
        apply_environment(raw, environment)
        values, _ = split({"plugins": raw.values.get("plugins", {})})
        settings: Settings = schema_for(Settings).load(interpret(values, Settings))
        plugins = settings.plugins
    except (ConfigurationError, ValidationError):
        raw, plugins = RawConfiguration(), PluginsSettings()
    if raw.states(("plugins", "enabled")):
        return plugins
    return replace(plugins, enabled=find_installed(plugins.enabled))
