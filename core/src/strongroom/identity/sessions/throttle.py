"""Limits failed logins by name and by address, and decides how their names are recorded."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import KW_ONLY, dataclass, field
from functools import partial
from typing import Final

from strongroom.foundation.addresses import get_network
from strongroom.foundation.database import Database
from strongroom.foundation.database.changes import Change, execute_together
from strongroom.foundation.errors import CaptchaRequired
from strongroom.foundation.limits.attempts import Attempts, SubjectPair, Tally
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
        pair: what the attempt counts for: the network of the address, and the name.
        lease_end: when it no longer counts, in milliseconds since the Unix epoch.
    """

    pair: SubjectPair
    lease_end: int = field(compare=False)


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
            self._attempts.reserve(connection, ticket.pair)
        return ticket

    def is_lost(self, ticket: Ticket) -> bool:
        """Return whether the lease of an attempt has ended, so that others may have taken its place.

        Its client must not learn the outcome, which must not be recorded either.
        """
        return self._attempts.is_over(ticket.lease_end)

    def success(self, ticket: Ticket) -> Change:
        """Return the change that ends an attempt and clears its name's failures."""
        return self._attempts.success(ticket.pair)

    def failure(self, ticket: Ticket) -> Change:
        """Return the change that ends an attempt and counts it."""
        return self._attempts.failure(ticket.pair)

    def undo(self, ticket: Ticket) -> Change:
        """Return the change that ends an attempt whose password was not evaluated."""
        return self._attempts.undo(ticket.pair)

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
        pair = self._attempts.pair((_BY_ADDRESS, get_network(address)), (_BY_NAME, name))
        # The lease in the database begins a little later.
        return Ticket(pair, self._attempts.lease_end())

    def _reserve(self, ticket: Ticket) -> str | None:
        """Reserve an attempt, or return the key of the subject whose pending attempts block it."""
        # Non-durable: an attacker cannot exploit counts lost in a power failure.
        with self._database.write(durable=False) as connection:
            by_address, by_name = self._attempts.reserve(connection, ticket.pair)
            blocker = self._decide(ticket, by_address, by_name, reserved=1)
            if blocker is not None:
                connection.rollback()
            return blocker

    def _check(self, ticket: Ticket) -> str | None:
        """Do as :meth:`_reserve`, without reserving the attempt."""
        with self._database.read() as connection:
            by_address, by_name = self._attempts.read(connection, ticket.pair)
        return self._decide(ticket, by_address, by_name, reserved=0)

    def _decide(self, ticket: Ticket, by_address: Tally, by_name: Tally, *, reserved: int) -> str | None:
        """Return the key of the subject that blocks an attempt.

        Args:
            reserved: 1 if the tallies include the attempt itself, 0 if they do not.
        """
        limits = (
            (ticket.pair.fixed, by_address, self.free_failures_per_address),
            (ticket.pair.extended, by_name, self.free_failures),
        )
        for _, tally, limit in limits:
            if tally.failures >= limit:
                raise CaptchaRequired
        for key, tally, limit in limits:
            if tally.failures + tally.pending - reserved >= limit:
                return key
        return None


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
