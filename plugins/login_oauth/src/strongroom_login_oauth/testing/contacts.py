"""The contract about contacts: only one that is proven and trusted leads to a user of the server.

Its people log in with contacts of a user, an administrator, and a suspended user. Then all of them leave
the platform, which must not suspend these users.
"""

import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count, product
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar, Final

import pytest

from strongroom.plugin_api.login import Credential, LoginMethod
from strongroom.plugin_api.web import ApiError
from strongroom.testing.state import OpenedPlugin, Run, opened_plugin
from strongroom_login_oauth.method import OAuthLogin
from strongroom_login_oauth.testing.harness import Harness, make_attempt, new_proof

UNPROVEN: Final = "unproven"
"""The platform does not say that the person has proven the contact; the operator trusts it."""

PROVEN: Final = "proven"
"""The platform says that the person has proven the contact; the operator does not trust it."""

TRUSTED: Final = "trusted"
"""The platform says that the person has proven the contact, and the operator trusts it."""

STATES: Final = (UNPROVEN, PROVEN, TRUSTED)

MAIN: Final = "main"
TRUSTING: Final = "trusting"

USER: Final = "user"
ADMIN: Final = "administrator"
SUSPENDED: Final = "suspended"
HOLDERS: Final = (USER, ADMIN, SUSPENDED)

_EMPTY: Final[Mapping[str, str]] = MappingProxyType({})
_NUMBERS: Final = count()


class PlatformContacts(ABC):
    """The people of a simulated platform, and their contacts."""

    method: type[LoginMethod[Any]]
    """The login method of the plugin."""

    plugin: str = ""
    """The name of the plugin in ``plugins.enabled``; empty for a one-file plugin."""

    file: Path | None = None
    """The module of a one-file plugin."""

    never: Mapping[str, str] = _EMPTY
    """The states that no contact of the platform can have, with the reasons."""

    names: tuple[str, str] = (MAIN, TRUSTING)
    """The providers of :meth:`options`; the operator trusts contacts of the second one."""

    @abstractmethod
    def options(self) -> Mapping[str, Any]:
        """Return the table ``[login.NAME]`` of the configuration, with the providers of :attr:`names`.

        Without an option that trusts contacts, both are the same.
        """

    @abstractmethod
    def join(self, person: str, state: str, number: int) -> Credential:
        """Let a person open an account with a contact, and return the contact.

        Args:
            state: one of :data:`STATES`. If it is among :attr:`never`, the platform comes as close to it
                as it can.
            number: 0 to 9999, different for each person; for :func:`make_mobile` and :func:`make_email`.
        """

    @abstractmethod
    def new_proof(self, login: Any, provider: str, person: str) -> dict[str, str]:
        """Let a person confirm a login at a provider; return its proof."""

    def leave(self, person: str) -> bool:  # noqa: ARG002  for overriding
        """Let a person leave the organisation, and return whether the plugin has a job that finds it."""
        return False


class OAuthContacts(PlatformContacts):
    """The contacts of a harness.

    Args:
        harness: its :meth:`Harness.approve` knows the people of :meth:`join`.
    """

    trust: Mapping[str, Any] = _EMPTY
    """The options of a provider whose contacts the operator trusts."""

    user_agent: ClassVar[str] = ""
    """The browser in which the platform states contacts."""

    def __init__(self, harness: Harness) -> None:
        self.harness = harness
        self.method, self.plugin = harness.method, harness.plugin
        self.file = next(iter(harness.files), None)

    def options(self) -> Mapping[str, Any]:
        table = self.harness.options(lambda url: url)
        main, trusting = self.names
        for key, sections in table.items():
            if isinstance(sections, Mapping):
                (section,) = sections.values()
                return {**table, key: {main: section, trusting: {**section, **self.trust}}}
        # A method with one provider only, which has no section of its own.
        return table

    def new_proof(self, login: OAuthLogin[Any], provider: str, person: str) -> dict[str, str]:
        return new_proof(
            self.harness, login, provider=provider, person=person, user_agent=self.user_agent
        )


def make_mobile(number: int) -> Credential:
    """Return the mobile number of a person, in E.164."""
    return Credential("mobile", f"+861380000{number:04}")


def make_email(number: int) -> Credential:
    """Return the e-mail address of a person."""
    return Credential("email", f"person{number}@example.com")


@contextmanager
def opened_platform(
    folder: Path, *platforms: PlatformContacts, database_url: str | None = None
) -> Iterator[OpenedPlugin]:
    """Load the plugin of platforms.

    Args:
        folder: an empty folder.
        platforms: the platforms of one plugin; their providers have different names.
    """
    first, *_ = platforms
    name = first.method.name
    server = {"data_dir": str(folder / "data"), "public_url": "http://127.0.0.1:8000"}
    login = {"methods": ["password", name], name: _merged([one.options() for one in platforms])}
    plugin, settings = first.plugin or name, {"server": server, "login": login}
    with opened_plugin(
        folder, plugin, file=first.file, settings=settings, database_url=database_url
    ) as opened:
        # A platform has the time of this machine.
        opened.clock.advance(int(time.time() * 1000) - opened.clock.now())
        yield opened


def _merged(tables: list[Mapping[str, Any]]) -> dict[str, Any]:
    merged: dict[str, Any] = {}
    for table in tables:
        for key, value in table.items():
            merged[key] = {**merged.get(key, {}), **value} if isinstance(value, Mapping) else value
    return merged


@dataclass(frozen=True, slots=True)
class _Case:
    """A person of the platform whose contact a user of the server has verified.

    Args:
        outcome: the id of the logged-in user, or the code of the refusal.
    """

    state: str
    holder: str
    person: str
    holder_id: str
    contact: Credential
    outcome: str


class ContactsContract:
    """Requires the fixture ``contacts`` with the scope ``class`` or ``module``."""

    @pytest.fixture(scope="class")
    @classmethod
    def opened(
        cls, tmp_path_factory: pytest.TempPathFactory, contacts: PlatformContacts
    ) -> Iterator[OpenedPlugin]:
        """The plugin, with the services of a server."""
        with opened_platform(tmp_path_factory.mktemp("opened"), contacts) as opened:
            yield opened

    def test_only_trusted_contacts_lead_to_users(
        self, contacts: PlatformContacts, opened: OpenedPlugin
    ) -> None:
        root = opened.create_user("Root", admin=True)
        table = product(STATES, HOLDERS)
        cases = [_log_in(contacts, opened, root, state, holder) for state, holder in table]
        for case in cases:
            self.require_outcome(contacts, opened, case)
        _leave(contacts, opened, cases)
        for case in cases:
            expected = SUSPENDED if case.holder == SUSPENDED else "active"
            assert _status(opened, root, case.holder_id) == expected, case
            if _is_new(case):
                assert _status(opened, root, case.outcome) == SUSPENDED, case

    def require_outcome(self, contacts: PlatformContacts, opened: OpenedPlugin, case: _Case) -> None:
        """Require that only a trusted contact has led to a user, and to no administrator."""
        held = opened.credentials(case.holder_id)
        if case.state == TRUSTED and TRUSTED not in contacts.never:
            refusals = {ADMIN: "error.credential-conflict", SUSPENDED: "error.user-suspended"}
            assert case.outcome == refusals.get(case.holder, case.holder_id), case
            assert (len(held) > 1) is (case.holder == USER), case
            return
        assert _is_new(case), case
        assert held == [case.contact], case
        kinds = [credential.kind for credential in opened.credentials(case.outcome)]
        assert not {"email", "mobile"} & set(kinds), case


def _log_in(
    contacts: PlatformContacts, opened: OpenedPlugin, root: str, state: str, holder: str
) -> _Case:
    person = f"{state}-{holder}"
    contact = contacts.join(person, state, next(_NUMBERS))
    holder_id = opened.create_user(holder, admin=holder == ADMIN, contact=contact)
    if holder == SUSPENDED:
        with opened.host.acting_as(root):
            opened.host.users.suspend(holder_id)
    login = opened.host.extension(contacts.method)
    proof = contacts.new_proof(login, contacts.names[state != PROVEN], person)
    try:
        outcome = opened.log_in(make_attempt(contacts.method.name, proof))
    except ApiError as error:
        outcome = error.code
    return _Case(state, holder, person, holder_id, contact, outcome)


def _is_new(case: _Case) -> bool:
    """Return whether the login has made a user."""
    return case.outcome != case.holder_id and not case.outcome.startswith("error.")


def _leave(contacts: PlatformContacts, opened: OpenedPlugin, cases: list[_Case]) -> None:
    """Let all people leave; without a job of the plugin, suspend as such a job does."""
    have_job = [contacts.leave(case.person) for case in cases]
    if all(have_job):
        for job in opened.jobs.values():
            job.run(Run())
        return
    for case in cases:
        user_id = case.outcome if _is_new(case) else case.holder_id
        for credential in opened.credentials(user_id):
            if credential != case.contact:
                opened.host.logins.suspend(credential, reason="left")


def _status(opened: OpenedPlugin, root: str, user_id: str) -> str:
    with opened.host.acting_as(root):
        return str(opened.host.users.get(user_id).status)
