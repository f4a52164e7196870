"""Metrics of processes are those of the kernel, for a master and its children together."""

import subprocess
import sys
import time
from pathlib import Path

from strongroom.extensions.observability.process_metrics import (
    CPU,
    MAX_FDS,
    OPEN_FDS,
    PROCESS_FAMILIES,
    PROCESSES,
    RESIDENT,
    STARTED,
    ProcessMetrics,
)

MASTER = """
import subprocess, sys
print(flush=True)
input()
busy = "import time\\nwhile time.process_time() < 0.3: pass\\nprint(flush=True)\\ninput()"
streams = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
with subprocess.Popen([sys.executable, "-c", busy], **streams) as child:
    child.stdout.readline()
    print(flush=True)
    input()
    child.communicate(b"\\n")
print(flush=True)
input()
"""
"""A process that has a busy child after the first line of its input, and none after the second one."""


def read(pid: int) -> dict[str, float]:
    found = {family.name: samples[0][1] for family, samples in ProcessMetrics(pid)()}
    assert found.keys() == {family.name for family in PROCESS_FAMILIES}
    return found


def test_a_child_counts_and_its_processor_time_stays() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", MASTER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0
    ) as master:
        assert master.stdin is not None
        assert master.stdout is not None
        found = []
        for _ in range(3):
            assert master.stdout.readline() == b"\n"
            found.append(read(master.pid))
            master.stdin.write(b"\n")
    before, during, after = found
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
