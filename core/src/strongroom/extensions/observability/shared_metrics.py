"""Metrics of several processes: each writes its own files in a shared folder; the reader sums them.

The Prometheus library selects this mode by an environment variable when it is imported. So the master
process must call :func:`share_metrics` before anything imports the library.
"""

import fcntl
import os
import re
import sys
import threading
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from shutil import rmtree
from tempfile import TemporaryDirectory, gettempdir
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from prometheus_client import Metric
    from prometheus_client.registry import Collector

_PREFIX: Final = "strongroom-metrics-"
_LOCK: Final = "lock"
_ENDED: Final = "ended"
_SUMMED: Final = ("counter", "histogram", "summary")
_MERGING: Final = threading.Lock()
_VARIABLE: Final = "PROMETHEUS_MULTIPROC_DIR"
_PROCESS = re.compile(r"_(\d+)\.db$")


@contextmanager
def metrics_folder() -> Iterator[Path]:
    """Create a folder for the metrics of all processes until the block ends."""
    with ExitStack() as resources:
        yield _locked_folder(resources)


def _locked_folder(resources: ExitStack) -> Path:
    """Return a new folder with a locked file; both end with ``resources``."""
    while True:
        folder = Path(resources.enter_context(TemporaryDirectory(prefix=_PREFIX)))
        # Another server may remove the folder before it is locked.
        with suppress(FileNotFoundError):
            lock = resources.enter_context((folder / _LOCK).open("w"))
            fcntl.flock(lock, fcntl.LOCK_EX)
            if os.fstat(lock.fileno()).st_nlink:
                return folder


def remove_stale_folders() -> None:
    """Remove the folders of servers that were killed.

    A running server has locked its folder. Process ids would not tell it from one that was killed,
    because servers in containers have process ids of their own.
    """
    for folder in Path(gettempdir()).glob(f"{_PREFIX}*"):
        # Folders of other users cannot be opened, and others may be removed at this moment.
        with suppress(OSError), (folder / _LOCK).open("a") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            rmtree(folder, ignore_errors=True)


def share_metrics(folder: Path) -> None:
    """Make this process and its future children write their metrics to an empty folder."""
    if "prometheus_client" in sys.modules:
        raise RuntimeError("prometheus_client is already imported, so its metrics cannot be shared")
    os.environ[_VARIABLE] = str(folder)


def exposition(folder: Path, others: "Iterable[Collector]" = ()) -> tuple[bytes, str]:
    """Return the metrics of all processes, summed, and the media type of the text."""
    from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest

    registry = CollectorRegistry()
    for collector in (_SharedMetrics(folder), *others):
        registry.register(collector)
    return generate_latest(registry), CONTENT_TYPE_LATEST


@dataclass(slots=True, eq=False, repr=False)
class _SharedMetrics:
    """Reads the sums of all processes."""

    _folder: Path

    def collect(self) -> "Iterable[Metric]":
        from prometheus_client.multiprocess import MultiProcessCollector

        # Another thread would count a process twice while its files are merged.
        with _MERGING:
            _forget_dead(self._folder)
            collector = MultiProcessCollector(None, str(self._folder))  # type: ignore[no-untyped-call]
            metrics: Iterable[Metric] = list(collector.collect())  # type: ignore[no-untyped-call]
            return metrics


def _forget_dead(folder: Path) -> None:
    """Drop the gauges of processes that have ended, and merge their counters into one file each kind."""
    from prometheus_client.multiprocess import mark_process_dead

    files = {path: int(match[1]) for path in folder.iterdir() if (match := _PROCESS.search(path.name))}
    dead = {process for process in files.values() if not _is_alive(process)}
    for process in dead:
        mark_process_dead(process, str(folder))  # type: ignore[no-untyped-call]
    for kind in _SUMMED:
        ended = [path for path in files if files[path] in dead and path.name.startswith(f"{kind}_")]
        if ended:
            _merge(ended, folder / f"{kind}_{_ENDED}.db")


def _merge(files: list[Path], target: Path) -> None:
    """Add the values of files to the target's, and remove the files."""
    from prometheus_client.mmap_dict import MmapedDict, mmap_key
    from prometheus_client.multiprocess import MultiProcessCollector

    sources = [str(path) for path in (*files, target) if path.exists()]
    partial = target.with_suffix(".partial")
    partial.unlink(missing_ok=True)
    merged = MmapedDict(str(partial))  # type: ignore[no-untyped-call]
    for metric in MultiProcessCollector.merge(sources, accumulate=False):  # type: ignore[no-untyped-call]
        for sample in metric.samples:
            labels, values = list(sample.labels), list(sample.labels.values())
            key = mmap_key(metric.name, sample.name, labels, values, metric.documentation)
            merged.write_value(key, sample.value, 0)  # type: ignore[no-untyped-call]
    merged.close()  # type: ignore[no-untyped-call]
    partial.replace(target)
    for path in files:
        path.unlink()


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        # The process exists, but belongs to another user.
        return True
    return True
