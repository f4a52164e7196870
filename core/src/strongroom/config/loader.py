"""Puts the sources together, validates them, and hands each extension its options."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from marshmallow import ValidationError

from strongroom.config import defaults
from strongroom.config.extensions import ExtensionValues, split
from strongroom.config.faults import find_problems
from strongroom.config.problems import ConfigurationError, Problem, suggestion
from strongroom.config.schema import interpret, schema_for
from strongroom.config.server import PluginsSettings
from strongroom.config.settings import Settings
from strongroom.config.sources import KeyPath, RawConfiguration, apply_environment, read_file
from strongroom.config.variables import refuse_misspelt_variables


@dataclass(slots=True)
class Configuration:
    """The settings of the core, the tables meant for extensions, and the problems found so far."""

    settings: Settings
    raw: RawConfiguration
    extension_values: ExtensionValues
    problems: list[Problem] = field(default_factory=list)
    _claimed: set[KeyPath] = field(default_factory=set)

    def claim(self, path: KeyPath) -> None:
        """Note that the table at ``path`` is somebody's, though its keys cannot be checked."""
        self._claimed.add(path)

    def options(self, path: KeyPath, options_type: type[Any]) -> Any:
        """Return the options in the table at ``path``, or ``None`` after collecting its problems."""
        self.claim(path)
        values = self.extension_values.get(path, {})
        try:
            return schema_for(options_type).load(interpret(values, options_type))
        except ValidationError as error:
            self.problems += find_problems(error.messages_dict, options_type, path, self.raw)
            return None

    def add_error(self, path: KeyPath, message: str) -> None:
        """Collect a problem with a key."""
        self.problems.append(Problem(self.raw.origin(path), ".".join(path), message))

    def reject_unknown(self, known: Mapping[str, list[str]]) -> None:
        """Collect the tables that no extension has asked for, given the names known by section."""
        for path in self.extension_values.keys() - self._claimed:
            self.add_error(
                path, f"nothing of that name is registered; {suggestion(path[-1], known[path[0]])}"
            )

    def raise_if_invalid(self) -> None:
        """Raise what was collected.

        Raises:
            ConfigurationError: there were problems.
        """
        if self.problems:
            raise ConfigurationError(self.problems)


def load(path: Path | None, environment: Mapping[str, str]) -> Configuration:
    """Read the configuration from a file, if there is one, and the environment.

    Raises:
        ConfigurationError: a key of the core's is unknown, or a value is not what its key takes.
    """
    refuse_misspelt_variables(environment)
    raw = read_file(path) if path else RawConfiguration()
    apply_environment(raw, environment)
    core_values, extension_values = split(raw.values)
    try:
        settings: Settings = schema_for(Settings).load(interpret(core_values, Settings))
    except ValidationError as error:
        raise ConfigurationError(find_problems(error.messages_dict, Settings, (), raw)) from error
    settings = defaults.fill(settings, extension_values, raw)
    return Configuration(settings, raw, extension_values)


def enabled_plugins(path: Path | None, environment: Mapping[str, str]) -> Sequence[str]:
    """Return ``plugins.enabled`` of a configuration that may be wrong in everything else."""
    try:
        raw = read_file(path) if path else RawConfiguration()
        apply_environment(raw, environment)
        values = {"plugins": raw.values.get("plugins", {})}
        settings: Settings = schema_for(Settings).load(interpret(values, Settings))
    except (ConfigurationError, ValidationError):
        return defaults.installed_of(PluginsSettings().enabled)
    if raw.states(("plugins", "enabled")):
        return settings.plugins.enabled
    return defaults.installed_of(settings.plugins.enabled)
