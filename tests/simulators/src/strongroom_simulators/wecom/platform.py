"""State of the platform, and the actions of people and administrators."""

from collections import Counter
from collections.abc import Collection

from strongroom_simulators.clock import AdjustableClock
from strongroom_simulators.wecom.codes import BASE, Codes, Tickets
from strongroom_simulators.wecom.failures import Failures
from strongroom_simulators.wecom.refusals import (
    INVALID_CORPID,
    INVALID_SECRET,
    NO_PRIVILEGE,
    NO_SUCH_MEMBER,
    Refusal,
)
from strongroom_simulators.wecom.registry import Person, PlatformApp, Status
from strongroom_simulators.wecom.tokens import AppTokens


class Platform:
    """The platform's state.

    Args:
        clock: the clock, which tests can advance.
    """

    def __init__(self, clock: AdjustableClock | None = None) -> None:
        self.clock = clock or AdjustableClock()
        self.apps: list[PlatformApp] = []
        self.people: dict[str, Person] = {}
        self.codes = Codes(self.clock)
        self.tickets = Tickets(self.clock)
        self.tokens = AppTokens(self.clock)
        self.failures = Failures()
        self.requests: Counter[str] = Counter()

    def add_app(self, app: PlatformApp) -> None:
        """Register an app."""
        self.apps.append(app)

    def add_person(self, person: Person) -> None:
        """Add a person."""
        self.people[person.id] = person

    def app(self, corpid: str, agentid: str | None = None) -> PlatformApp | None:
        """Return an app of a corporation; without an ``agentid`` any of them, as the platform does."""
        return next(
            (app for app in self.apps if app.corpid == corpid and agentid in (None, str(app.agentid))),
            None,
        )

    def authenticate(self, corpid: str, secret: str) -> PlatformApp:
        """Return the app with the secret.

        Raises:
            Refusal: the corporation does not exist, or none of its apps has the secret.
        """
        apps = [app for app in self.apps if app.corpid == corpid]
        if not apps:
            raise Refusal(INVALID_CORPID)
        for app in apps:
            if app.secret == secret:
                return app
        raise Refusal(INVALID_SECRET)

    def confirm(self, app: PlatformApp, person: str, scope: str = BASE) -> str:
        """Simulate a person who confirms the login in an app; return the code."""
        return self.codes.issue(app, self.people[person], scope)

    def member(self, app: PlatformApp, userid: str) -> Person:
        """Return a member of the app's corporation by the id, whose case is ignored.

        Raises:
            Refusal: there is no such member, or the app is not visible to the member.
        """
        for person in self.people.values():
            if app.is_member(person) and (person.userid or "").lower() == userid.lower():
                if not app.is_visible_to(person):
                    raise Refusal(NO_PRIVILEGE)
                return person
        raise Refusal(NO_SUCH_MEMBER)

    def trust(self, addresses: Collection[str] | None) -> None:
        """Set the trusted addresses of all apps; ``None``: each address is trusted."""
        for app in self.apps:
            app.trusted_addresses = None if addresses is None else frozenset(addresses)

    def remove(self, person: str) -> None:
        """Remove a member from the contacts, who remains an outsider."""
        self.people[person].userid = self.people[person].corpid = None

    def set_status(self, person: str, status: Status) -> None:
        """Disable a member, let a member leave, or activate a member again."""
        self.people[person].status = status
