"""The conditions of logins that plugins register."""

from collections.abc import Callable, Iterable

from strongroom.identity.sessions.login_conditions import LoginCondition
from strongroom.identity.sessions.pending_login import LoginTransaction

CheckTransaction = Callable[[LoginTransaction], None]
"""Accepts a login in its transaction, or raises an ``ApiError``."""


class RegisteredConditions(LoginCondition):
    """Calls the functions of plugins, each of which may refuse a login."""

    def __init__(self) -> None:
        self._checks: Iterable[CheckTransaction] = ()

    def check_by(self, checks: Iterable[CheckTransaction]) -> None:
        """Set the functions. They are read at each login."""
        self._checks = checks

    def in_transaction(self, transaction: LoginTransaction) -> None:
        for check in self._checks:
            check(transaction)
