"""The lock of all writers of an SQLite database."""

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from strongroom.foundation.database.sqlite_writer import WriterLock
from strongroom.foundation.errors import Unavailable

WRITERS = 4
TURNS = 200


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "strongroom.sqlite3")


def test_there_is_one_writer_at_a_time_among_all_processes(path: str) -> None:
    # Each opens the file for itself, as processes do.
    processes = [WriterLock(path, 30) for _ in range(2)]
    writing, most = [], []

    def write(lock: WriterLock) -> None:
        for number in range(TURNS):
            with lock:
                writing.append(number)
                most.append(len(writing))
                writing.pop()

    with ThreadPoolExecutor(WRITERS) as pool:
        list(pool.map(write, processes * (WRITERS // 2)))
    assert set(most) == {1}
    assert len(most) == WRITERS * TURNS
    for lock in processes:
        with lock:
            lock.close()


def test_a_thread_that_waits_too_long_for_its_own_process_fails(path: str) -> None:
    lock = WriterLock(path, 0.01)
    taken, over = threading.Event(), threading.Event()

    def hold() -> None:
        with lock:
            taken.set()
            over.wait(timeout=30)

    with ThreadPoolExecutor(1) as pool:
        pool.submit(hold)
        assert taken.wait(timeout=30)
        with pytest.raises(Unavailable), lock:
            pass
        over.set()
    with lock:
        pass


def test_an_error_releases_the_lock(path: str) -> None:
    lock, other = WriterLock(path, 0.01), WriterLock(path, 0.01)
    with pytest.raises(LookupError), lock:
        raise LookupError
    with other:
        pass


def test_without_a_lock_file_threads_still_exclude_each_other(tmp_path: Path) -> None:
    lock = WriterLock(str(tmp_path / "missing" / "database"), 30)
    with lock:
        lock.close()


def test_it_goes_on_after_it_was_closed(path: str) -> None:
    lock = WriterLock(path, 30)
    for _ in range(2):
        with lock:
            lock.close()
