"""Counts failed logins, by name and by address, and says when a captcha is due."""

from dataclasses import dataclass
from typing import Final

from sqlalchemy import Connection

from strongroom.database import Database
from strongroom.limits.service import Counters

_BY_NAME: Final = "login-name"
_BY_ADDRESS: Final = "login-address"


@dataclass(frozen=True, slots=True)
class Ticket:
    """The permission to evaluate one password."""

    name: str
    address: str


class LoginThrottle:
    """Lets a number of failures pass, then wants a captcha for each further attempt.

    An attempt is counted before its password is looked at, and given back if it succeeds, so that
    any number of attempts at once are not evaluated more often than one after the other.

    Args:
        database: where counts are kept.
        counters: what counts.
        free_failures: how many failures go without a captcha.
        lifetime: milliseconds for which a failure counts.
    """

    def __init__(
        self, database: Database, counters: Counters, *, free_failures: int, lifetime: int
    ) -> None:
        self._database = database
        self._counters = counters
        self._free_failures = free_failures
        self._lifetime = lifetime

    def admit(self, name: str, address: str) -> Ticket | None:
        """Count an attempt; or, when a captcha is due, count nothing and return ``None``."""
        # No attacker can make the power fail, so that its counts need not outlast that.
        with self._database.write(durable=False) as connection:
            if self._count(connection, name, address) <= self._free_failures:
                return Ticket(name, address)
            connection.rollback()
            return None

    def admit_solved(self, name: str, address: str) -> Ticket:
        """Count an attempt that comes with a captcha that was solved."""
        with self._database.write(durable=False) as connection:
            self._count(connection, name, address)
        return Ticket(name, address)

    def succeed(self, connection: Connection, ticket: Ticket) -> None:
        """Forget the failures of the name, and this attempt at the address."""
        # In the order of _count(), so that no two transactions can wait for each other.
        self._counters.take_back(connection, _BY_ADDRESS, ticket.address)
        self._counters.reset(connection, _BY_NAME, ticket.name)

    def _count(self, connection: Connection, name: str, address: str) -> int:
        # The order of succeed(), too.
        by_address = self._counters.add(connection, _BY_ADDRESS, address, lifetime=self._lifetime)
        by_name = self._counters.add(connection, _BY_NAME, name, lifetime=self._lifetime)
        return max(by_address, by_name)
