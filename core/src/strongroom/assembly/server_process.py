"""Runs the application under Granian: a master process that supervises workers.

On SIGTERM, ``readyz`` returns 503 while all other routes work as before, so that load balancers stop
sending new requests. After ``drain_seconds`` the server closes its listening sockets, finishes
the open requests and exits. Ctrl-C and a second SIGTERM skip the delay.
"""

import ctypes
import gc
import logging
import multiprocessing
import os
import resource
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable
from multiprocessing.util import Finalize
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NoReturn

from granian.constants import HTTPModes, Interfaces
from granian.http import HTTP1Settings
from granian.log import LogLevels
from granian.net import SocketHolder  # type: ignore[attr-defined]  # re-exported without __all__
from granian.server.mp import MPServer

from strongroom.foundation.config import Configuration, ConfigurationError, Settings
from strongroom.foundation.plugins.plugin import PluginError
from strongroom.foundation.processes import (
    STARTS,
    PidFile,
    SignalledEvent,
    end_with,
    wait_until_ready,
    wait_until_started,
)
from strongroom.foundation.service_manager import (
    has_service_manager,
    notify_service_manager,
    open_listeners,
)
from strongroom.web.gateway.exchange import Gateway, WsgiApp
from strongroom.web.gateway.limits import Admission, Timers, TransferRate
from strongroom.web.gateway.responses import BUFFER_BYTES, WaitingResponses
from strongroom.web.gateway.worker import spawn_worker
from strongroom.web.http.middleware import DRAINING

STOP_SECONDS: Final = 30
"""Seconds for which open requests may continue after the server receives a stop signal."""

EXIT_REFUSED: Final = 2
"""The exit code of a server that cannot start, as of an invalid configuration."""

_HANDOVER_SECONDS: Final = 1.0
# Requests wait in one queue for hashes of logins, one for other hashes, one for other logins.
_HASH_QUEUES: Final = 3
_BACKLOG: Final = 1024
_HEADER_MILLISECONDS: Final = 30_000
_MOST_CONNECTIONS: Final = 4096
_DESCRIPTORS: Final = 16_384
_UNREAD_GRACES: Final = 3
_M_TRIM_THRESHOLD: Final = -1
_M_MMAP_THRESHOLD: Final = -3
_GARBAGE_AFTER: Final = 50_000
_KEPT_BYTES: Final = 8 * 1024 * 1024
_LARGE_BYTES: Final = 1024 * 1024

_SHORTEST_LOGGED_SECRET: Final = 8
"""Characters of the shortest secret that the log masks; a passphrase of a word would hide the word."""

if TYPE_CHECKING:
    from strongroom.assembly.container import Container
    from strongroom.extensions.observability.tracing import OpenTelemetryTracer

logger = logging.getLogger(__name__)

Reread = Callable[[], Configuration]


class DrainingServer(MPServer):
    """A server that drains on SIGTERM, and reports its state to the service manager."""

    settings: Settings
    """The settings of the server; must be set before ``serve`` is called."""
    report_serving: Callable[[], None]
    """Called once the plugins of all workers have started; must be set, too."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.main_loop_interrupt = SignalledEvent()
        # Shared with the workers, which are forked from this process.
        self._refused = multiprocessing.get_context("fork").Value(ctypes.c_bool, False)

    def signal_handler_interrupt(self, signum: int = signal.SIGINT, *_: Any, **__: Any) -> None:
        """Start draining, or stop immediately."""
        seconds = self.settings.drain_seconds
        if signum != signal.SIGTERM or seconds == 0 or DRAINING.is_set:
            self._stop()
            return
        DRAINING.set()
        notify_service_manager("STOPPING=1", "STATUS=draining")
        timer = threading.Timer(seconds, self._stop)
        timer.daemon = True
        timer.start()

    def _stop(self) -> None:
        notify_service_manager("STOPPING=1")
        super().signal_handler_interrupt()  # type: ignore[no-untyped-call]

    def refuse(self, reason: str) -> NoReturn:
        """End this worker, and the server with it; the first worker prints the reason."""
        with self._refused.get_lock():
            if not self._refused.value:
                sys.stderr.write(f"strongroom: {reason}\n")
            self._refused.value = True
        sys.exit(EXIT_REFUSED)

    @property
    def is_refused(self) -> bool:
        """Whether a worker could not start."""
        return bool(self._refused.value)

    def _respawn_workers(self, *arguments: Any, **options: Any) -> None:
        # A worker that was refused would be refused again.
        if self.is_refused:
            self._stop()
        else:
            super()._respawn_workers(*arguments, **options)

    def _spawn_workers(self, *arguments: Any, **options: Any) -> None:
        super()._spawn_workers(*arguments, **options)  # type: ignore[no-untyped-call]
        # Started after the forks: a lock that the thread holds during a fork stays locked in the child.
        threading.Thread(target=self._report_ready, name="ready", daemon=True).start()

    def _reload(self, *arguments: Any, **options: Any) -> None:
        notify_service_manager("RELOADING=1", f"MONOTONIC_USEC={time.monotonic_ns() // 1000}")
        super()._reload(*arguments, **options)  # type: ignore[no-untyped-call]
        notify_service_manager("READY=1")

    def _report_ready(self) -> None:
        if not wait_until_started(self._is_ending):
            return
        self.report_serving()
        if has_service_manager():
            fault = wait_until_ready(self.settings, self._is_ending)
            notify_service_manager("READY=1", f"STATUS={fault or 'serving'}")

    def _is_ending(self) -> bool:
        return DRAINING.is_set or self.interrupt_signal


def run(
    configuration: Configuration,
    report_serving: Callable[[], None],
    reread: Reread | None = None,
    metrics_folder: Path | None = None,
) -> None:
    """Serve until a stop signal arrives; SIGHUP reloads the configuration.

    Args:
        report_serving: called by a thread, once the plugins of all workers have started.
        reread: loads the current configuration; raises ``ConfigurationError`` if it is invalid.
        metrics_folder: the folder of the processes' metrics, if the management interface is enabled.
    """
    settings, master = configuration.settings, os.getpid()
    _configure_log(configuration)
    # Granian's own start-up and reload lines are at INFO.
    logging.getLogger("granian").setLevel(logging.WARNING)
    server = _make_server(settings)
    server.report_serving = report_serving
    STARTS.expect(server.workers)
    worker = _Worker(server, configuration, reread)
    server.on_reload(worker.reload)
    pid_file = PidFile(settings, settings.server.port)
    pid_file.lock()
    if metrics_folder is not None:
        server.on_startup(lambda: _start_management(configuration, metrics_folder, master))
    # The workers share the memory of the imported modules until something writes to it (copy-on-write).
    # Frozen objects are ignored by garbage collections, which would write to them.
    gc.freeze()
    gc.set_threshold(_GARBAGE_AFTER, 20, 20)
    server.serve(spawn_target=spawn_worker, target_loader=worker.load, wrap_loader=False)
    if server.is_refused:
        sys.exit(EXIT_REFUSED)


class _Worker:
    """Loads the application in each worker process, with the configuration of the last reload.

    Args:
        server: the server of this process, which is the master.
        reread: loads the current configuration.
    """

    def __init__(self, server: "_Server", configuration: Configuration, reread: Reread | None) -> None:
        self._master = os.getpid()
        self._server = server
        self._configuration = configuration
        self._reread = reread

    def load(self) -> Any:
        """Return the application; called by Granian in a worker."""
        end_with(self._master)
        _keep_memory()
        # Created in the worker, because connections must not be shared between processes.
        from strongroom.assembly.app import create_app, get_container

        configuration = self._configuration
        _configure_log(configuration)
        tracer = _start_tracing(configuration.settings)
        app = create_app(configuration)
        container = get_container(app)
        if tracer is not None and container.base.metrics is not None:
            tracer.report_drops(container.base.metrics.dropped_spans)
        # Run by multiprocessing when this process exits, after the open requests have finished.
        Finalize(None, container.close, exitpriority=0)
        try:
            container.start()
        except PluginError as error:
            self._server.refuse(str(error))
        STARTS.note(self._server.spawned)
        return _gateway(app, configuration.settings, container)

    def reload(self) -> None:
        """Read the configuration again; called by the master before it starts new workers.

        The former configuration stays in use if the new one is invalid.
        """
        from strongroom.foundation.plugins.selection import select

        if self._reread is None:
            return
        try:
            configuration = self._reread()
            # As before the first start: the workers inherit the plugins.
            select(configuration)
            self._configuration = configuration
        except ConfigurationError as error:
            for problem in error.problems:
                logger.error("Reload rejected, configuration unchanged: %s", problem)  # noqa: TRY400


def _gateway(app: WsgiApp, root: Settings, container: "Container") -> Gateway:
    settings, advanced = root.server, root.advanced
    rate = TransferRate(advanced.transfer_grace_seconds, advanced.min_transfer_rate)
    timers = Timers(rate.grace_seconds / 4)
    return Gateway(
        app,
        admission=Admission(settings.threads, container.on_queue_wait),
        rate=rate,
        timers=timers,
        waiting=WaitingResponses(timers, rate.grace_seconds),
        unqueued_path=f"{settings.base_path}/livez",
        waiting_threads=advanced.waiting_per_process + _HASH_QUEUES * advanced.hash_queue,
    )


def _raise_connection_limit() -> int:
    """Raise the limit of open files, and return the maximum number of connections of each process.

    Half of the descriptors are reserved for files that requests open. Further connections wait in the
    kernel's accept queue.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    target = _DESCRIPTORS if hard == resource.RLIM_INFINITY else min(hard, _DESCRIPTORS)
    if soft != resource.RLIM_INFINITY and soft < target:
        resource.setrlimit(resource.RLIMIT_NOFILE, (target, hard))
        soft = target
    return _MOST_CONNECTIONS if soft == resource.RLIM_INFINITY else min(soft // 2, _MOST_CONNECTIONS)


def _limit_unread(listener: socket.socket, seconds: float) -> None:
    """Make the kernel close connections whose client reads nothing for ``seconds``.

    Set on the listening socket; accepted connections inherit it. The application cannot detect this
    case, because the end of a response waits in buffers of Granian and the kernel.
    """
    if hasattr(socket, "TCP_USER_TIMEOUT"):
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, int(seconds * 1000))


class _Server(DrainingServer):
    """A server whose master process owns the listening sockets of the workers.

    By default each worker opens its own socket, and connections in its accept queue are lost when the
    worker is replaced. With a socket of the master, the next worker accepts them. There is one socket
    per worker, so that the kernel distributes connections evenly (``SO_REUSEPORT``). A service manager
    keeps the sockets while the service restarts.
    """

    spawned = 0
    """The index of the worker that was forked last; in a worker, its own."""

    def _init_shared_socket(self) -> None:
        self._ssp, self._sso = None, None
        self._sockets = open_listeners(self.bind_addr, self.bind_port, self.workers, self.backlog)
        for listener in self._sockets:
            seconds = _UNREAD_GRACES * self.settings.advanced.transfer_grace_seconds
            _limit_unread(listener, seconds)

    def _spawn_worker(  # type: ignore[override]  # as the base class itself has it
        self, idx: int, target: Any, callback_loader: Any
    ) -> Any:
        self.spawned = idx
        # Granian's type stub of the class has no constructor.
        holder: Any = SocketHolder
        self._shd = holder(self._sockets[idx].fileno(), False, self.backlog)
        return super()._spawn_worker(idx, target, callback_loader)


def _make_server(settings: Settings) -> _Server:
    server = _Server(
        "strongroom",
        address=settings.server.host,
        port=settings.server.port,
        interface=Interfaces.WSGI,
        workers=settings.server.workers,
        blocking_threads=settings.server.threads,
        backlog=_BACKLOG,
        respawn_failed_workers=True,
        respawn_interval=_HANDOVER_SECONDS,
        backpressure=_raise_connection_limit(),
        http=HTTPModes.auto if settings.server.http2 else HTTPModes.http1,
        http1_settings=HTTP1Settings(
            header_read_timeout=_HEADER_MILLISECONDS, max_buffer_size=BUFFER_BYTES
        ),
        workers_kill_timeout=STOP_SECONDS,
        log_level=LogLevels.error,
    )
    server.settings = settings
    return server


def _start_management(configuration: Configuration, metrics_folder: Path, master: int) -> None:
    def serve() -> None:
        end_with(master)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        from strongroom.assembly.management import serve_management

        _configure_log(configuration)
        serve_management(configuration, metrics_folder)

    multiprocessing.get_context("fork").Process(target=serve, name="management", daemon=True).start()


def _configure_log(configuration: Configuration) -> None:
    from strongroom.foundation.config.describe import SecretMask
    from strongroom.foundation.logs import configure
    from strongroom.foundation.plugins.selection import select
    from strongroom.plugin_api.tracing import current_trace_ids
    from strongroom.web.http.request import current_request_id

    settings = configuration.settings
    mask = SecretMask(select(configuration).all_sections(settings), _SHORTEST_LOGGED_SECRET)
    configure(settings.logging, current_request_id, current_trace_ids, mask.hide)


def _start_tracing(settings: Settings) -> "OpenTelemetryTracer | None":
    if not settings.tracing.endpoint:
        return None
    # Imported only here, because it takes long.
    from strongroom.extensions.observability.tracing import start_tracing

    tracer = start_tracing(settings.tracing)
    # After the container, whose services may still end spans.
    Finalize(None, tracer.close, exitpriority=-1)
    return tracer


def _keep_memory() -> None:
    """Make glibc reuse freed memory for the buffers of uploads and downloads.

    By default, large blocks are returned to the system when they are freed. Getting zeroed pages again
    takes as long as reading a file into them.
    """
    # Not every C library has mallopt.
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_M_MMAP_THRESHOLD, _LARGE_BYTES)
        mallopt(_M_TRIM_THRESHOLD, _KEPT_BYTES)
