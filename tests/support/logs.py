"""The log records of a test, without those of other tests."""

import logging
from threading import get_ident

import pytest


def own_records(caplog: pytest.LogCaptureFixture) -> list[logging.LogRecord]:
    """Return the records of the calling thread.

    Threads of an earlier test's server may still log, for instance that its database is gone.
    """
    return [record for record in caplog.records if record.thread == get_ident()]
