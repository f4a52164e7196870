"""How long ago something was, as people say it."""

from collections.abc import Callable
from datetime import datetime
from functools import partial
from typing import Final

from strongroom.plugin_api.host import HostAPI

Age = tuple[str, int]
"""The key of a text, and the number in it; an empty key for a point in time that pages show as a day."""

_MINUTE: Final = 60
_HOUR: Final = 3600
_DAY: Final = 86400
_STEPS: Final = (
    (_HOUR, _MINUTE, "minutes-ago"),
    (_DAY, _HOUR, "hours-ago"),
    (2 * _DAY, _DAY, "yesterday"),
)
"""The ages below which a unit is used, its seconds, and the key of its text."""

_MONTH: Final = 30 * _DAY


def ages(host: HostAPI) -> Callable[[str], Age]:
    """Return the function that returns how long ago a point in time of the REST API was."""
    return partial(find_age, now=host.clock.now())


def find_age(time: str, *, now: int) -> Age:
    """Return how long ago a point in time was.

    Args:
        time: in ISO 8601.
        now: in milliseconds since the Unix epoch.
    """
    seconds = int(now / 1000 - datetime.fromisoformat(time).timestamp())
    if seconds < _MINUTE:
        return ("just-now", 0) if seconds > -_MINUTE else ("", 0)
    for bound, unit, key in _STEPS:
        if seconds < bound:
            return key, seconds // unit
    return ("days-ago", seconds // _DAY) if seconds < _MONTH else ("", 0)
