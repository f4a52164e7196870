"""Records by the days that they are of, in the time zone of the page."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from itertools import groupby
from typing import Any, Final

from strongroom.plugin_api.times import shown_day
from strongroom.plugin_api.visits import current_visit
from strongroom_console.filters import today

_LATEST: Final = ("today", "day-before")


@dataclass(frozen=True, slots=True)
class Day:
    """The records of a day.

    Args:
        key: the key of its name; empty: it is called by its date.
    """

    key: str
    records: Sequence[Mapping[str, Any]]


def find_days(records: Sequence[Mapping[str, Any]]) -> Sequence[Day]:
    """Return records, which have the member ``at`` and are in the order of time, by days."""
    zone = current_visit().host.browser.zone
    keys = {f"{today() - timedelta(days=age)}": key for age, key in enumerate(_LATEST)}
    return [
        Day(keys.get(date, ""), list(group))
        for date, group in groupby(records, lambda record: shown_day(record["at"], zone))
    ]
