"""Metrics of processes are those of the kernel, for a master and its children together."""

import os
import subprocess
import sys
import time
from pathlib import Path

from strongroom.observability.process_metrics import (
    CPU,
    MAX_FDS,
    OPEN_FDS,
    PROCESS_FAMILIES,
    PROCESSES,
    RESIDENT,
    STARTED,
    ProcessMetrics,
)

BUSY = "import time\nwhile time.process_time() < 0.3: pass\nprint('ready', flush=True)\ninput()"


def read() -> dict[str, float]:
    found = {family.name: samples[0][1] for family, samples in ProcessMetrics(os.getpid())()}
    assert found.keys() == {family.name for family in PROCESS_FAMILIES}
    return found


def test_a_child_counts_and_its_processor_time_stays() -> None:
    before = read()
    with subprocess.Popen(
        [sys.executable, "-c", BUSY], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as child:
        assert child.stdout is not None
        child.stdout.readline()
        during = read()
        child.communicate(b"\n")
    after = read()
    assert during[PROCESSES.name] == before[PROCESSES.name] + 1
    assert during[RESIDENT.name] > before[RESIDENT.name]
    assert during[OPEN_FDS.name] > before[OPEN_FDS.name]
    assert during[CPU.name] >= before[CPU.name] + 0.25
    assert after[PROCESSES.name] == before[PROCESSES.name]
    assert after[CPU.name] >= during[CPU.name]
    assert 0 < time.time() - after[STARTED.name] < 24 * 3600
    assert after[MAX_FDS.name] >= after[OPEN_FDS.name]


def test_without_the_files_of_the_kernel_there_are_none(tmp_path: Path) -> None:
    assert list(ProcessMetrics(1, tmp_path)()) == []
