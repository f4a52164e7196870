"""Metrics of the server's processes together: processor time, memory and file descriptors.

The collector of the Prometheus library knows its own process only, which is the one of the management
interface. So the files of all processes of the server are read, on Linux.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from strongroom.extensions.observability.families import Family, Sample

PROCESSES: Final = Family("strongroom_processes", "Processes of the server, the master included.")
CPU: Final = Family(
    "process_cpu_seconds",
    "Processor time of all processes, those that have ended included.",
    kind="counter",
)
RESIDENT: Final = Family(
    "process_resident_memory_bytes",
    "Resident memory of all processes; pages that they share are counted in each.",
)
OPEN_FDS: Final = Family("process_open_fds", "Open file descriptors of all processes.")
MAX_FDS: Final = Family("process_max_fds", "The limit of open file descriptors of one process.")
STARTED: Final = Family(
    "process_start_time_seconds", "When the master process started, in seconds since the Unix epoch."
)
PROCESS_FAMILIES: Final = (PROCESSES, CPU, RESIDENT, OPEN_FDS, MAX_FDS, STARTED)

_TICKS: Final = os.sysconf("SC_CLK_TCK")
_PAGE: Final = os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True, slots=True)
class _Stat:
    """The fields of ``/proc/PID/stat`` that are used; see proc(5)."""

    cpu: float
    cpu_of_ended_children: float
    started: float
    resident: int

    @classmethod
    def read(cls, process: Path) -> "_Stat":
        # The name of the program, in parentheses, may contain spaces and parentheses.
        fields = (process / "stat").read_text().rpartition(")")[2].split()
        user, system, children_user, children_system = (int(field) / _TICKS for field in fields[11:15])
        return cls(
            user + system,
            children_user + children_system,
            int(fields[19]) / _TICKS,
            int(fields[21]) * _PAGE,
        )


class ProcessMetrics:
    """Reads the metrics of a master process and of its children.

    Args:
        master: the id of the master process.
        proc: the folder of the kernel's files.
    """

    def __init__(self, master: int, proc: Path = Path("/proc")) -> None:
        self._master = proc / str(master)
        self._proc = proc

    def __call__(self) -> Iterator[tuple[Family, list[Sample]]]:
        """Yield the metrics; none on systems without these files."""
        if not (self._master / "stat").exists():
            return
        master = _Stat.read(self._master)
        stats = [master, *self._children_stats()]
        # Without the processor time of processes that have ended, the counter would fall.
        cpu = sum(stat.cpu for stat in stats) + master.cpu_of_ended_children
        yield PROCESSES, [((), len(stats))]
        yield CPU, [((), cpu)]
        yield RESIDENT, [((), sum(stat.resident for stat in stats))]
        yield OPEN_FDS, [((), sum(map(_open_files, [self._master, *self._children()])))]
        yield MAX_FDS, [((), self._max_files())]
        yield STARTED, [((), self._boot_time() + master.started)]

    def _children(self) -> list[Path]:
        lists = (self._master / "task").glob("*/children")
        return [self._proc / child for path in lists for child in path.read_text().split()]

    def _children_stats(self) -> Iterator[_Stat]:
        for child in self._children():
            try:
                yield _Stat.read(child)
            except OSError:
                # It has ended since it was listed.
                continue

    def _max_files(self) -> float:
        lines = (self._master / "limits").read_text().splitlines()
        (limit,) = (line.split()[3] for line in lines if line.startswith("Max open files"))
        return float("inf") if limit == "unlimited" else float(limit)

    def _boot_time(self) -> float:
        lines = (self._proc / "stat").read_text().splitlines()
        return float(next(line.split()[1] for line in lines if line.startswith("btime")))


def _open_files(process: Path) -> int:
    try:
        return sum(1 for _ in (process / "fd").iterdir())
    except OSError:
        return 0
