"""Limits failed logins by name and by address, and decides how their names are recorded."""

from collections.abc import Callable, Iterable, Mapping
from typing import Final

from sqlalchemy import Connection

from strongroom.addresses import network_of
from strongroom.database import Database
from strongroom.database.changes import Change
from strongroom.dataclasses import dataclass
from strongroom.limits.service import Counters
from strongroom.secret_keys import SecretKeys
from strongroom.users.credentials import CredentialService

_BY_NAME: Final = "login-name"
_BY_ADDRESS: Final = "login-network"

WINDOW: Final = 3_600_000
"""Milliseconds of the fixed window for counting failures per address."""


@dataclass(frozen=True, slots=True)
class Ticket:
    """A counted attempt, which permits the evaluation of one password."""

    name: str
    network: str


class LoginThrottle:
    """Allows a number of failures, then requires a captcha for each further attempt.

    An attempt is counted before its password is evaluated, and the count is undone if it succeeds, so
    parallel attempts cannot exceed the limit. Each failure extends the lifetime of a name's count. The
    count of an address has a fixed window, so that an office behind one address regains its free
    failures while its users keep logging in.

    Args:
        free_failures: failures per name before a captcha is required.
        free_failures_per_address: failures per address, with any names, before a captcha is required.
        lifetime: milliseconds after the last failure until a name's count expires.
    """

    def __init__(
        self,
        database: Database,
        counters: Counters,
        *,
        free_failures: int,
        free_failures_per_address: int,
        lifetime: int,
    ) -> None:
        self._database = database
        self._counters = counters
        self._free_failures = free_failures
        self._free_failures_per_address = free_failures_per_address
        self._lifetime = lifetime

    def admit(self, name: str, address: str) -> Ticket | None:
        """Count an attempt; if it requires a captcha, count nothing and return ``None``."""
        ticket = Ticket(name, network_of(address))
        # Non-durable: an attacker cannot exploit counts lost in a power failure.
        with self._database.write(durable=False) as connection:
            if self._count(connection, ticket):
                return ticket
            # Undo the count, so that attempts that were not evaluated do not prolong the throttling.
            connection.rollback()
            return None

    def admit_solved(self, name: str, address: str) -> Ticket:
        """Count an attempt with a solved captcha."""
        ticket = Ticket(name, network_of(address))
        with self._database.write(durable=False) as connection:
            # The captcha replaces the limit, but a wrong password still counts for the next attempt.
            self._count(connection, ticket)
        return ticket

    def undo(self, ticket: Ticket) -> None:
        """Undo the count of an attempt whose password was not evaluated."""
        with self._database.write(durable=False) as connection:
            self._counters.take_back(connection, _BY_ADDRESS, ticket.network)
            self._counters.take_back(connection, _BY_NAME, ticket.name)

    def success_change(self, ticket: Ticket) -> Change:
        """Return the change that clears a name's failures, and subtracts this attempt of its address."""
        return self._counters.clear_pair_change((_BY_ADDRESS, ticket.network), (_BY_NAME, ticket.name))

    def forgive(self, names: Iterable[str]) -> None:
        """Clear the failures of the names of one user."""
        with self._database.write(durable=False) as connection:
            # Sorted, so that two transactions lock the counters in the same order.
            for name in sorted(names):
                self._counters.reset(connection, _BY_NAME, name)

    def _count(self, connection: Connection, ticket: Ticket) -> bool:
        """Count an attempt and return whether it needs no captcha."""
        # One statement locks both rows in the same order everywhere, so logins cannot deadlock.
        by_address, by_name = self._counters.add_pair(
            connection,
            (_BY_ADDRESS, ticket.network),
            (_BY_NAME, ticket.name),
            window=WINDOW,
            lifetime=self._lifetime,
        )
        return by_name <= self._free_failures and by_address <= self._free_failures_per_address


_PURPOSE: Final = "login-name"
# 64 bits are enough to compare names.
_HASH_LENGTH: Final = 16


class AttemptedNames:
    """Login names as attackers and users typed them.

    Users sometimes type their password into the name field. So a text is recorded only if it has the
    form of an address, number or username, and cannot be a password of this server, which has an
    uppercase letter, a lowercase letter and a digit. For other texts a keyed hash is recorded, which
    shows whether attempts share a name.
    """

    def __init__(self, credentials: CredentialService, keys: SecretKeys) -> None:
        self._credentials = credentials
        self._keys = keys

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
