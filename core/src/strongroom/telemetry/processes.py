"""Metrics of several processes: each writes into files of its own in one folder, and a reader adds up.

The library decides by its environment, when it is imported, whether values are kept so: whoever
starts the processes calls :func:`share_metrics` before anything imports it.
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
    """Make this process and those it will start keep their metrics in a folder, which is empty."""
    if "prometheus_client" in sys.modules:
        raise RuntimeError("the metrics of this process are kept elsewhere already")
    os.environ[_VARIABLE] = str(folder)


def exposition(folder: Path, others: "Iterable[Collector]" = ()) -> tuple[bytes, str]:
    """Return the metrics of all processes, added up, and the media type of the text.

    Args:
        folder: where the processes keep them.
        others: what else to tell.
    """
    from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
    from prometheus_client.multiprocess import MultiProcessCollector

    _forget_dead(folder)
    registry = CollectorRegistry()
    MultiProcessCollector(registry, str(folder))  # type: ignore[no-untyped-call]
    for collector in others:
        registry.register(collector)
    return generate_latest(registry), CONTENT_TYPE_LATEST


def _forget_dead(folder: Path) -> None:
    """Take what is under way in a process for ended if the process has; its counts stay."""
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
        return True
    return True
