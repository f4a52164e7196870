"""Limits failed logins by name and by address, and decides how their names are recorded."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import KW_ONLY, dataclass, field
from functools import partial
from typing import Final

from strongroom.foundation.addresses import network_of
from strongroom.foundation.database import Database
from strongroom.foundation.database.changes import Change, execute_together
from strongroom.foundation.errors import CaptchaRequired
from strongroom.foundation.limits.attempts import Attempts, Tally
from strongroom.foundation.limits.service import Subject
from strongroom.foundation.limits.turns import Turns
from strongroom.foundation.secret_keys import SecretKeys
from strongroom.identity.users.credentials import CredentialService

_BY_NAME: Final = "login-name"
_BY_ADDRESS: Final = "login-network"

WAIT_SECONDS: Final = 5.0
"""How long an attempt waits for the outcome of others."""

WINDOW: Final = 3_600_000
"""Milliseconds of the fixed window for counting failures per address."""


@dataclass(frozen=True, slots=True)
class Ticket:
    """A reserved attempt, which permits the evaluation of one password.

    Args:
        lease_end: when it no longer counts, in milliseconds since the Unix epoch.
    """

    name: str
    network: str
    lease_end: int = field(compare=False)

    @property
    def subjects(self) -> tuple[Subject, Subject]:
        """The subjects that the attempt counts for: the address, then the name."""
        return (_BY_ADDRESS, self.network), (_BY_NAME, self.name)


@dataclass(slots=True, eq=False, repr=False)
class LoginThrottle:
    """Allows a number of failures, then requires a captcha for each further attempt.

    An attempt is reserved before its password is evaluated, and only a failure is counted, so parallel
    attempts cannot exceed the limit. An attempt that would exceed it if all pending ones failed waits
    for their outcome. Each failure extends the lifetime of a name's count. The count of an address has a
    fixed window, so that an office behind one address regains its free failures while its users keep
    logging in.

    Args:
        free_failures: failures per name before a captcha is required.
        free_failures_per_address: failures per address, with any names, before a captcha is required.
        turns: lets attempts wait.
    """

    _database: Database
    _attempts: Attempts
    _turns: Turns
    _: KW_ONLY
    free_failures: int
    free_failures_per_address: int

    def begin(self, name: str, address: str) -> Ticket:
        """Reserve an attempt; wait for the outcome of others if it depends on them.

        Raises:
            CaptchaRequired: the attempt requires a captcha; nothing is reserved.
            Unavailable: too many attempts wait, or the others took too long.
        """
        ticket = self._new_ticket(name, address)
        self._attempts.settle_owed(self._database)
        blocker = self._reserve(ticket)
        if blocker is not None:
            self._turns.wait(blocker, partial(self._reserve, ticket), partial(self._check, ticket))
        return ticket

    def begin_solved(self, name: str, address: str) -> Ticket:
        """Reserve an attempt with a solved captcha, which replaces the limit."""
        ticket = self._new_ticket(name, address)
        with self._database.write(durable=False) as connection:
            self._attempts.reserve(connection, *ticket.subjects)
        return ticket

    def is_lost(self, ticket: Ticket) -> bool:
        """Return whether the lease of an attempt has ended, so that others may have taken its place.

        Its client must not learn the outcome, which must not be recorded either.
        """
        return self._attempts.is_over(ticket.lease_end)

    def success(self, ticket: Ticket) -> Change:
        """Return the change that ends an attempt and clears its name's failures."""
        return self._attempts.success(*ticket.subjects)

    def failure(self, ticket: Ticket) -> Change:
        """Return the change that ends an attempt and counts it."""
        return self._attempts.failure(*ticket.subjects)

    def undo(self, ticket: Ticket) -> Change:
        """Return the change that ends an attempt whose password was not evaluated."""
        return self._attempts.undo(*ticket.subjects)

    def owe(self, change: Change) -> None:
        """Let the next attempt in this process record an outcome whose transaction failed.

        Otherwise the attempt would stay pending, and block others of its name until its lease ends.
        """
        self._attempts.owe(change)

    def clear(self, names: Iterable[str]) -> list[Change]:
        """Return the changes that clear the failures of the names of one user."""
        # Sorted, so that two transactions lock the counters in the same order.
        return [self._attempts.clear((_BY_NAME, name)) for name in sorted(names)]

    def forgive(self, names: Iterable[str]) -> None:
        """Clear the failures of the names of one user."""
        with self._database.write(durable=False) as connection:
            execute_together(connection, self.clear(names))

    def _new_ticket(self, name: str, address: str) -> Ticket:
        # The lease in the database begins a little later.
        return Ticket(name, network_of(address), self._attempts.lease_end())

    def _reserve(self, ticket: Ticket) -> Subject | None:
        """Reserve an attempt, or return the subject whose pending attempts block it."""
        # Non-durable: an attacker cannot exploit counts lost in a power failure.
        with self._database.write(durable=False) as connection:
            by_address, by_name = self._attempts.reserve(connection, *ticket.subjects)
            blocker = self._decide(ticket, _others(by_address), _others(by_name))
            if blocker is not None:
                connection.rollback()
            return blocker

    def _check(self, ticket: Ticket) -> Subject | None:
        """Do as :meth:`_reserve`, without reserving the attempt."""
        with self._database.read() as connection:
            by_address, by_name = self._attempts.read(connection, *ticket.subjects)
        return self._decide(ticket, by_address, by_name)

    def _decide(self, ticket: Ticket, by_address: Tally, by_name: Tally) -> Subject | None:
        """Return the subject that blocks an attempt; the tallies are those of other attempts."""
        limits = (by_address, self.free_failures_per_address), (by_name, self.free_failures)
        if any(tally.failures >= limit for tally, limit in limits):
            raise CaptchaRequired
        blockers = (
            subject
            for subject, (tally, limit) in zip(ticket.subjects, limits, strict=True)
            if tally.failures + tally.pending >= limit
        )
        return next(blockers, None)


def _others(tally: Tally) -> Tally:
    """Return a tally without the attempt that was just reserved."""
    return Tally(tally.failures, tally.pending - 1)


_PURPOSE: Final = "login-name"
# 64 bits are enough to compare names.
_HASH_LENGTH: Final = 16


@dataclass(slots=True, eq=False, repr=False)
class AttemptedNames:
    """Login names as attackers and users typed them.

    Users sometimes type their password into the name field. So a text is recorded only if it has the
    form of an address, number or username, and cannot be a password of this server, which has an
    uppercase letter, a lowercase letter and a digit. For other texts a keyed hash is recorded, which
    shows whether attempts share a name.
    """

    _credentials: CredentialService
    _keys: SecretKeys

    def details(self, name: str) -> Mapping[str, str]:
        """Return the details of an audit event: ``name`` or ``nameHash``; empty without a name."""
        if not name:
            return {}
        credential = self._credentials.identify(name)
        if credential is not None and not _may_be_password(name):
            return {"name": credential.value}
        canonical = self._credentials.canonical_name(name)
        return {"nameHash": self._keys.hash(_PURPOSE, canonical)[:_HASH_LENGTH]}


def _may_be_password(text: str) -> bool:
    kinds: tuple[Callable[[str], bool], ...] = (str.isupper, str.islower, str.isdigit)
    return all(any(map(kind, text)) for kind in kinds)
