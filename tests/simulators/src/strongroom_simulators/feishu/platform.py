"""State of the platform, and the actions of people."""

from collections import Counter
from typing import Final

from strongroom_simulators.clock import AdjustableClock
from strongroom_simulators.feishu.codes import Challenge, Codes
from strongroom_simulators.feishu.refusals import (
    APP_DISABLED,
    INVALID_SECRET,
    RATE_LIMITED,
    UNKNOWN_APP,
    Refusal,
    TokenRefusal,
)
from strongroom_simulators.feishu.registry import Person, PlatformApp, Status
from strongroom_simulators.feishu.tokens import AppTokens, UserTokens
from strongroom_simulators.limits import Limit
from strongroom_simulators.planned import PlannedAnswers

MAINLAND: Final = "cn"
GLOBAL: Final = "global"
"""The region of Lark, which has no version 3 of the token endpoint."""

REQUESTS_A_MINUTE: Final = 1000


class Platform:
    """The platform's state.

    Args:
        clock: the clock, which tests can advance.
        region: ``cn`` for Feishu, ``global`` for Lark.
    """

    def __init__(self, clock: AdjustableClock | None = None, *, region: str = MAINLAND) -> None:
        self.clock = clock or AdjustableClock()
        self.region = region
        self.apps: dict[str, PlatformApp] = {}
        self.people: dict[str, Person] = {}
        self.codes = Codes(self.clock)
        self.user_tokens = UserTokens(self.clock)
        self.app_tokens = AppTokens(self.clock)
        self.limit = Limit(REQUESTS_A_MINUTE, 60, lambda: Refusal(RATE_LIMITED), self.clock)
        self.failures = PlannedAnswers()
        self.requests: Counter[str] = Counter()

    def add_app(self, app: PlatformApp) -> None:
        """Register an app."""
        self.apps[app.app_id] = app

    def add_person(self, person: Person) -> None:
        """Add a person with an account."""
        self.people[person.id] = person

    def leave(self, person: str, status: Status = Status.RESIGNED) -> None:
        """Change the state of a person in the company."""
        self.people[person].status = status

    def authenticate(self, app_id: str, secret: str) -> PlatformApp:
        """Return the app if the secret is right.

        Raises:
            TokenRefusal: the app does not exist or is not enabled, or its secret is wrong.
        """
        app = self.apps.get(app_id)
        if app is None:
            raise TokenRefusal(UNKNOWN_APP)
        if secret != app.app_secret:
            raise TokenRefusal(INVALID_SECRET)
        if not app.is_enabled:
            raise TokenRefusal(APP_DISABLED)
        return app

    def may_use(self, app: PlatformApp, person: Person) -> bool:
        """Return whether a person may use an app."""
        is_accepted = app.is_shared or person.tenant == app.tenant
        return is_accepted and person.may_use and person.status is Status.ACTIVE

    def authorize(
        self,
        app_id: str,
        person: str,
        *,
        redirect_uri: str,
        scope: str = "",
        challenge: Challenge | None = None,
    ) -> str:
        """Simulate a person who confirms a login; return the code."""
        app = self.apps[app_id]
        return self.codes.issue(
            app, self.people[person], redirect_uri=redirect_uri, scope=scope, challenge=challenge
        )
