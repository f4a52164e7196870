"""The kinds of extensions, and the plugins of this repository."""

from pathlib import Path
from typing import Any

from strongroom.plugin_api import Extension
from strongroom.plugin_api.captcha import CaptchaProvider
from strongroom.plugin_api.login import LoginMethod
from strongroom.plugin_api.messages import MessageSender
from strongroom.plugin_api.storage import StorageBackend
from strongroom.plugins.manager import PluginManager
from strongroom.plugins.selection import BUILTIN

KINDS: tuple[type[Extension[Any]], ...] = (StorageBackend, LoginMethod, CaptchaProvider, MessageSender)

_ROOT = Path(__file__).parents[2]


def shipped() -> PluginManager:
    """Return a plugin manager with every plugin of the repository enabled."""
    names = sorted(path.parent.name for path in _ROOT.glob("plugins/*/pyproject.toml"))
    return PluginManager(BUILTIN, names)
