"""Loads and validates the configuration, and parses the options of each extension."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from marshmallow import ValidationError

from strongroom.config import defaults
from strongroom.config.aliases import resolve_aliases
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
    """The settings of the core, the raw tables of extensions, and the problems collected so far.

    ``deprecations`` has a notice for each key that is set by a former name.
    """

    settings: Settings
    raw: RawConfiguration
    extension_values: ExtensionValues
    deprecations: Sequence[Problem] = ()
    problems: list[Problem] = field(default_factory=list)
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

    def add_error(self, path: KeyPath, message: str) -> None:
        """Collect a problem of a key, with the origin of its value."""
        self.problems.append(Problem(self.raw.origin(path), ".".join(path), message))

    def reject_unknown(self, known: Mapping[str, list[str]]) -> None:
        """Collect a problem for each table that no extension has consumed.

        Args:
            known: the valid names by section, for the suggestion in the message.
        """
        for path in self.extension_values.keys() - self._consumed:
            self.add_error(
                path, f"nothing of that name is registered; {suggestion(path[-1], known[path[0]])}"
            )

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
    deprecations = resolve_aliases(raw)
    core_values, extension_values = split(raw.values)
    try:
        settings: Settings = schema_for(Settings).load(interpret(core_values, Settings))
    except ValidationError as error:
        raise ConfigurationError(find_problems(error.messages_dict, Settings, (), raw)) from error
    # After validation, because these defaults depend on other keys.
    settings = defaults.fill(settings, extension_values, raw)
    return Configuration(settings, raw, extension_values, deprecations)


def enabled_plugins(path: Path | None, environment: Mapping[str, str]) -> Sequence[str]:
    """Return ``plugins.enabled`` even if the rest of the configuration is invalid."""
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
