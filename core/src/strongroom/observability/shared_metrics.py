"""Metrics of several processes: each writes its own files in a shared folder; the reader sums them.

The Prometheus library selects this mode by an environment variable when it is imported. So the master
process must call :func:`share_metrics` before anything imports the library.
"""

import os
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

    from prometheus_client.registry import Collector

_VARIABLE: Final = "PROMETHEUS_MULTIPROC_DIR"
_PROCESS = re.compile(r"_(\d+)\.db$")


def share_metrics(folder: Path) -> None:
    """Make this process and its future children write their metrics to an empty folder."""
    if "prometheus_client" in sys.modules:
        raise RuntimeError("prometheus_client is already imported, so its metrics cannot be shared")
    os.environ[_VARIABLE] = str(folder)


def exposition(folder: Path, others: "Iterable[Collector]" = ()) -> tuple[bytes, str]:
    """Return the metrics of all processes, summed, and the media type of the text."""
    from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
    from prometheus_client.multiprocess import MultiProcessCollector

    _forget_dead(folder)
    registry = CollectorRegistry()
    MultiProcessCollector(registry, str(folder))  # type: ignore[no-untyped-call]
    for collector in others:
        registry.register(collector)
    return generate_latest(registry), CONTENT_TYPE_LATEST


def _forget_dead(folder: Path) -> None:
    """Drop the gauges of processes that have ended; their counters remain."""
    from prometheus_client.multiprocess import mark_process_dead

    processes = {int(match[1]) for path in folder.iterdir() if (match := _PROCESS.search(path.name))}
    for process in processes:
        if not _is_alive(process):
            mark_process_dead(process, str(folder))  # type: ignore[no-untyped-call]


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        # The process exists, but belongs to another user.
        return True
    return True
