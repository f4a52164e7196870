"""Values of one writing transaction, and what follows its commit."""

import logging
from collections.abc import Callable
from typing import Any, Final

from sqlalchemy import Connection

logger = logging.getLogger(__name__)

_STATE: Final = "strongroom_transaction"


class TransactionState:
    """What the functions of one transaction share.

    Args:
        values: by the name of the module that owns them.
        actions: run after the commit, in this order; ``None``: the transaction has none.
    """

    __slots__ = ("actions", "values")

    def __init__(self) -> None:
        self.values: dict[str, Any] = {}
        self.actions: list[Callable[[], object]] | None = None

    def run_actions(self) -> None:
        """Run what follows the commit. An error is logged, because the change cannot be undone."""
        for action in self.actions or ():
            try:
                action()
            except Exception:
                logger.exception("Work after a commit failed")


def begin_state(connection: Connection) -> TransactionState:
    """Return the empty state of a new transaction: the info belongs to the connection."""
    connection.info[_STATE] = state = TransactionState()
    return state


def get_transaction_state(connection: Connection) -> TransactionState:
    """Return the state of the caller's transaction."""
    state: TransactionState | None = connection.info.get(_STATE)
    return begin_state(connection) if state is None else state


def accept_actions(connection: Connection) -> TransactionState:
    """Let a transaction have work after its commit, which its caller runs; return the state."""
    state: TransactionState = connection.info[_STATE]
    state.actions = []
    return state


def after_commit(connection: Connection, action: Callable[[], object]) -> None:
    """Run an action after the commit of a transaction of ``Database.write``, without its lock.

    Raises:
        RuntimeError: the transaction may be one of several requests.
    """
    actions = get_transaction_state(connection).actions
    if actions is None:
        raise RuntimeError("the transaction runs no work after its commit")
    actions.append(action)
