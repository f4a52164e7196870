"""Time from the start to the first response, and the memory of an idle server."""

import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from bench.harness import MEBIBYTE, Limit, Plan, Row, interleave
from bench.pocketbase import NAME as PEER
from bench.pocketbase import pocketbase
from bench.servers import Server, bare_flask, strongroom
from bench.usage import processes, proportional_bytes

Sample = tuple[float, float]
"""Milliseconds to the first response, and mebibytes of a process."""

LIMIT: Final = "bare Flask route"


def measure(plan: Plan) -> list[Row]:
    """Measure starts on existing data, and the memory after one response."""
    with TemporaryDirectory() as folder:
        ours, peers, bare = interleave(
            plan.rounds,
            lambda: _start(strongroom, Path(folder)),
            lambda: _start(pocketbase, Path(folder)),
            lambda: _start(bare_flask, Path(folder)),
        )
    others = {PEER: peers, LIMIT: bare}
    return [
        Row(name, unit, [sample[column] for sample in ours], limit, is_cost=True)
        for column, (name, unit) in enumerate(
            (("start to first answer", "ms"), ("idle memory of a process, shared pages divided", "MiB"))
        )
        for limit in (
            Limit(other, [sample[column] for sample in samples]) for other, samples in others.items()
        )
    ]


def _start(serve: Callable[[Path], AbstractContextManager[Server]], folder: Path) -> Sample:
    started = time.perf_counter()
    with serve(folder) as server:
        milliseconds = (time.perf_counter() - started) * 1000
        each = proportional_bytes(server.pid) / len(processes(server.pid)) / MEBIBYTE
    return milliseconds, each
