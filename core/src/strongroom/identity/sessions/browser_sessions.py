"""Sessions of browsers: a browser has one login at most, and beginning another one ends it."""

from strongroom.foundation.caller import Origin
from strongroom.identity.sessions.service import AuthorizationService
from strongroom.web.http.browsers import BrowserVisit


class BrowserSessions:
    """Begins and ends the sessions of browsers."""

    def __init__(self, logins: AuthorizationService) -> None:
        self._logins = logins

    def begin(self, visit: BrowserVisit, access_token: str, origin: Origin) -> None:
        """Begin the session of a login.

        Raises:
            TokenInvalid: the login has ended.
        """
        authorization_id = self._logins.caller(access_token, None).authorization_id
        self.end(visit, origin)
        visit.begin(authorization_id, access_token)

    def end(self, visit: BrowserVisit, origin: Origin) -> None:
        """End the session of a browser, and its login."""
        if visit.authorization_id is not None:
            self._logins.log_out(visit.authorization_id, origin)
        visit.begin()
