"""The log of unexpected errors."""

import logging
from collections.abc import Callable

import pytest

from strongroom.foundation.logs import INTERVAL, ErrorLog


class Watch:
    """A clock in seconds that stands still."""

    seconds = 100.0

    def now(self) -> float:
        return self.seconds


def fail(text: str) -> None:
    raise ValueError(text)


def fail_elsewhere(text: str) -> None:
    raise ValueError(text)


def error(text: str, raised_by: Callable[[str], None] = fail) -> Exception:
    with pytest.raises(ValueError, match=text) as caught:
        raised_by(text)
    return caught.value


def test_identical_errors_are_logged_once_a_minute_with_their_count(
    caplog: pytest.LogCaptureFixture,
) -> None:
    watch = Watch()
    log = ErrorLog(logging.getLogger("errors"), watch.now)
    for number in range(400):
        log.log(error(str(number)), "Error in %s", number)
    log.log(error("x", fail_elsewhere), "Error in %s", "x")
    watch.seconds += INTERVAL
    log.log(error("last"), "Error in %s", "last")
    records = [record for record in caplog.records if record.name == "errors"]
    assert [record.getMessage() for record in records] == [
        "Error in 0",
        "Error in x",
        "Error in last (399 identical errors were not logged)",
    ]
    assert all(record.exc_info for record in records)
