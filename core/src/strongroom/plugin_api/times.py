"""Points in time: milliseconds since the Unix epoch in Python, ISO 8601 in UTC in JSON.

People read and enter times of their own zone, which the time zone database of IANA names (RFC 6557).
"""

import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, time, timedelta, tzinfo
from datetime import date as Date  # noqa: N812  the parameters are called "date"
from functools import lru_cache
from typing import Final
from zoneinfo import ZoneInfo, available_timezones

from strongroom.clock import iso_format

__all__ = [
    "UTC_ZONE",
    "end_of_day",
    "find_zone",
    "iso_format",
    "moment_of_input",
    "named_moment",
    "shown_day",
    "shown_moment",
    "start_of_day",
    "zone_name",
    "zone_names",
]

MAX_ZONE: Final = 64
"""The longest name of a time zone; the database's names have up to 32 characters."""

UTC_ZONE: Final[tzinfo] = UTC
"""The zone of people whose zone is unknown."""

# Without a leading slash or a dot: a name is a path below the folder of the database.
_ZONE: Final = re.compile(r"[A-Za-z][A-Za-z0-9_+-]*(/[A-Za-z0-9_+-]+){0,2}")


_AREAS: Final = frozenset(
    ("Africa", "America", "Antarctica", "Asia", "Atlantic", "Australia", "Europe", "Indian", "Pacific")
)


@lru_cache(maxsize=1024)
def find_zone(name: str | None) -> tzinfo | None:
    """Return the zone with a name such as ``Asia/Shanghai``; ``None`` if the database has none."""
    if not name or len(name) > MAX_ZONE or not _ZONE.fullmatch(name):
        return None
    if name in ("UTC", "Etc/UTC"):
        return UTC_ZONE
    try:
        return ZoneInfo(name)
    except (OSError, ValueError, KeyError):
        # A name may also be a folder of the database, or a file of another type.
        return None


@lru_cache(maxsize=1)
def zone_names() -> Sequence[str]:
    """Return the names of the zones of places, such as ``Asia/Shanghai``, in their order."""
    # The others are abbreviations, offsets and former names.
    return sorted(name for name in available_timezones() if name.partition("/")[0] in _AREAS)


def zone_name(zone: tzinfo) -> str:
    """Return the name of a zone, such as ``Asia/Shanghai``, or ``UTC``."""
    return zone.key if isinstance(zone, ZoneInfo) else "UTC"


@lru_cache(maxsize=4096)
def shown_moment(moment: int | str, zone: tzinfo) -> str:
    """Return a point in time for people, as ``2026-06-21 09:30``; with ``UTC`` in that zone.

    Args:
        moment: milliseconds since the Unix epoch, or ISO 8601.
    """
    text = _local(moment, zone).isoformat(" ")[:16]
    return f"{text} UTC" if zone is UTC_ZONE else text


# Pages of one folder are opened again and again, and have the same times.
@lru_cache(maxsize=4096)
def shown_day(moment: int | str, zone: tzinfo) -> str:
    """Return the day of a point in time for people, as ``2026-06-21``; see :func:`shown_moment`."""
    return _local(moment, zone).isoformat()[:10]


def named_moment(moment: int | str, zone: tzinfo) -> str:
    """Return a point in time with the name of its zone, as ``2026-06-21 09:30 (Asia/Shanghai)``.

    Messages have it, because their readers may have moved to another zone.
    """
    text = shown_moment(moment, zone)
    return text if zone is UTC_ZONE else f"{text} ({zone_name(zone)})"


def start_of_day(day: str, zone: tzinfo, *, later: int = 0) -> str:
    """Return the beginning of a day in ISO 8601; another text than ``2026-06-21`` as it is.

    Args:
        later: the number of days after that day.
    """
    return _of_day(day, lambda date: datetime.combine(date + timedelta(days=later), time(), zone))


def end_of_day(day: str, zone: tzinfo) -> str:
    """Return the last second of a day in ISO 8601; another text than ``2026-06-21`` as it is."""

    def last_second(date: Date) -> datetime:
        # Not the midnight of the same day plus 24 hours: a day of a change of clocks has 23 or 25.
        following = datetime.combine(date + timedelta(days=1), time(), zone)
        return following.astimezone(UTC) - timedelta(seconds=1)

    return _of_day(day, last_second)


def moment_of_input(text: str, zone: tzinfo) -> str:
    """Return the time of an input ``datetime-local`` in ISO 8601; another text as it is."""
    try:
        moment = datetime.fromisoformat(text)
        return _iso(moment.replace(tzinfo=zone) if moment.tzinfo is None else moment)
    except (ValueError, OverflowError):
        return text


def _of_day(day: str, moment: Callable[[Date], datetime]) -> str:
    try:
        return _iso(moment(Date.fromisoformat(day)))
    except (ValueError, OverflowError):
        return day


def _iso(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def _local(moment: int | str, zone: tzinfo) -> datetime:
    instant = (
        datetime.fromtimestamp(moment / 1000, UTC)
        if isinstance(moment, int)
        else datetime.fromisoformat(moment)
    )
    return instant.astimezone(zone)
