"""The checks before a server starts, shared by ``serve`` and ``config check``."""

import os
import resource
import socket
from collections.abc import Iterator
from contextlib import closing, contextmanager
from errno import EADDRNOTAVAIL
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException
from typing import TYPE_CHECKING, Final

from strongroom.cli.context import require_ownership
from strongroom.cli.database_checks import require_own_secret, require_served_schema
from strongroom.cli.output import echo
from strongroom.cli.redis_faults import redis_fault
from strongroom.cli.service_faults import ServiceFault
from strongroom.foundation.config import Configuration
from strongroom.foundation.database.plugin_tables import (
    AllTables,
    MigrationFailed,
    PluginTablesError,
)
from strongroom.foundation.plugins.selection import add_plugin_error, select
from strongroom.foundation.service_manager import is_inherited
from strongroom.plugin_api.storage import StorageFull, StorageUnavailable

if TYPE_CHECKING:
    from strongroom.assembly.container import Container

_PROBE_SECONDS: Final = 2
_FEW_FILES: Final = 4096


@contextmanager
def application(configuration: Configuration) -> Iterator["Container"]:
    """Build the application as a worker does, and check the schema, the secret key and the storages.

    Connections of the core are closed at the end; plugins are not closed until the process exits.

    Raises:
        ConfigurationError: a check failed.
    """
    from strongroom.assembly.app import create_app, get_container

    container = get_container(create_app(configuration))
    try:
        require_served_schema(configuration, container.database, container.selection.plugins.tables)
        require_own_secret(configuration, container.database, container.base.keys)
        require_known_storages(configuration, container)
        _require_usable_storages(configuration, container)
        yield container
    finally:
        container.database.close()


def raise_file_limit() -> None:
    """Raise the limit of open files to the hard limit, and warn if that is low."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    if hard != resource.RLIM_INFINITY and hard < _FEW_FILES:
        echo(
            f"strongroom: warning: a process may open {hard} files, including connections; raise "
            f"the limit to {_FEW_FILES} or more (ulimit -n, LimitNOFILE=)",
            err=True,
        )


def require_offline(configuration: Configuration) -> None:
    """Check the configuration and the hooks of its plugins, without connections to other services.

    Raises:
        ConfigurationError: a check failed.
    """
    from strongroom.activity.notifications.services import message_texts
    from strongroom.assembly.plugin_host.hosts import offline_hosts
    from strongroom.assembly.plugin_host.part import registration_fault
    from strongroom.cli.plugin_commands import collect_commands
    from strongroom.extensions.production_checks.checks import refuse_unsafe

    selection = select(configuration)
    refuse_unsafe(configuration, selection)
    message_texts(configuration)
    hosts = offline_hosts(configuration.settings, selection.plugins, selection.options)
    faults = [registration_fault(hosts, plugin) for plugin in selection.plugins.plugins]
    faults += _tables_faults(configuration, selection.plugins.tables)
    for fault in dict.fromkeys([*collect_commands(hosts)[1], *filter(None, faults)]):
        add_plugin_error(configuration, fault)
    configuration.raise_if_invalid()


def _tables_faults(configuration: Configuration, tables: AllTables) -> Iterator[str]:
    """Yield the faults of the migrations of plugins, which run on an empty database in memory."""
    if not tables:
        return
    # Imports Alembic, which most checks do not need.
    from strongroom.foundation.database.upgrade import try_migrations

    is_sqlite = configuration.settings.database.url.startswith("sqlite")
    for plugin, declared in tables.items():
        try:
            try_migrations(plugin, declared)
        except MigrationFailed as error:
            # The database in memory is SQLite, and another one may have what this migration uses.
            if is_sqlite:
                yield str(error)
        except PluginTablesError as error:
            yield str(error)


def limits_fault(container: "Container") -> ServiceFault | None:
    """Return why Redis cannot store rate limits, or ``None`` if it can or is not configured."""
    return redis_fault(address) if (address := container.settings.redis.address) else None


def require_free_ports(configuration: Configuration, *, may_run: bool = False) -> None:
    """Check that the server can listen on its ports.

    Args:
        may_run: whether ports of a running Strongroom count as free.

    Raises:
        ConfigurationError: a port is not available.
    """
    server, management = configuration.settings.server, configuration.settings.management
    addresses = [("server", server.host, server.port, server.base_path)]
    if management.port:
        if _is_shared(server.host, management.host) and server.port == management.port:
            configuration.add_error(
                ("management", "port"), "is also server.port; configure another port"
            )
        addresses.append(("management", management.host, management.port, ""))
    for section, host, port, base_path in addresses:
        fault = None if is_inherited(host, port) else _port_fault(host, port)
        if fault and not (may_run and _is_strongroom(host, port, base_path)):
            key, reason = fault
            configuration.add_error((section, key), reason)
    configuration.raise_if_invalid()


def require_known_storages(configuration: Configuration, container: "Container") -> None:
    """Check that each storage that has files is configured.

    Raises:
        ConfigurationError: a storage is missing.
    """
    from strongroom.content.storage.stores import Inventory

    for name in container.get(Inventory).lost():
        message = "is missing, but files are in it; configure it again, and see: strongroom storage list"
        configuration.add_error(("storages", name), message)
    configuration.raise_if_invalid()


def _require_usable_storages(configuration: Configuration, container: "Container") -> None:
    """Refuse a storage of another database or with wrong options; warn if one is unavailable or full.

    An unavailable or full storage does not prevent the start, because logins need no storage, and a
    full one is emptied through the API.
    """
    from strongroom.content.storage.service import BlobService
    from strongroom.extensions.production_checks.checks import refuse_misplaced, refuse_unusable

    storages = container.get(BlobService).storages.items()
    backends = {name: store.backend for name, store in storages}
    refuse_misplaced(configuration, backends)
    errors = dict(require_ownership(configuration, container))
    answering = {name: backend for name, backend in backends.items() if name not in errors}
    errors |= refuse_unusable(configuration, answering)
    for name, error in errors.items():
        if isinstance(error, StorageUnavailable | StorageFull):
            echo(f"strongroom: warning: storages.{name}: cannot store files now: {error}", err=True)
        else:
            configuration.add_error(("storages", name), f"cannot be used: {error}")
    configuration.raise_if_invalid()


def _is_shared(host: str, other: str) -> bool:
    """Return whether two addresses to listen on include a common one."""
    return host == other or not {"0.0.0.0", "::"}.isdisjoint((host, other))  # noqa: S104  compared


def _port_fault(host: str, port: int) -> tuple[str, str] | None:
    """Return the wrong key (``host`` or ``port``) and the reason, or ``None``."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        socket.create_server((host, port), family=family).close()
    except OSError as error:
        is_unknown = isinstance(error, socket.gaierror) or error.errno is None
        why = error.strerror if is_unknown else os.strerror(error.errno or 0)
        reason = f"cannot listen on {host}:{port}: {why}"
        if is_unknown or error.errno == EADDRNOTAVAIL:
            return "host", f"{reason}; configure an address of this machine, or 0.0.0.0 for all"
        return "port", f"{reason}; free it, or configure another port"
    return None


def _is_strongroom(host: str, port: int, base_path: str) -> bool:
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104  compared
    try:
        with closing(HTTPConnection(host, port, timeout=_PROBE_SECONDS)) as connection:
            connection.request("GET", f"{base_path}/livez")
            return connection.getresponse().status == HTTPStatus.OK
    except (OSError, HTTPException):
        return False
