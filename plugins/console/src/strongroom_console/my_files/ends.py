"""The ends of permissions and links, which forms have as days."""

from flask import request

END_OF_DAY = "T23:59:59Z"


def requested_end() -> str | None:
    """Return the end that a form has: the end of a day in UTC.

    A day that the user has not changed keeps its time. Other texts are returned as they are, and the
    REST API refuses them.
    """
    day, before = request.form.get("until", "").strip(), request.form.get("end", "")
    if not day:
        return None
    return before if before[:10] == day else f"{day}{END_OF_DAY}"
