"""The ends of permissions and links, which forms have as days in the zone of the person."""

from datetime import tzinfo

from flask import request

from strongroom.plugin_api.times import end_of_day, shown_day
from strongroom.plugin_api.visits import current_visit


def requested_end() -> str | None:
    """Return the end that a form has: the end of a day in the zone that the form was shown in.

    A day that the user has not changed keeps its time. Other texts are returned as they are, and the
    REST API refuses them.
    """
    day, before = request.form.get("until", "").strip(), request.form.get("end", "")
    if not day:
        return None
    zone = current_visit().form_zone
    return before if _is_on(day, before, zone) else end_of_day(day, zone)


def _is_on(day: str, moment: str, zone: tzinfo) -> bool:
    """Return whether a point in time is on a day; ``False`` for a text that is none."""
    try:
        return bool(moment) and shown_day(moment, zone) == day
    except (ValueError, OverflowError):
        return False
