"""What must hold before a server starts: shared by ``serve`` and ``config check``."""

import multiprocessing
import os
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING

from strongroom.cli.schema import require_own_secret, require_served_schema
from strongroom.config import Configuration, ConfigurationError

if TYPE_CHECKING:
    from strongroom.assembly.container import Container


def in_own_process(work: Callable[[], None]) -> None:
    """Run ``work`` in a forked process and wait for its end.

    Plugins are constructed there and never closed, so a server's plugins are closed exactly once: when
    it stops. Threads and locks of a plugin end with the process, before the workers are started.

    Raises:
        ConfigurationError: ``work`` raised it.
        SystemExit: ``work`` raised anything else, which is shown as a traceback.
    """
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_report, args=(work, sender, os.getpid()))
    process.start()
    sender.close()
    try:
        problems = receiver.recv()
    except EOFError:
        process.join()
        sys.exit(process.exitcode or 1)
    process.join()
    if problems:
        raise ConfigurationError(problems)


def _report(work: Callable[[], None], sender: Connection, parent: int) -> None:
    from strongroom.server import end_with

    end_with(parent)
    try:
        work()
    except ConfigurationError as error:
        sender.send(error.problems)
    else:
        sender.send(())
    # Without the interpreter's shutdown, which would wait for threads of plugins.
    sys.stderr.flush()
    os._exit(0)


@contextmanager
def application(configuration: Configuration) -> Iterator["Container"]:
    """Build the application as a server process does, and check what only serving would show.

    Connections of the core are closed at the end; plugins are left to the end of the process.

    Raises:
        ConfigurationError: it cannot be served.
    """
    from strongroom.app import container_of, create_app
    from strongroom.production import refuse_unusable

    container = container_of(create_app(configuration))
    try:
        require_served_schema(configuration, container.database)
        require_own_secret(configuration, container.database, container.base.keys)
        _require_storages(configuration, container)
        storages = container.keeping.blobs.storages.items()
        refuse_unusable(configuration, {name: store.backend for name, store in storages})
        yield container
    finally:
        container.database.close()


def require_free_ports(configuration: Configuration) -> None:
    """Pass if the server can listen on its ports.

    Raises:
        ConfigurationError: it cannot.
    """
    server, management = configuration.settings.server, configuration.settings.management
    _require_free_port(configuration, "server", server.host, server.port)
    if management.port:
        _require_free_port(configuration, "management", management.host, management.port)
    configuration.refuse_problems()


def _require_storages(configuration: Configuration, container: "Container") -> None:
    for name in container.keeping.inventory.lost():
        message = "is missing, and files are in it; configure it again, and see: strongroom storage list"
        configuration.blame(("storages", name), message)
    configuration.refuse_problems()


def _require_free_port(configuration: Configuration, section: str, host: str, port: int) -> None:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        socket.create_server((host, port), family=family).close()
    except OSError as error:
        key = "host" if isinstance(error, socket.gaierror) else "port"
        reason = f"cannot listen on {host}:{port}: {error.strerror}"
        configuration.blame((section, key), f"{reason}; free the port or configure another address")
