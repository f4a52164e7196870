"""State of the platform, and the actions of people on their phones."""

from collections import Counter
from functools import partial

from strongroom_simulators.clock import AdjustableClock
from strongroom_simulators.limits import Limit
from strongroom_simulators.wechat.codes import LOGIN, PHONE, SCAN, Codes
from strongroom_simulators.wechat.failures import Failures
from strongroom_simulators.wechat.refusals import (
    INVALID_APPID,
    INVALID_SECRET,
    MINUTE_LIMIT,
    Refusal,
)
from strongroom_simulators.wechat.registry import MINI_PROGRAM, WEBSITE, Person, PlatformApp
from strongroom_simulators.wechat.tokens import AppTokens, PersonTokens
from strongroom_simulators.wechat.user_data import new_session_key, user_data

LOGINS_A_MINUTE = 100


class Platform:
    """The platform's state.

    Args:
        clock: the clock, which tests can advance.
        denial_redirects: whether WeChat redirects the browser after a denial, as older guides say,
            or not, as a newer one says.
    """

    def __init__(self, clock: AdjustableClock | None = None, *, denial_redirects: bool = True) -> None:
        self.clock = clock or AdjustableClock()
        self.denial_redirects = denial_redirects
        self.apps: dict[str, PlatformApp] = {}
        self.people: dict[str, Person] = {}
        self.codes = Codes(self.clock)
        self.person_tokens = PersonTokens(self.clock)
        self.app_tokens = AppTokens(self.clock)
        self.logins = Limit(LOGINS_A_MINUTE, 60, partial(Refusal, MINUTE_LIMIT), self.clock)
        self.failures = Failures()
        self.requests: Counter[str] = Counter()
        self._session_keys: dict[tuple[str, str], str] = {}

    def add_app(self, app: PlatformApp) -> None:
        """Register an app."""
        self.apps[app.appid] = app

    def add_person(self, person: Person) -> None:
        """Add a person with a WeChat account."""
        self.people[person.id] = person

    def app(self, appid: str, *, kind: str | None = None) -> PlatformApp:
        """Return an app.

        Raises:
            Refusal: the app does not exist or is of another kind.
        """
        app = self.apps.get(appid)
        if app is None or kind not in (None, app.kind):
            raise Refusal(INVALID_APPID)
        return app

    def authenticate(self, appid: str, secret: str, *, kind: str | None = None) -> PlatformApp:
        """Return the app if the secret is right.

        Raises:
            Refusal: the app does not exist, or its secret is wrong.
        """
        app = self.app(appid, kind=kind)
        if secret != app.secret:
            raise Refusal(INVALID_SECRET)
        return app

    def scan(self, appid: str, person: str) -> str:
        """Simulate a person who scans a website's QR code and confirms; return the code."""
        return self.codes.issue(SCAN, self.app(appid, kind=WEBSITE), self.people[person])

    def log_in(self, appid: str, person: str) -> str:
        """Simulate ``wx.login`` in a mini program, which ends an older session; return the code."""
        app = self.app(appid, kind=MINI_PROGRAM)
        self._session_keys[appid, person] = new_session_key()
        return self.codes.issue(LOGIN, app, self.people[person])

    def give_phone_number(self, appid: str, person: str) -> str:
        """Simulate a person who allows a mini program to get the phone number; return the code."""
        return self.codes.issue(PHONE, self.app(appid, kind=MINI_PROGRAM), self.people[person])

    def give_user_data(self, appid: str, person: str) -> dict[str, str]:
        """Return the result of ``wx.getUserInfo`` in a mini program after ``wx.login``."""
        app = self.app(appid, kind=MINI_PROGRAM)
        return user_data(app, self.people[person], self.session_key(appid, person), self.clock())

    def session_key(self, appid: str, person: str) -> str:
        """Return the key of the person's newest session."""
        return self._session_keys[appid, person]
