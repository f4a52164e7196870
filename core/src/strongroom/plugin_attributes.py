"""What the class attributes of an extension must be; each fault says what would be right."""

import re
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from typing import Any, Final

from strongroom.config.schema import schema_for
from strongroom.plugin_api import Extension
from strongroom.plugin_api.captcha import CaptchaProvider
from strongroom.plugin_api.messages import MessageSender
from strongroom.plugin_api.storage import SignedUploads

_NAME: Final = re.compile(r"[a-z][a-z0-9_]*")


def attribute_fault(extension: type[Extension[Any]]) -> str | None:
    """Return the first attribute that is missing or wrong, and what it must be, or ``None``."""
    for base, attribute, is_right, wanted in _RULES:
        if issubclass(extension, base) and not is_right(getattr(extension, attribute, None)):
            return f"{attribute} must be {wanted}"
    return _options_fault(extension.options_type)


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and bool(_NAME.fullmatch(value))


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value)


def _are_texts(value: Any) -> bool:
    is_collection = isinstance(value, (frozenset, set, tuple, list))
    return is_collection and bool(value) and all(map(_is_text, value))


def _is_size(value: Any) -> bool:
    return isinstance(value, property) or (isinstance(value, int) and value > 0)


def _are_options(value: Any) -> bool:
    return isinstance(value, type) and is_dataclass(value)


_RULES: Final[tuple[tuple[type[Any], str, Callable[[Any], bool], str], ...]] = (
    (Extension, "name", _is_name, "lowercase letters, digits and underscores"),
    (CaptchaProvider, "kind", _is_text, 'a string, such as "image"'),
    (MessageSender, "channels", _are_texts, 'a set of channels, such as frozenset({"sms"})'),
    (SignedUploads, "max_size", _is_size, "the largest upload in bytes, a positive int"),
    (Extension, "options_type", _are_options, "a dataclass whose fields are made by option()"),
)


def _options_fault(options_type: type[Any]) -> str | None:
    for field in fields(options_type):
        if "help" not in field.metadata:
            return f"options_type: the field {field.name} of {options_type.__name__} needs option()"
    try:
        schema_for(options_type)
    except Exception as error:
        reason = f"{type(error).__name__}: {' '.join(str(error).split())}"
        return f"options_type: {options_type.__name__} has a type that no key can have ({reason})"
    return None
