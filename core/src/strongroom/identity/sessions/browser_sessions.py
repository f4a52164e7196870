"""Sessions of browsers: a browser has one login at most, and beginning another one ends it."""

from dataclasses import dataclass

from strongroom.foundation.caller import Origin
from strongroom.foundation.errors import StepUpRequired, TokenInvalid
from strongroom.identity.sessions.service import AuthorizationService
from strongroom.plugin_api.times import zone_name
from strongroom.web.http.request import get_service
from strongroom.web.pages.browsers import BrowserVisit
from strongroom.web.pages.page_zones import ZoneStore, browser_zone


@dataclass(slots=True, eq=False, repr=False)
class BrowserSessions:
    """Begins and ends the sessions of browsers."""

    _logins: AuthorizationService

    def begin(self, visit: BrowserVisit, access_token: str, origin: Origin) -> None:
        """Begin the session of a login.

        Raises:
            TokenInvalid: the login has ended.
        """
        login = self._logins.caller(access_token, None)
        self.end(visit, origin)
        visit.begin(login.authorization_id, access_token)
        if (zone := browser_zone()) is not None:
            # Messages to the user have times of this zone.
            get_service(ZoneStore).note_zone(login.user_id, zone_name(zone))

    def begin_impersonation(self, visit: BrowserVisit, access_token: str) -> None:
        """Continue the session with an impersonation that its user has begun.

        Raises:
            TokenInvalid: the token is none of an impersonation by the user of the session.
        """
        own_id = visit.authorization_id
        login = self._logins.read(self._logins.caller(access_token, None).authorization_id)
        if own_id is None or login.actor_id != self._logins.read(own_id).user_id:
            raise TokenInvalid
        visit.begin(login.id, access_token, own_id)

    def end_impersonation(self, visit: BrowserVisit, origin: Origin) -> None:
        """End the impersonation of a session, which returns to the login of the administrator.

        It returns to none if that login has ended, too.
        """
        own_id = visit.state.own_authorization_id
        if own_id is None:
            return
        if visit.authorization_id is not None:
            self._logins.log_out(visit.authorization_id, origin)
        try:
            visit.begin(own_id, self._logins.renew(own_id, origin).access_token)
        except (TokenInvalid, StepUpRequired):
            visit.begin()

    def end(self, visit: BrowserVisit, origin: Origin) -> None:
        """End the session of a browser with its login, and with the one that impersonates."""
        for authorization_id in (visit.authorization_id, visit.state.own_authorization_id):
            if authorization_id is not None:
                self._logins.log_out(authorization_id, origin)
        visit.begin()
