"""The files of shared metrics: those of killed servers and of ended workers do not accumulate."""

import fcntl
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TextIO

import pytest

from strongroom.extensions.observability.shared_metrics import (
    exposition,
    metrics_folder,
    remove_stale_folders,
)

SERVER = """
import os, signal
from strongroom.extensions.observability.shared_metrics import metrics_folder
with metrics_folder():
    os.kill(os.getpid(), signal.SIGKILL)
"""
WORKER = """
from prometheus_client import Counter, Gauge, Histogram
Counter("requests", "Requests.", ["status"]).labels("200").inc(3)
Gauge("open", "Open.", multiprocess_mode="livesum").set(7)
seconds = Histogram("seconds", "Seconds.", ["route"], buckets=[1, 2]).labels("/files")
seconds.observe(0.5)
seconds.observe(1.5)
"""


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which servers create theirs."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def run(code: str, **environment: str) -> None:
    subprocess.run([sys.executable, "-c", code], env={**os.environ, **environment}, check=False)


def test_folders_of_killed_servers_are_removed_but_not_that_of_another(temporary: Path) -> None:
    with metrics_folder() as other:
        run(SERVER, TMPDIR=str(temporary))
        assert len(list(temporary.iterdir())) == 2
        # Of a server that was killed before it had locked its folder.
        tempfile.mkdtemp(prefix="strongroom-metrics-")
        remove_stale_folders()
        assert list(temporary.iterdir()) == [other]
    assert list(temporary.iterdir()) == []


def test_a_folder_that_another_server_removes_before_it_is_locked_is_created_again(
    temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    flock = fcntl.flock
    removed: list[Path] = []

    def meanwhile(lock: TextIO, operation: int) -> None:
        if not removed:
            removed.extend(temporary.iterdir())
            with monkeypatch.context() as patch:
                patch.setattr(fcntl, "flock", flock)
                remove_stale_folders()
        flock(lock, operation)

    monkeypatch.setattr(fcntl, "flock", meanwhile)
    with metrics_folder() as folder:
        assert removed != [folder]
        assert list(temporary.iterdir()) == [folder]
        remove_stale_folders()
        assert folder.exists()
    assert list(temporary.iterdir()) == []


def test_workers_that_have_ended_leave_their_sums_in_one_file_of_each_kind(tmp_path: Path) -> None:
    for ended in range(1, 4):
        run(WORKER, PROMETHEUS_MULTIPROC_DIR=str(tmp_path))
        text = exposition(tmp_path)[0].decode()
        assert f'requests_total{{status="200"}} {3.0 * ended}' in text
        assert f'seconds_bucket{{le="1.0",route="/files"}} {1.0 * ended}' in text
        assert f'seconds_bucket{{le="+Inf",route="/files"}} {2.0 * ended}' in text
        assert f'seconds_count{{route="/files"}} {2.0 * ended}' in text
        assert f'seconds_sum{{route="/files"}} {2.0 * ended}' in text
        assert sorted(path.name for path in tmp_path.iterdir()) == [
            "counter_ended.db",
            "histogram_ended.db",
        ]
        assert exposition(tmp_path)[0].decode() == text
