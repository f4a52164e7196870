"""The time zone of a page: its browser's, or else the one that the user has chosen."""

from datetime import tzinfo
from typing import Final, Protocol

from werkzeug.http import parse_cookie

from strongroom.plugin_api.times import UTC_ZONE, find_zone
from strongroom.web.http.request import current_environ, get_service
from strongroom.web.pages.browsers import Browsers

ZONE_COOKIE: Final = "timezone"
"""The cookie with the zone of the browser, which the script ``zone.js`` of all pages sets.

It is no secret, so scripts may write it; any other value than the name of a zone is ignored.
"""


_ZONE: Final = "strongroom.zone"


class ZoneStore(Protocol):
    """Stores the time zones of users."""

    def note_zone(self, user_id: str, zone: str) -> None:
        """Store the zone of a user who has chosen none."""


def page_zone() -> tzinfo:
    """Return the zone of the times on a page; UTC if neither the browser nor the user has named one."""
    environ = current_environ()
    zone: tzinfo | None = environ.get(_ZONE)
    if zone is None:
        zone = browser_zone() or find_zone(_zone_of_user()) or UTC_ZONE
        environ[_ZONE] = zone
    return zone


def browser_zone() -> tzinfo | None:
    """Return the zone that the browser has named, if any."""
    return find_zone(parse_cookie(current_environ().get("HTTP_COOKIE")).get(ZONE_COOKIE))


def _zone_of_user() -> str | None:
    session = get_service(Browsers).current().session
    return None if session is None else session.zone
