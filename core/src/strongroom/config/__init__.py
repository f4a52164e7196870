"""The configuration: one TOML file, overridable by environment, refused when anything in it is off."""

from strongroom.config.loader import Configuration, enabled_plugins, load
from strongroom.config.problems import ConfigurationError, Problem
from strongroom.config.settings import Settings

__all__ = ["Configuration", "ConfigurationError", "Problem", "Settings", "enabled_plugins", "load"]
