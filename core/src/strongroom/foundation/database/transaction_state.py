"""Values of one writing transaction, and what follows its commit."""

import logging
from collections.abc import Callable, Set
from typing import Any, Final

from sqlalchemy import Connection

logger = logging.getLogger(__name__)

_STATE: Final = "strongroom_transaction"

Work = Callable[[Connection, Set[str]], None]
"""Called right before the commit, with the keys of all its calls in the transaction."""

Deferred = dict[Work, set[str]]


class TransactionState:
    """What the functions of one transaction share.

    Args:
        values: by the name of the module that owns them.
        topics: what listeners are notified of after the commit.
        deferred: work right before the commit, with its keys.
        actions: run after the commit, in this order; ``None``: the transaction has none.
    """

    __slots__ = ("actions", "deferred", "topics", "values")

    def __init__(self, *, accepts_actions: bool = False) -> None:
        self.values: dict[str, Any] = {}
        self.topics: set[str] = set()
        self.deferred: Deferred = {}
        self.actions: list[Callable[[], object]] | None = [] if accepts_actions else None

    def run_actions(self) -> None:
        """Run what follows the commit. An error is logged, because the change cannot be undone."""
        for action in self.actions or ():
            try:
                action()
            except Exception:
                logger.exception("Work after a commit failed")


def begin_state(connection: Connection, *, accepts_actions: bool = False) -> TransactionState:
    """Return the empty state of a new transaction: the info belongs to the connection.

    Args:
        accepts_actions: whether it may have work after its commit, which its caller runs.
    """
    connection.info[_STATE] = state = TransactionState(accepts_actions=accepts_actions)
    return state


def get_transaction_state(connection: Connection) -> TransactionState:
    """Return the state of the caller's transaction."""
    state: TransactionState | None = connection.info.get(_STATE)
    return begin_state(connection) if state is None else state


def after_commit(connection: Connection, action: Callable[[], object]) -> None:
    """Run an action after the commit of a transaction of ``Database.write``, without its lock.

    Raises:
        RuntimeError: the transaction may be one of several requests.
    """
    actions = get_transaction_state(connection).actions
    if actions is None:
        raise RuntimeError("the transaction runs no work after its commit")
    actions.append(action)
