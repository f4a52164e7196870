"""The entry point of a worker process, which Granian's master starts."""

import os
import signal
import socket
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from granian._granian import ASGIWorker, CallbackScheduler
from granian._signals import set_sync_signals
from granian.server.common import WORKERS_METHODS
from granian.server.mp import WorkerProcess

from strongroom.foundation.processes import SignalledEvent
from strongroom.web.gateway.exchange import STOPPING, Gateway
from strongroom.web.gateway.protocol import CallbackLoop

SPARE_THREADS: Final = 8
"""Extra threads of Granian's pool, which receive and refuse requests while all others are busy."""


class _Scheduler(CallbackScheduler):
    """Passes each request to the gateway, on the pool thread that Granian starts it on."""

    def __new__(cls, loop: CallbackLoop, _handle: Callable[[Any], None]) -> "_Scheduler":
        """Create the scheduler without the coroutine and task functions of an event loop."""
        return super().__new__(cls, loop, None, None, None, None)  # type: ignore[call-arg]  # see the stub

    def __init__(self, _loop: CallbackLoop, handle: Callable[[Any], None]) -> None:
        super().__init__()
        self._schedule_fn = handle


_DESCRIPTORS: Final = Path("/proc/self/fd")

_ACCEPTED_SECONDS: Final = 0.5
"""How long a worker that stops waits for the requests of the connections that it has accepted."""


def _stop_accepting(listener: int) -> None:
    """Leave new connections in the backlog of a listening socket, for the next worker.

    Granian's accept loop ends together with the connections that have sent nothing yet. So the worker's
    descriptors of the socket are replaced before, by a socket without clients.
    """
    listening = os.fstat(listener)
    with socket.create_server(("127.0.0.1", 0)) as other:
        other.setblocking(False)
        for descriptor in [int(path.name) for path in _DESCRIPTORS.iterdir()]:
            # The descriptor of the listing itself is closed.
            with suppress(OSError):
                if os.path.samestat(os.fstat(descriptor), listening):
                    os.dup2(other.fileno(), descriptor, inheritable=False)


def _note_stop_signals(listener: int) -> None:
    """Stop accepting, and set :data:`STOPPING`, before Granian's own handlers end the open requests."""
    for number in (signal.SIGINT, signal.SIGTERM):
        handle: Any = signal.getsignal(number)

        def note(signum: int, frame: Any, handle: Any = handle) -> None:
            STOPPING.set()
            if _DESCRIPTORS.is_dir():
                _stop_accepting(listener)
                # The main thread has nothing else to do.
                time.sleep(_ACCEPTED_SECONDS)
            handle(signum, frame)

        signal.signal(number, note)


def _spawn_worker(
    worker_id: int,
    gateway: Gateway,
    sock: Any,
    ipc: Any,
    _loop: Any,
    runtime_mode: Any,
    runtime_threads: int,
    runtime_blocking_threads: int,
    blocking_threads: int,
    blocking_threads_idle_timeout: int,
    backpressure: int,
    _task_impl: Any,
    http_mode: Any,
    http1_settings: Any,
    http2_settings: Any,
    websockets: bool,
    static_path: Any,
    _log_access_fmt: str | None,
    ssl_ctx: Any,
    _scope_opts: dict[str, Any],
    metrics: Any,
) -> None:
    stop: Any = set_sync_signals()  # type: ignore[no-untyped-call]
    stopped = SignalledEvent()
    stop.add_cb(stopped.set)
    _note_stop_signals(sock[1].get_fd())
    gateway.timers.start()
    # Granian's type stub of the class is outdated.
    create_worker: Any = ASGIWorker
    # No event loop: requests are passed to the scheduler directly on threads of the pool.
    worker = create_worker(
        worker_id,
        sock,
        ipc,
        runtime_threads,
        runtime_blocking_threads,
        blocking_threads + SPARE_THREADS + gateway.waiting_threads,
        blocking_threads_idle_timeout,
        backpressure,
        http_mode,
        http1_settings,
        http2_settings,
        websockets,
        static_path,
        *ssl_ctx,
        metrics,
    )
    loop = CallbackLoop()
    serve = getattr(worker, WORKERS_METHODS[runtime_mode][(sock[0] or sock[1]).is_uds()])
    serve(_Scheduler(loop, gateway.handle), loop, stop)
    stopped.wait()


spawn_worker: Final[Callable[..., None]] = WorkerProcess.wrap_target(  # type: ignore[no-untyped-call]
    _spawn_worker
)
"""Serves until the master sends a stop signal; has the signature of Granian's own workers."""
