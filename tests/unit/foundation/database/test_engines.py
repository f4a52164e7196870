"""An engine that is closed while a thread still uses a connection."""

import sqlite3
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import create_engine

from strongroom.foundation.database.engines import close_engine


def test_a_connection_in_use_is_closed_when_it_is_returned(tmp_path: Path) -> None:
    engine = create_engine(f"sqlite:///{tmp_path}/file.sqlite3")
    used, idle = engine.connect(), engine.connect()
    drivers: list[Any] = [item.connection.driver_connection for item in (used, idle)]
    idle.close()
    close_engine(engine)
    assert drivers[0].execute("SELECT 1").fetchall() == [(1,)]
    used.close()
    for driver in drivers:
        with pytest.raises(sqlite3.ProgrammingError, match="closed"):
            driver.execute("SELECT 1")
