"""The ends of permissions and links, which forms have as days in the zone of the person."""

from datetime import tzinfo

from flask import request

from strongroom.plugin_api.times import end_of_day, find_zone, shown_day
from strongroom.plugin_api.visits import current_visit


def requested_end() -> str | None:
    """Return the end that a form has: the end of a day in the zone that the form was shown in.

    A day that the user has not changed keeps its time. Other texts are returned as they are, and the
    REST API refuses them.
    """
    day, before = request.form.get("until", "").strip(), request.form.get("end", "")
    if not day:
        return None
    zone = zone_of_form()
    return before if _is_on(day, before, zone) else end_of_day(day, zone)


def zone_of_form() -> tzinfo:
    """Return the zone in which a page has shown its form: the browser may name another one since."""
    return find_zone(request.form.get("zone")) or current_visit().host.browser.zone


def _is_on(day: str, moment: str, zone: tzinfo) -> bool:
    """Return whether a point in time is on a day; ``False`` for a text that is none."""
    try:
        return bool(moment) and shown_day(moment, zone) == day
    except (ValueError, OverflowError):
        return False
