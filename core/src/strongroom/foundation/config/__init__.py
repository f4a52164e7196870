"""The configuration: one TOML file and environment variables, validated strictly."""

from strongroom.foundation.config.loader import Configuration, load, plugins_settings
from strongroom.foundation.config.settings import Settings
from strongroom.foundation.config.sources import ConfigurationError, Problem

__all__ = ["Configuration", "ConfigurationError", "Problem", "Settings", "load", "plugins_settings"]
