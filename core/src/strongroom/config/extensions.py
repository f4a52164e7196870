"""Separates the keys of the core from those of extensions, which share tables of the file.

``[storages.NAME]`` and ``[captcha]`` contain keys of both; ``[login.NAME]`` and ``[messages.NAME]``
contain only keys of an extension.
"""

import typing
from dataclasses import fields
from typing import Any

from strongroom.config.files import StorageSettings
from strongroom.config.identity import CaptchaSettings
from strongroom.config.sources import KeyPath

ExtensionValues = dict[KeyPath, dict[str, Any]]


def split(values: dict[str, Any]) -> tuple[dict[str, Any], ExtensionValues]:
    """Return the values of the core, and those of extensions by the path of their table."""
    # Only the changed levels are copied; the caller's tables are not modified.
    core = dict(values)
    extensions: ExtensionValues = {}
    for section in ("login", "messages"):
        for name, table in _tables(core.get(section)):
            extensions[section, name] = table
            core[section] = {key: value for key, value in core[section].items() if key != name}
    for name, table in _tables(core.get("storages")):
        own, extensions["storages", name] = _divide(table, StorageSettings)
        core["storages"] = {**core["storages"], name: own}
    if isinstance(core.get("captcha"), dict):
        core["captcha"], extensions["captcha",] = _divide(core["captcha"], CaptchaSettings)
    return core, extensions


def _divide(table: dict[str, Any], own_type: type[Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    own_names = {item.name for item in fields(own_type)}
    own = {key: value for key, value in table.items() if key in own_names}
    return own, {key: value for key, value in table.items() if key not in own_names}


def _tables(section: object) -> list[tuple[str, dict[str, Any]]]:
    if not isinstance(section, dict):
        return []
    tables = typing.cast("dict[str, Any]", section)
    return [(name, value) for name, value in tables.items() if isinstance(value, dict)]
