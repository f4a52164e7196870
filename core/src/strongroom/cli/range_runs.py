"""Runs a task on all rows of a large table: with progress, in several processes, and continued later."""

import multiprocessing
import os
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from multiprocessing.process import BaseProcess
from pathlib import Path
from threading import Event
from types import FrameType
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from strongroom.cli.context import CommandContext
from strongroom.cli.output import echo
from strongroom.cli.progress import Advance, progress_bar
from strongroom.clock import DAY, iso_format
from strongroom.foundation.database.key_ranges import RANGES, KeyRanges, RunProgress
from strongroom.foundation.database.range_work import RangeTask, RangeWorker
from strongroom.foundation.errors import Unavailable
from strongroom.plugin_api.storage import StorageError

if TYPE_CHECKING:
    from strongroom.assembly.container import Container

Task = TypeVar("Task", bound=RangeTask)

MakeTask = Callable[["Container"], Task]
"""Returns the task of a process; other processes import it, so it is a function of a module."""

_SHOWN_SECONDS: Final = 0.5


@dataclass(frozen=True, slots=True)
class RunOptions:
    """How a task runs.

    Args:
        jobs: the number of processes.
        pause: seconds between two batches of a process.
        restart: begin at the first row, even if a run can be continued.
    """

    jobs: int = 1
    pause: float = 0.0
    restart: bool = False


pause_option: Final = click.option(
    "--pause-ms",
    type=click.IntRange(0, 60_000),
    default=0,
    show_default=True,
    help="Milliseconds between two batches of a process, which the server has for itself.",
)


restart_option: Final = click.option(
    "--restart", is_flag=True, help="Begin at the first row, and continue no earlier run."
)


def run_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of :class:`RunOptions` to a command, which gets them as ``options``."""

    @click.option(
        "--jobs",
        type=click.IntRange(1, RANGES),
        default=1,
        show_default=True,
        help="Number of processes. Other machines can run the command at the same time, too.",
    )
    @pause_option
    @restart_option
    @wraps(command)
    def with_options(*arguments: Any, jobs: int, pause_ms: int, restart: bool, **others: Any) -> Any:
        options = RunOptions(jobs, pause_ms / 1000, restart)
        return command(*arguments, options=options, **others)

    return with_options


def run_task(
    context: CommandContext,
    container: "Container",
    make_task: MakeTask[Task],
    options: RunOptions,
    label: str,
    *,
    hidden: bool = False,
    max_age: int = 30 * DAY,
) -> tuple[Task, RunProgress]:
    """Process all rows of a task, and return the task and its progress.

    A signal stops the run after the batch, and the next call continues it.

    Raises:
        click.ClickException: the run was stopped.
    """
    base, task = container.base, make_task(container)
    ranges = KeyRanges(base.database, base.clock, task.name)
    current = ranges.begin(task.split, restart=options.restart, max_age=max_age)
    if current.rows:
        echo(f"continues the run of {iso_format(current.begun_at)} after {current.rows} rows", err=True)
    with base.database.read() as connection:
        total = task.count(connection)
    with stopping() as stop, progress_bar(label, total, hidden=hidden) as advance:
        with _processes(context.config_path, make_task, current.run, options) as processes:
            worker = RangeWorker(ranges, task, stop, options.pause)
            is_complete = worker.run(current.run, _Shown(ranges, advance).update)
            if not is_complete:
                _terminate(processes)
        return task, _complete(ranges, task, current.run, is_complete=is_complete)


def _complete(ranges: KeyRanges, task: RangeTask, run: str, *, is_complete: bool) -> RunProgress:
    rows, progress = ranges.all(), ranges.progress()
    if progress is None or progress.run != run:
        raise click.ClickException("another process has ended or restarted the run")
    if not is_complete:
        raise click.ClickException(
            f"stopped after {progress.rows} rows; the same command continues there"
        )
    try:
        task.finish(rows)
    except (Unavailable, StorageError):
        raise
    except Exception:
        ranges.end()
        raise
    ranges.end()
    return progress


class _Shown:
    """Advances the progress by the rows of all processes."""

    def __init__(self, ranges: KeyRanges, advance: Advance) -> None:
        self._ranges = ranges
        self._advance = advance
        self._rows = 0
        self._next = 0.0

    def update(self) -> None:
        if time.monotonic() < self._next:
            return
        progress = self._ranges.progress()
        rows = progress.rows if progress else self._rows
        self._advance(rows - self._rows)
        self._rows, self._next = rows, time.monotonic() + _SHOWN_SECONDS


@contextmanager
def stopping() -> Iterator[Event]:
    """Yield an event that is set by the signals that end a process."""
    stop = Event()

    def handle(_number: int, _frame: FrameType | None) -> None:
        stop.set()

    former = {number: signal.signal(number, handle) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stop
    finally:
        for number, handler in former.items():
            signal.signal(number, handler)


@contextmanager
def _processes(
    config_path: Path | None, make_task: MakeTask[RangeTask], run: str, options: RunOptions
) -> Iterator[Sequence[BaseProcess]]:
    """Run the other processes of a run; they end with the run, or with this process."""
    # Not forked: a fork would share the connections to the database.
    spawning = multiprocessing.get_context("spawn")
    arguments = (config_path, make_task, run, options.pause, os.getpid())
    processes = [
        spawning.Process(target=_work, args=arguments, daemon=True) for _ in range(options.jobs - 1)
    ]
    for process in processes:
        process.start()
    try:
        yield processes
    except BaseException:
        _terminate(processes)
        raise
    finally:
        for process in processes:
            process.join()


def _terminate(processes: Sequence[BaseProcess]) -> None:
    for process in processes:
        process.terminate()


def _work(
    config_path: Path | None, make_task: MakeTask[RangeTask], run: str, pause: float, parent: int
) -> None:
    """Process ranges of a run in a process of its own."""
    with stopping() as stop, CommandContext(config_path).container() as container:
        base, task = container.base, make_task(container)
        ranges = KeyRanges(base.database, base.clock, task.name)
        RangeWorker(ranges, task, stop, pause, lambda: os.getppid() != parent).run(run)
