"""The hooks a plugin may implement. Each registers; none does work.

The core calls every hook once, while the application is made. A hook returns classes (or routes, kinds
of errors, click commands), in any order; an empty list is a fine answer. It need not take an argument
that it has no use for.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import pluggy

from strongroom.plugin_api.captcha import CaptchaProvider
from strongroom.plugin_api.login import LoginMethod
from strongroom.plugin_api.messages import MessageSender
from strongroom.plugin_api.storage import StorageBackend
from strongroom.plugin_api.web import Blueprint, ErrorKind, Server

if TYPE_CHECKING:
    from click import Command

hookspec = pluggy.HookspecMarker("strongroom")


@hookspec
def register_storage_backends() -> Iterable[type[StorageBackend[Any]]]:  # type: ignore[empty-body]
    """Return storage backends. A section ``[storages.NAME]`` chooses one by ``backend``."""


@hookspec
def register_login_methods() -> Iterable[type[LoginMethod[Any]]]:  # type: ignore[empty-body]
    """Return login methods. ``[login] methods`` names those in use, in the order they are asked."""


@hookspec
def register_captcha_providers() -> Iterable[type[CaptchaProvider[Any]]]:  # type: ignore[empty-body]
    """Return captcha providers. ``[captcha] provider`` names the one in use."""


@hookspec
def register_message_senders() -> Iterable[type[MessageSender[Any]]]:  # type: ignore[empty-body]
    """Return message senders. ``[messages]`` names the senders of each channel, in order."""


@hookspec
def register_blueprints(server: Server) -> Iterable[Blueprint]:  # type: ignore[empty-body]
    """Return blueprints, made by ``server``, that add routes and their OpenAPI."""


@hookspec
def register_errors() -> Iterable[ErrorKind]:  # type: ignore[empty-body]
    """Return the kinds of errors that the plugin's routes and login methods answer with."""


@hookspec
def register_commands() -> Iterable["Command"]:  # type: ignore[empty-body]
    """Return commands that are added to ``strongroom``."""
