"""Memory and processor time of the processes of a server, from Linux."""

import re
import time
from pathlib import Path


def processes(root: int) -> list[int]:
    """Return the ids of a process and of all that it has started."""
    children = Path(f"/proc/{root}/task/{root}/children").read_text().split()
    return [root, *(pid for child in children for pid in processes(int(child)))]


def resident_bytes(root: int) -> int:
    """Return the memory in use."""
    return sum(_status_bytes(pid, "VmRSS") for pid in processes(root))


def proportional_bytes(root: int) -> int:
    """Return the memory in use, what processes share divided among those who share it."""
    return sum(_number(Path(f"/proc/{pid}/smaps_rollup"), "Pss") * 1024 for pid in processes(root))


def count_descriptors(root: int) -> int:
    """Return how many files, connections and pipes are open."""
    return sum(len(list(Path(f"/proc/{pid}/fd").iterdir())) for pid in processes(root))


def peak_bytes(root: int) -> int:
    """Return the most memory in use since :func:`forget_peak`, each process at its own worst."""
    return sum(_status_bytes(pid, "VmHWM") for pid in processes(root))


def forget_peak(root: int) -> None:
    """Reset the peak to the current memory."""
    for pid in processes(root):
        # See proc(5): 5 resets the peak, and nothing else.
        Path(f"/proc/{pid}/clear_refs").write_text("5")


def processor_seconds(root: int) -> float:
    """Return the processor time taken so far."""
    return sum(map(own_processor_seconds, processes(root)))


def own_processor_seconds(pid: int) -> float:
    """Return the processor time that one process has taken so far."""
    return time.clock_gettime(_processor_clock(pid))


def _status_bytes(pid: int, name: str) -> int:
    return _number(Path(f"/proc/{pid}/status"), name) * 1024


def _number(path: Path, name: str) -> int:
    found = re.search(rf"^{name}:\s+(\d+) kB$", path.read_text(), re.MULTILINE)
    if found is None:
        raise ProcessLookupError(f"{path} has no data of a process that has ended")
    return int(found[1])


def _processor_clock(pid: int) -> int:
    # The id that clock_getcpuclockid(3) returns; Python lacks it, and /proc counts in units of 10 ms.
    return (~pid << 3) | 2
