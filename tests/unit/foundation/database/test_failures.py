"""How errors of the database are logged."""

import logging
import sqlite3

import pytest
from sqlalchemy.exc import OperationalError

from strongroom.foundation.database import failures
from strongroom.foundation.errors import StorageFull
from strongroom.foundation.logs import INTERVAL, ErrorLog


def _refuse_for_a_full_disk() -> None:
    reason = sqlite3.OperationalError("database or disk is full")
    reason.sqlite_errorcode = sqlite3.SQLITE_FULL
    error = OperationalError("INSERT", {}, reason)
    with pytest.raises(StorageFull):
        failures.raise_translated(error)


def test_a_full_disk_is_logged_once_a_minute_with_the_number_of_refusals(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    times = [0.0]
    log = ErrorLog(
        logging.getLogger("strongroom.foundation.database"), lambda: times[0], has_traceback=False
    )
    monkeypatch.setattr(failures, "FULL_DISK", log)
    for _ in range(248):
        _refuse_for_a_full_disk()
    assert len(caplog.records) == 1
    times[0] += INTERVAL
    _refuse_for_a_full_disk()
    first, second = caplog.records
    assert (first.levelno, first.exc_info) == (logging.ERROR, None)
    assert second.getMessage().endswith("(247 identical errors were not logged)")
