"""Durations, rates and values of settings, as people read them."""

import tomllib
from dataclasses import dataclass
from typing import Any, Final

from strongroom.plugin_api.file_pages import size_text
from strongroom.plugin_api.server import ServerSetting

Words = tuple[str, int]
"""The key of a text, and the number in it."""

DURATIONS: Final = (
    (86400, "unit-days"),
    (3600, "unit-hours"),
    (60, "unit-minutes"),
    (1, "unit-seconds"),
)
"""The seconds of units, and the keys of their texts."""

RATES: Final = {
    "second": "rate-second",
    "minute": "rate-minute",
    "hour": "rate-hour",
    "day": "rate-day",
}
"""The keys of the texts of rates by the units of the configuration."""

_HIDDEN: Final = "..."
_LEAST_BYTES: Final = 1000


def duration_words(seconds: int) -> Words:
    """Return a duration in the longest unit that divides it."""
    size, key = next(item for item in DURATIONS if seconds % item[0] == 0)
    return key, seconds // size


def rate_words(rate: str) -> Words | None:
    """Return a rate of the configuration, such as ``5/hour``; ``None`` for another text."""
    count, _, unit = rate.partition("/")
    return (RATES[unit], int(count)) if unit in RATES and count.isdigit() else None


@dataclass(frozen=True, slots=True)
class SettingValue:
    """What a page shows of the value of a setting.

    Args:
        key: the key of a text; empty: the parts are shown.
        parts: the value, or the items of a list.
        hint: the value in another unit; empty without one.
        duration: the value as a duration, if it is one of at least a minute.
    """

    key: str = ""
    parts: tuple[str, ...] = ()
    hint: str = ""
    duration: Words | None = None


def setting_value(setting: ServerSetting) -> SettingValue:
    """Return what a page shows of a setting, whose value is in the syntax of TOML."""
    try:
        value = tomllib.loads(f"value = {setting.value}")["value"]
    except tomllib.TOMLDecodeError:
        return SettingValue(parts=(setting.value,))
    if (key := _value_key(value)) is not None:
        return SettingValue(key)
    if isinstance(value, list):
        return SettingValue(parts=tuple(map(str, value)))
    if isinstance(value, int):
        return _number(setting.key, value)
    return SettingValue(parts=(value if isinstance(value, str) else setting.value,))


def _value_key(value: Any) -> str | None:
    """Return the key of the text of a value that pages show in words."""
    if isinstance(value, bool):
        return "value-on" if value else "value-off"
    if value == _HIDDEN:
        return "value-hidden"
    return "value-unset" if value in ("", [], {}) else None


def _number(key: str, value: int) -> SettingValue:
    if key.endswith("bytes") and value >= _LEAST_BYTES:
        return SettingValue(parts=(f"{value:,}",), hint=size_text(value))
    words = duration_words(value) if key.endswith("_seconds") and value else ("unit-seconds", 0)
    return SettingValue(parts=(str(value),), duration=None if words[0] == "unit-seconds" else words)
