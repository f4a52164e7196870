"""Checks whether a server would start, without writing anything, for ``strongroom config check``."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from sqlalchemy.exc import SQLAlchemyError

from strongroom.cli.database_checks import refuse_other_secret, require_upgradable_schema
from strongroom.cli.database_faults import find_replica_fault
from strongroom.cli.startup import limits_fault, require_free_ports, require_known_storages
from strongroom.content.storage.ownership import read_owner, reason_not_to_start_with
from strongroom.foundation.config import Configuration
from strongroom.foundation.config.schema import split_key
from strongroom.foundation.config.sources import Problem
from strongroom.foundation.database.installation import is_own_secret
from strongroom.plugin_api.storage import StorageFull, StorageUnavailable

if TYPE_CHECKING:
    from strongroom.assembly.container import Container
    from strongroom.content.storage.stores import Store
    from strongroom.foundation.database import Database
    from strongroom.foundation.database.upgrade import Schema


def unavailable_services(configuration: Configuration) -> list[Problem]:
    """Check whether a server would start; return the services that it would start without.

    Raises:
        ConfigurationError: it would not start.
    """
    from strongroom.assembly.app import create_app, get_container

    container = get_container(create_app(configuration, read_only=True))
    try:
        schema = _schema_before_start(configuration, container)
        away = [
            *_away_storages(configuration, container, schema),
            *_away_limits(configuration, container),
            *_away_replica(configuration, container.database),
        ]
        require_free_ports(configuration, may_run=True)
    finally:
        container.close()
    return away


def _schema_before_start(configuration: Configuration, container: "Container") -> "Schema | None":
    """Return the schema if a start upgrades it, else ``None``; check what the rows say about a start."""
    database, tables = container.database, container.selection.plugins.tables
    schema = require_upgradable_schema(configuration, database, tables)
    if schema is None:
        if not is_own_secret(database, container.base.keys.fingerprint):
            refuse_other_secret(configuration)
        require_known_storages(configuration, container)
    return schema


def _away_storages(
    configuration: Configuration, container: "Container", schema: "Schema | None"
) -> Iterator[Problem]:
    from strongroom.content.storage.service import BlobService
    from strongroom.extensions.production_checks.checks import refuse_misplaced

    storages = container.get(BlobService).storages
    refuse_misplaced(configuration, {name: store.backend for name, store in storages.items()})
    for name, store in storages.items():
        path = ("storages", name)
        try:
            if fault := _find_fault(store, schema):
                configuration.add_error(path, fault)
        except (StorageUnavailable, StorageFull) as error:
            message = f"cannot store files now: {error}; start the store, or correct its options"
            yield configuration.problem(path, message, is_temporary=True)
        except Exception as error:
            # Drivers raise exceptions of their own, for example for an endpoint that is not a URL.
            reason = " ".join(str(error).split())
            place, fault = split_key(reason, store.backend.options_type, path)
            if place == path:
                fault = f"cannot be read: {reason}; correct its options, or the store"
            configuration.add_error(place, fault)
    configuration.raise_if_invalid()


def _find_fault(store: "Store", schema: "Schema | None") -> str | None:
    """Return why the database may not use a store, or ``None``; see the owner of a store."""
    if schema is None:
        return store.ownership_fault(claim=False)
    if schema.revision is None:
        return reason_not_to_start_with(store.backend)
    # The tables with which the owner is compared may only exist after the upgrade.
    read_owner(store.backend)
    return None


def _away_limits(configuration: Configuration, container: "Container") -> Iterator[Problem]:
    if fault := limits_fault(container):
        if not fault.is_temporary:
            configuration.add_error(("redis", "url"), fault.message)
            configuration.raise_if_invalid()
        yield configuration.problem(("redis", "url"), fault.message, is_temporary=True)


def _away_replica(configuration: Configuration, database: "Database") -> Iterator[Problem]:
    """Yield why the replica answers no reads, which a server starts without."""
    path, replica = ("database", "replica_url"), database.replica
    if replica is None:
        return
    try:
        state = database.examine_replica()
    except SQLAlchemyError as error:
        fault = find_replica_fault(replica.engine.url, error)
        if not fault.is_temporary:
            configuration.add_error(path, fault.message)
            configuration.raise_if_invalid()
        yield configuration.problem(path, fault.message, is_temporary=True)
        return
    if state is not None and state.fault is not None:
        message = f"{state.fault}; name a streaming standby of database.url"
        yield configuration.problem(path, message, is_temporary=True)
