"""Refuses plugins that are wrong, in one line with the plugin, the place and the remedy."""

import inspect
import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import fields, is_dataclass
from functools import cache
from types import FunctionType, ModuleType
from typing import Any, Final

import pluggy

from strongroom.foundation.config.schema import option_fault
from strongroom.foundation.config.sources import suggestion
from strongroom.foundation.plugins import hookspecs
from strongroom.foundation.plugins.form_faults import form_fault
from strongroom.foundation.plugins.hook_calls import one_line
from strongroom.foundation.plugins.plugin import Plugin, PluginError
from strongroom.plugin_api import API_VERSION, Extension, NoOptions
from strongroom.plugin_api.captcha import CaptchaProvider
from strongroom.plugin_api.events import ACTOR, AuditedEvent
from strongroom.plugin_api.messages import MessageSender
from strongroom.plugin_api.password_schemes import PasswordScheme
from strongroom.plugin_api.scanning import ContentScanner
from strongroom.plugin_api.storage import SignedUploads, StorageBackend, StorageWrapper
from strongroom.plugin_api.web import ErrorKind

_ERROR_STATUSES = range(400, 600)
_ERROR_CODE = re.compile(r"error\.[a-z0-9]+(-[a-z0-9]+)*")
_EVENT_NAME: Final = re.compile(r"[a-z][a-z0-9-]{0,31}\.[a-z][a-z0-9_-]{0,31}")


_TOKEN_TYPE: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9.+/_-]{0,63}")

ACCESS_TOKEN_TYPES: Final = frozenset({"at+jwt", "at"})
"""The types of access tokens (RFC 9068, section 2.1), without the prefix ``application/``."""

NAME: Final = re.compile(r"[a-z][a-z0-9_]*")
"""The names of plugins and extensions."""


def attribute_fault(extension: type[Extension[Any]]) -> str | None:
    """Return the first attribute that is missing or wrong with the expected one, or ``None``."""
    for base, attribute, is_right, rule in _RULES:
        if issubclass(extension, base) and not is_right(getattr(extension, attribute, None)):
            return f"{attribute} must be {rule}"
    return form_fault(extension) or options_fault(extension.options_type)


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and bool(NAME.fullmatch(value))


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value)


def _are_texts(value: Any) -> bool:
    is_collection = isinstance(value, (frozenset, set, tuple, list))
    return is_collection and bool(value) and all(map(_is_text, value))


def _is_size(value: Any) -> bool:
    return isinstance(value, property) or (isinstance(value, int) and value > 0)


def are_options(value: Any) -> bool:
    """Return whether a value is the type of an extension's or a plugin's options."""
    return isinstance(value, type) and is_dataclass(value)


_RULES: Final[tuple[tuple[type[Any], str, Callable[[Any], bool], str], ...]] = (
    (Extension, "name", _is_name, "lowercase letters, digits and underscores"),
    (CaptchaProvider, "kind", _is_text, 'a string, such as "image"'),
    (MessageSender, "channels", _are_texts, 'a set of channels, such as frozenset({"sms"})'),
    (ContentScanner, "head_only", lambda value: isinstance(value, bool), "True or False"),
    (PasswordScheme, "options_type", lambda value: value is NoOptions, "NoOptions"),
    (SignedUploads, "max_size", _is_size, "the largest upload in bytes, a positive int"),
    (Extension, "options_type", are_options, "a dataclass whose fields are made by option()"),
)


def options_fault(options_type: type[Any]) -> str | None:
    """Return what is wrong with the fields of an options type, or ``None``."""
    for field in fields(options_type):
        if "help" not in field.metadata:
            return f"options_type: the field {field.name} of {options_type.__name__} needs option()"
    if fault := option_fault(options_type):
        return f"options_type: {options_type.__name__}.{fault}"
    return None


def event_fault(item: Any, taken: Collection[str]) -> str | None:
    """Return why an item of ``register_event_types`` cannot be registered, or ``None``."""
    if not isinstance(item, AuditedEvent):
        return f"returned {item!r} from register_event_types; expected an AuditedEvent"
    name = item.type.name
    if not _EVENT_NAME.fullmatch(name):
        return f'the type of events "{name}" must be two words, such as "share.created"'
    if name in taken:
        return f'the type of events "{name}" is taken'
    if item.type.is_of_tenant_stream or ACTOR not in item.type.fields:
        return f'the type of events "{name}" must be of the stream of the server, with the field ACTOR'
    return None


def token_type_fault(item: Any) -> str | None:
    """Return why an item of ``register_token_types`` cannot be registered, or ``None``.

    The server's own types are refused: a plugin must not sign what the server takes for its own.
    """
    if not isinstance(item, str) or not _TOKEN_TYPE.fullmatch(item):
        return 'expected a type such as "JWT" or "logout+jwt"'
    name = item.lower().removeprefix("application/")
    if name in ACCESS_TOKEN_TYPES or name.startswith("strongroom-"):
        return "this type is the server's"
    return None


def check_api_version(plugin: Plugin) -> None:
    """Check that a plugin was written for this plugin API; otherwise raise ``PluginError``."""
    stated = getattr(plugin.module, "API_VERSION", None)
    if not isinstance(stated, str) or not re.fullmatch(r"\d+\.\d+", stated):
        raise PluginError(f'{plugin} must state API_VERSION = "{API_VERSION}"')
    (major, minor), (our_major, our_minor) = (
        map(int, text.split(".")) for text in (stated, API_VERSION)
    )
    if major != our_major or minor > our_minor:
        newer = (
            "install a newer version of the plugin; its author finds what to change by "
            f'"strongroom plugins check", and if that lists nothing, sets API_VERSION = "{API_VERSION}"'
        )
        remedy = newer if major < our_major else "upgrade strongroom"
        raise PluginError(
            f"{plugin} was written for plugin API {stated}; this server has {API_VERSION}; {remedy}"
        )


def check_extension(plugin: Plugin, hook: str, item: Any, kind: type[Extension[Any]]) -> None:
    """Check an item of a hook that registers extensions; raise ``PluginError`` if it is wrong."""
    if not (isinstance(item, type) and issubclass(item, kind)):
        raise PluginError(
            f"{plugin} returned {item!r} from {hook}; expected a subclass of {kind.__name__}"
        )
    if kind is StorageBackend and issubclass(item, StorageWrapper):
        raise PluginError(f"{plugin}: {item.__name__} belongs in register_storage_wrappers")
    # Checked now, because an abstract class would only fail when it is created.
    if inspect.isabstract(item):
        missing = ", ".join(sorted(item.__abstractmethods__))
        raise PluginError(f"{plugin}: {item.__name__} lacks the methods: {missing}")
    if fault := attribute_fault(item):
        raise PluginError(f"{plugin}: {item.__name__}.{fault}")


def check_error(plugin: Plugin, item: Any) -> None:
    """Check an item of ``register_errors``; raise ``PluginError`` if it is wrong."""
    if not isinstance(item, ErrorKind):
        raise PluginError(f"{plugin} returned {item!r} from register_errors; expected an ErrorKind")
    if not _ERROR_CODE.fullmatch(item.code) or item.status not in _ERROR_STATUSES:
        rule = 'a status of 400 to 599 and a code like "error.riddle-unknown"'
        raise PluginError(f'{plugin}: the error "{item.code}" must have {rule}')


@cache
def hook_arguments(hook: str) -> Sequence[str]:
    """Return the names of the arguments of a hook."""
    return tuple(inspect.signature(getattr(hookspecs, hook)).parameters)


def hook_names() -> list[str]:
    """Return the names of all hooks."""
    return [name for name, hook in vars(hookspecs).items() if hasattr(hook, "strongroom_spec")]


def hooks_with_host() -> list[str]:
    """Return the hooks that register what a plugin builds for its host."""
    names = [name for name in hook_names() if name.startswith("register_")]
    return [name for name in names if "host" in hook_arguments(name)]


def explain(plugin: Plugin, error: pluggy.PluginValidationError) -> str:
    """Return why pluggy refuses a plugin, in one line."""
    # For a misspelt hook, suggest the right name instead of pluggy's message.
    hooks = hook_names()
    for name in implementations(plugin.module):
        if name not in hooks:
            return f'there is no hook "{name}"; {suggestion(name, hooks)}'
        if unknown := _unknown_argument(plugin.module, name):
            right = ", ".join(hook_arguments(name)) or "none"
            return f'{name} has no argument "{unknown}"; it may have: {right}'
    return one_line(error)


def _unknown_argument(module: ModuleType, hook: str) -> str | None:
    """Return the first argument of a plugin's function that the hook does not have, or ``None``."""
    parameters = inspect.signature(getattr(module, hook)).parameters.values()
    # pluggy passes no argument that has a default.
    names = [item.name for item in parameters if item.default is item.empty]
    return next((name for name in names if name not in hook_arguments(hook)), None)


def check_markers(plugin: Plugin) -> None:
    """Check that each function with the name of a hook is one; otherwise raise ``PluginError``."""
    decorated = implementations(plugin.module)
    for name in hook_names():
        item = vars(plugin.module).get(name)
        is_own = isinstance(item, FunctionType) and item.__module__ == plugin.module.__name__
        if is_own and name not in decorated and decorated:
            remedy = "decorate it with hookimpl, or rename it"
            raise PluginError(f"{plugin}: {name} has the name of a hook; {remedy}")


def implementations(module: ModuleType) -> list[str]:
    """Return the names of the functions of a module that are decorated with ``hookimpl``."""
    # Functions only: to read an attribute of Flask's `request`, if it is imported, needs a request.
    functions = {name: item for name, item in vars(module).items() if isinstance(item, FunctionType)}
    return [name for name, function in functions.items() if hasattr(function, "strongroom_impl")]
