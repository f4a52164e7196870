"""Modes of SQLite's files: no other user of the machine reads users, hashes or the audit trail."""

import os
import stat
from pathlib import Path

from sqlalchemy import text

from strongroom.foundation.database import Database


def modes(folder: Path) -> dict[str, int]:
    return {path.name: stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()}


def write(path: Path) -> Database:
    database = Database(f"sqlite:///{path}")
    with database.write() as connection:
        connection.execute(text("CREATE TABLE IF NOT EXISTS a (b)"))
    return database


def test_the_database_its_log_and_its_index_are_for_their_owner_alone(tmp_path: Path) -> None:
    before = os.umask(0o022)
    try:
        database = write(tmp_path / "new.sqlite3")
        found = modes(tmp_path)
        assert {"new.sqlite3", "new.sqlite3-wal", "new.sqlite3-shm"} <= set(found)
        assert set(found.values()) == {0o600}
        database.close()
    finally:
        os.umask(before)


def test_a_new_connection_drops_no_lock_of_another(tmp_path: Path) -> None:
    path = tmp_path / "new.sqlite3"
    database = write(path)
    second = Database(f"sqlite:///{path}")
    with database.read() as connection, second.read() as other:
        connection.execute(text("SELECT * FROM a"))
        other.execute(text("SELECT * FROM a"))
        # SQLite holds its lock on a database in WAL mode as long as a connection is open.
        inode = path.stat().st_ino
        held = [line for line in Path("/proc/locks").read_text().splitlines() if f":{inode} " in line]
        assert held
    second.close()
    database.close()


def test_a_database_that_others_could_read_is_taken_from_them(tmp_path: Path) -> None:
    path = tmp_path / "old.sqlite3"
    write(path).close()
    path.chmod(0o644)
    database = write(path)
    assert modes(tmp_path)["old.sqlite3"] == 0o640
    assert modes(tmp_path)["old.sqlite3-wal"] == 0o640
    database.close()
