"""The four kinds of extension, with the names that commands and templates use."""

from dataclasses import dataclass
from typing import Any, Final

from strongroom.plugin_api import Extension
from strongroom.plugin_api.captcha import CaptchaProvider
from strongroom.plugin_api.login import LoginMethod
from strongroom.plugin_api.messages import MessageSender
from strongroom.plugin_api.storage import StorageBackend


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of extension.

    Args:
        name: the name in commands and distributions.
        base: the class that its extensions derive from.
        behaviour: the module of a new plugin that defines its extension.
        suffix: the suffix of the class name of a new extension.
        description: a description of a new plugin, as one clause.
    """

    name: str
    base: type[Extension[Any]]
    behaviour: str
    suffix: str
    description: str

    @property
    def module(self) -> str:
        """The module of the plugin API that declares it."""
        return self.base.__module__.rpartition(".")[2]

    @property
    def contract(self) -> str:
        """The name of its contract in ``strongroom.testing``."""
        return f"{self.base.__name__}Contract"

    @property
    def hook(self) -> str:
        """The hook that registers it."""
        return f"register_{HOOK_NAMES[self.name]}"


HOOK_NAMES: Final = {
    "storage": "storage_backends",
    "login": "login_methods",
    "captcha": "captcha_providers",
    "sender": "message_senders",
}

KINDS: Final = (
    Kind("storage", StorageBackend, "backend", "Backend", "Stores Strongroom's files in a folder"),
    Kind("login", LoginMethod, "method", "Login", "Authenticates users with a file of accounts"),
    Kind("captcha", CaptchaProvider, "provider", "Captcha", "A captcha for Strongroom"),
    Kind("sender", MessageSender, "sender", "Sender", "Sends Strongroom's SMS over HTTP"),
)


def kind_of(extension: type[Extension[Any]]) -> Kind:
    """Return the kind of an extension."""
    return next(kind for kind in KINDS if issubclass(extension, kind.base))
