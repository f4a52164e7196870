"""The configuration: one TOML file and environment variables, validated strictly."""

from strongroom.config.loader import Configuration, enabled_plugins, load
from strongroom.config.settings import Settings
from strongroom.config.sources import ConfigurationError, Problem

__all__ = ["Configuration", "ConfigurationError", "Problem", "Settings", "enabled_plugins", "load"]
