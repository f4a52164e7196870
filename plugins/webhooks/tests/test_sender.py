"""The thread that claims deliveries, while the database is unavailable."""

import logging
from typing import Any, cast

import pytest

from strongroom.foundation.errors import Unavailable
from strongroom.testing.clock import ManualClock
from strongroom_webhooks import sender
from strongroom_webhooks.sender import Sender


class Queue:
    """A queue whose database is unavailable for some reads."""

    def __init__(self, failures: list[Exception]) -> None:
        self._failures = failures
        self.sender: Sender | None = None

    def has_due(self) -> bool:
        if self._failures:
            raise self._failures.pop()
        assert self.sender is not None
        self.sender._stopping.set()
        return False


@pytest.mark.parametrize(
    ("failure", "has_traceback"), [(Unavailable(), False), (RuntimeError("a fault of the code"), True)]
)
def test_a_database_that_is_away_is_logged_once_and_when_it_is_back(
    failure: Exception, has_traceback: bool, monkeypatch: pytest.MonkeyPatch, caplog: Any
) -> None:
    monkeypatch.setattr(sender, "POLL_SECONDS", 0.0001)
    queue = Queue([failure] * 5)
    anything = cast("Any", None)
    queue.sender = Sender(cast("Any", queue), anything, anything, ManualClock(), 1, anything)
    with caplog.at_level(logging.WARNING):
        queue.sender._run()
    first, last = caplog.records
    assert first.getMessage().startswith("Webhooks: claiming deliveries failed: ")
    assert bool(first.exc_info and first.exc_info[0]) == has_traceback
    assert last.getMessage() == "Webhooks: deliveries are claimed again"
