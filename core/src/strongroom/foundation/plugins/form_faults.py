"""Checks the forms of second factors and captchas as plugins declare them."""

import re
from collections.abc import Mapping
from dataclasses import fields
from typing import Any, Final

from strongroom.plugin_api import Extension
from strongroom.plugin_api.captcha import CaptchaProvider
from strongroom.plugin_api.factors import SecondFactor
from strongroom.plugin_api.forms import CaptchaWidget, FactorForm

_LABELS: Final = frozenset({"label", "hint", "field", "instruction", "result", "add", "use"})
_DIRECTIVE: Final = re.compile("[a-z]+(-[a-z]+)*")
_SOURCES: Final = re.compile(r"[^;,{}\x00-\x1f]+")


def form_fault(extension: type[Extension[Any]]) -> str | None:
    """Return what is wrong with the form of a factor or captcha provider, or ``None``."""
    if issubclass(extension, SecondFactor):
        return _fault(extension, "form", FactorForm, is_optional=True)
    if issubclass(extension, CaptchaProvider):
        return _fault(extension, "widget", CaptchaWidget, is_optional=False)
    return None


def _fault(extension: type[Any], attribute: str, kind: type[Any], *, is_optional: bool) -> str | None:
    form = getattr(extension, attribute)
    # A form that depends on options is known once the extension exists, and checked then.
    if isinstance(form, property) or (form is None and is_optional):
        return None
    if not isinstance(form, kind):
        return f"{attribute} must be a {kind.__name__}, not {form!r}"
    fault = contents_fault(form)
    return fault and f"{attribute}: {fault}"


def contents_fault(form: FactorForm | CaptchaWidget) -> str | None:
    """Return what is wrong with the labels or the policy of a form, or ``None``."""
    for name in (item.name for item in fields(form) if item.name in _LABELS):
        value = getattr(form, name)
        if not isinstance(value, Mapping) or (value and "en" not in value):
            return f'{name} must have the language "en", not {value!r}'
    return _policy_fault(form.policy)


def _policy_fault(policy: Any) -> str | None:
    if not isinstance(policy, Mapping):
        return f"policy must be a mapping of directives, not {policy!r}"
    for name, sources in policy.items():
        is_name = isinstance(name, str) and _DIRECTIVE.fullmatch(name)
        if not is_name or not isinstance(sources, str) or not _SOURCES.fullmatch(sources):
            return f"policy: {name!r} must be a directive with sources, such as {{'img-src': 'data:'}}"
    return None
