"""The infrastructure of all services: configuration, database, keys, metrics, limits and storages."""

import logging
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import fields
from functools import cached_property, partial
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final, NoReturn

from sqlalchemy.exc import ArgumentError, NoSuchModuleError

from strongroom.clock import Clock
from strongroom.extensions.observability.observers import StatementObserver
from strongroom.foundation.addresses import get_network
from strongroom.foundation.config import Configuration, ConfigurationError, Settings
from strongroom.foundation.config.database_urls import with_host_parameters
from strongroom.foundation.config.rates import Rate
from strongroom.foundation.config.schema import split_key
from strongroom.foundation.database import Database
from strongroom.foundation.idempotency import IdempotencyKeys
from strongroom.foundation.jobs.named_leases import NamedLeases
from strongroom.foundation.limits.backends import LimitBackend, in_database, in_redis
from strongroom.foundation.limits.service import Counters, RateLimits, hashed_subject
from strongroom.foundation.plugins.hook_calls import get_owner, named_if_stuck, one_line
from strongroom.foundation.plugins.selection import ExtensionSpec, ExtensionT, Selection
from strongroom.foundation.plugins.shared_values import SharedValues
from strongroom.foundation.secret_keys import SecretKeys, load_or_create_secret
from strongroom.foundation.translations import Translations
from strongroom.plugin_api import Extension
from strongroom.plugin_api.folders import require_possible_folder
from strongroom.plugin_api.keys import KeyProvider, KeyProviderError
from strongroom.plugin_api.storage import (
    StorageError,
    StorageUnavailable,
)
from strongroom.plugin_api.tracing import process_tracer
from strongroom.web.http.dispatch.application import Application
from strongroom.web.http.request import client

if TYPE_CHECKING:
    from strongroom.extensions.observability.metrics import Metrics


logger = logging.getLogger(__name__)

_FOLDER_WANTED: Final = "name a folder that the server may create or write to"


class Infrastructure:
    """The configuration of a process, and the services that most others depend on.

    Raises:
        ConfigurationError: a key has a value that cannot be used.
    """

    def __init__(
        self,
        configuration: Configuration,
        selection: Selection,
        clock: Clock,
        resources: ExitStack,
        *,
        patient: bool = False,
        read_only: bool = False,
    ) -> None:
        """Open the infrastructure.

        Args:
            resources: receives everything that must be closed at the end of the process.
            patient: disable the time limit of database statements.
            read_only: write nothing; see :meth:`generated`.
        """
        self.attach: Callable[[Extension[Any]], None] = lambda _extension: None
        self._patient = patient
        self._read_only = read_only
        self.configuration = configuration
        self.settings: Settings = configuration.settings
        self.selection = selection
        self.resources = resources
        # The order matters: the secret key and SQLite are in the data directory, and the database
        # reports to the metrics.
        self._require_exporter()
        self._make_data_dir()
        self.keys = self._secret_keys()
        self.metrics = self._make_metrics()
        if self.metrics is not None:
            selection.plugins.slow_hooks.count_by(self.metrics.slow_hook)
        self.database = self._open_database()
        self.clock = clock = self.database.transaction_clock(clock)
        self.translations = Translations(selection.plugins.packages())
        self.counters = Counters(clock, self.keys)
        self.leases = NamedLeases(self.database, clock)
        self.shared_values = SharedValues(self.database, clock, self.keys)
        self.idempotency = IdempotencyKeys(self.database, clock, self.keys)
        # Also of a process that serves no routes: a command of a plugin may count events, too.
        self.app = Application("strongroom")
        limiter = self._limit_backend().open(self.app, self._client_subject)
        self.limits_store = limiter.storage
        self.rates = RateLimits(limiter, self._limits(), self.keys, clock, self.on_refusal)

    def construct(
        self, choice: ExtensionSpec[ExtensionT], path: tuple[str, ...], *services: Any
    ) -> ExtensionT:
        """Construct an extension, attach it, and register it for closing at the end of the process.

        Raises:
            ConfigurationError: the constructor or ``attach`` failed.
        """
        try:
            extension = choice.create(*services)
        except ConfigurationError:
            # Raised by a dependency of this extension.
            raise
        except (StorageError, KeyProviderError) as error:
            is_temporary = isinstance(error, StorageUnavailable)
            place, fault = split_key(str(error), choice.extension.options_type, path)
            fault = f"cannot be opened: {error}" if place == path else fault
            self.refuse(place, fault, is_temporary=is_temporary)
        except Exception as error:
            reason = f"{type(error).__name__}: {' '.join(str(error).split())}"
            self.refuse(path, f"{choice.extension.name} refuses its options: {reason}")
        self._close_at_end(extension)
        try:
            self.attach(extension)
        except Exception as error:
            self.refuse(path, f"{choice.extension.name} failed in attach: {one_line(error)}")
        return extension

    @cached_property
    def key_provider(self) -> KeyProvider[Any]:
        """The key provider, constructed at its first use: most deployments have no master key.

        Raises:
            ConfigurationError: the constructor failed.
        """
        return self.construct(self.selection.keys, ("keys",))

    def _close_at_end(self, extension: Extension[Any]) -> None:
        """Close an extension at the end of the process; a failure is logged and does not propagate."""
        self.resources.callback(_close, extension)

    def refuse(self, path: tuple[str, ...], message: str, *, is_temporary: bool = False) -> NoReturn:
        """Raise a :class:`ConfigurationError` for a key of the configuration."""
        self.configuration.add_error(path, message, is_temporary=is_temporary)
        self.configuration.raise_if_invalid()
        raise AssertionError("unreachable: an error was just added")

    def _require_exporter(self) -> None:
        if self.settings.tracing.endpoint and find_spec("opentelemetry") is None:
            self.refuse(("tracing", "endpoint"), 'needs OpenTelemetry: pip install "strongroom[otlp]"')

    def generated(self, path: Path) -> Path:
        """Return the path of a file that the server generates if it is missing.

        An infrastructure that writes nothing generates a missing file in a temporary folder instead.
        """
        return self._temporary / path.name if self._read_only and not path.exists() else path

    @cached_property
    def _temporary(self) -> Path:
        folder = TemporaryDirectory(prefix="strongroom-check-")
        self.resources.callback(folder.cleanup)
        return Path(folder.name)

    def _make_data_dir(self) -> None:
        path = self.settings.server.data_dir.absolute()
        try:
            require_possible_folder(path)
            if not self._read_only:
                path.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError as error:
            reason = f"{error.filename}: {error.strerror}"
            self.refuse(("server", "data_dir"), f"cannot be used: {reason}; {_FOLDER_WANTED}")

    def _secret_keys(self) -> SecretKeys:
        server = self.settings.server
        try:
            return SecretKeys(server.secret_key or self._generated_secret())
        except ValueError as error:
            self.refuse(("server", "secret_key"), str(error))

    def _generated_secret(self) -> str:
        return load_or_create_secret(self.generated(self.settings.secret_path))

    def _open_database(self) -> Database:
        try:
            database = Database(
                self.settings.database_url,
                pool_size=self.settings.database.pool_size,
                readers=self.settings.database.hot_connections,
                timeout_seconds=None if self._patient else self.settings.database.timeout_seconds,
                read_only=self._read_only,
            )
        except (ValueError, ArgumentError, NoSuchModuleError) as error:
            self.refuse(("database", "url"), f"cannot be opened: {error}")
        self.resources.callback(database.close)
        self._add_replica(database)
        self._observe(database)
        return database

    def _add_replica(self, database: Database) -> None:
        settings = self.settings.database
        if not settings.replica_url:
            return
        try:
            database.add_replica(
                with_host_parameters(settings.replica_url),
                readers=settings.hot_connections,
                timeout_seconds=None if self._patient else settings.timeout_seconds,
                wait_seconds=settings.replica_wait_ms / 1000,
                max_age=settings.replica_max_age,
            )
        except ArgumentError as error:
            self.refuse(("database", "replica_url"), f"cannot be opened: {error}")

    @property
    def is_observed(self) -> bool:
        """Whether there are metrics or traces."""
        return self.metrics is not None or process_tracer() is not None

    def on_refusal(self, limit: str) -> None:
        """Count an attempt that a rate limit refused."""
        if self.metrics is not None:
            self.metrics.limited(limit)

    def on_wait(self, queue: str) -> Callable[[float], None]:
        """Return what records the seconds that work has waited in a queue."""
        return partial(self.metrics.queue_wait, queue) if self.metrics else lambda _seconds: None

    def _observe(self, database: Database) -> None:
        metrics, slow = self.metrics, self.settings.database.slow_query_ms
        database.observe_queues(self.on_wait("tenant"))
        if metrics is not None:
            # Not the connection that writes on SQLite, which stays open.
            metrics.watch(database.engine)
            database.observe_replica(metrics.replica_read)
        # Commands have long statements, and print nothing about them.
        if self.is_observed or (slow and not self._patient):
            system = database.engine.dialect.name
            observer = StatementObserver(system, metrics, 0 if self._patient else slow / 1000)
            database.observe(observer, metrics.database_wait if metrics else None)

    def _limit_backend(self) -> LimitBackend:
        address = self.settings.redis.address
        return in_redis(address) if address else in_database(self.database, self.clock)

    def _limits(self) -> dict[str, tuple[Rate, ...]]:
        settings = self.settings.limits
        values = {field.name: getattr(settings, field.name) for field in fields(settings)}
        return {name: rates for name, rates in values.items() if isinstance(rates, tuple)}

    def _client_subject(self) -> str:
        return hashed_subject(self.keys, get_network(client().address))

    def _make_metrics(self) -> "Metrics | None":
        """Return the metrics, or ``None`` without a management port to serve them."""
        if not self.settings.management.port:
            return None
        # Imported here to save time when there are no metrics.
        from prometheus_client import CollectorRegistry

        from strongroom.extensions.observability.metrics import Metrics

        return Metrics(CollectorRegistry())


def _close(extension: Extension[Any]) -> None:
    try:
        with named_if_stuck(f"{get_owner(extension)} has not closed", "its method close must return"):
            extension.close()
    except Exception:
        logger.exception("The extension %s failed to close", extension.name)
