"""State of the platform, and the actions of people on their phones."""

from collections import Counter
from functools import partial
from typing import Final

from strongroom_simulators.clock import AdjustableClock
from strongroom_simulators.dingtalk.codes import Codes
from strongroom_simulators.dingtalk.failures import Failures
from strongroom_simulators.dingtalk.refusals import (
    BAD_SECRET,
    OLD_TOO_OFTEN,
    TOO_OFTEN,
    NewRefusal,
    OldRefusal,
)
from strongroom_simulators.dingtalk.registry import Company, Person, PlatformApp
from strongroom_simulators.dingtalk.tokens import AppTokens, PersonTokens
from strongroom_simulators.limits import Limit

CALLS_A_SECOND: Final = 20
"""The limit of the standard edition, for each app and interface."""


class Platform:
    """The platform's state.

    Args:
        clock: the clock, which tests can advance.
        repeats_code: whether redirects have the code as ``code``, too, and not only as ``authCode``.
        calls_a_second: the limit for each app and interface.
    """

    def __init__(
        self,
        clock: AdjustableClock | None = None,
        *,
        repeats_code: bool = False,
        calls_a_second: int = CALLS_A_SECOND,
    ) -> None:
        self.clock = clock or AdjustableClock()
        self.repeats_code = repeats_code
        self.apps: dict[str, PlatformApp] = {}
        self.companies: dict[str, Company] = {}
        self.people: dict[str, Person] = {}
        self.codes = Codes(self.clock)
        self.in_app_codes = Codes(self.clock)
        self.person_tokens = PersonTokens(self.clock)
        self.app_tokens = AppTokens(self.clock)
        self.new_calls = Limit(calls_a_second, 1, partial(NewRefusal, TOO_OFTEN), self.clock)
        self.old_calls = Limit(calls_a_second, 1, partial(OldRefusal, OLD_TOO_OFTEN), self.clock)
        self.failures = Failures()
        self.requests: Counter[str] = Counter()

    def add_app(self, app: PlatformApp) -> None:
        """Register an app."""
        self.apps[app.client_id] = app

    def add_company(self, company: Company) -> None:
        """Add an organisation."""
        self.companies[company.corp_id] = company

    def add_person(self, person: Person) -> None:
        """Add a person with an account."""
        self.people[person.id] = person

    def authenticate(self, client_id: object, client_secret: object) -> PlatformApp:
        """Return the app if the secret is right.

        Raises:
            NewRefusal: the app does not exist, or its secret is wrong.
        """
        app = self.apps.get(str(client_id))
        if app is None or client_secret != app.client_secret:
            raise NewRefusal(BAD_SECRET)
        return app

    def company(self, app: PlatformApp) -> Company:
        """Return the company of an app."""
        return self.companies[app.corp_id]

    def companies_of(self, person: str) -> list[Company]:
        """Return the companies that a person is a member of."""
        return [company for company in self.companies.values() if person in company.members]

    def confirm(self, client_id: str, person: str, *, corp_id: str | None = None) -> str:
        """Simulate a person who confirms a login in a browser; return the code."""
        return self.codes.issue(self.apps[client_id], self.people[person], corp_id)

    def open_app(self, client_id: str, person: str) -> str:
        """Simulate ``dd.getAuthCode`` in a page that a member opens in DingTalk; return the code."""
        app = self.apps[client_id]
        if person not in self.company(app).members:
            raise LookupError(f"{person} is no member of the company of {client_id}")
        return self.in_app_codes.issue(app, self.people[person])

    def leave(self, corp_id: str, person: str) -> None:
        """Simulate a member who leaves a company."""
        del self.companies[corp_id].members[person]

    def join(self, corp_id: str, person: str) -> None:
        """Simulate a person who joins a company."""
        self.companies[corp_id].members[person] = f"{person}-{len(self.companies[corp_id].members)}"
