"""The infrastructure that all services use: configuration, database, keys, metrics and limits."""

import logging
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, NoReturn

from sqlalchemy.exc import ArgumentError, NoSuchModuleError

from strongroom.audit.service import AuditService
from strongroom.clock import Clock
from strongroom.config import Configuration, Settings
from strongroom.database import Database
from strongroom.limits.backends import LimitBackend, in_database, in_redis
from strongroom.limits.rates import RateLimits
from strongroom.limits.service import Counters
from strongroom.plugin_api import Extension
from strongroom.plugin_api.storage import StorageError
from strongroom.secret_keys import SecretKeys, load_or_create_secret
from strongroom.selection import ExtensionSpec, ExtensionT, Selection
from strongroom.users.service import UserService

if TYPE_CHECKING:
    from strongroom.telemetry.metrics import Metrics

logger = logging.getLogger(__name__)


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
    ) -> None:
        """Open the infrastructure.

        Args:
            configuration: the parsed configuration.
            selection: the selected plugins.
            clock: the source of timestamps.
            resources: receives everything that must be closed at the end of the process.
            patient: disable the time limit of database statements.
        """
        self._patient = patient
        self.configuration = configuration
        self.settings: Settings = configuration.settings
        self.selection = selection
        self.clock = clock
        self.resources = resources
        # The order matters: the secret key and SQLite are in the data directory, and the database
        # reports to the metrics.
        self._make_data_dir()
        self.keys = self._secret_keys()
        self.metrics = self._make_metrics()
        self.database = self._open_database()
        self.audit = AuditService(clock, self.metrics.audit_event if self.metrics else None)
        self.users = UserService(clock)
        self.counters = Counters(clock, self.keys)
        self.limit_backend = self._limit_backend()
        self.limits_store = self.limit_backend.open()
        self.rates = RateLimits(self.limits_store, self.keys, clock)

    def construct(
        self, choice: ExtensionSpec[ExtensionT], path: tuple[str, ...], *services: Any
    ) -> ExtensionT:
        """Construct an extension and register it for closing at the end of the process.

        Args:
            choice: the extension and its options.
            path: the configuration table of the extension, for error messages.
            services: further arguments of the constructor.

        Raises:
            ConfigurationError: the constructor failed.
        """
        try:
            extension = choice.create(*services)
        except StorageError as error:
            self.refuse(path, f"cannot be opened: {error}")
        except Exception as error:
            reason = f"{type(error).__name__}: {' '.join(str(error).split())}"
            self.refuse(path, f"{choice.extension.name} refuses its options: {reason}")
        self.close_at_end(extension)
        return extension

    def close_at_end(self, extension: Extension[Any]) -> None:
        """Close an extension at the end of the process; a failure is logged and does not propagate."""
        self.resources.callback(_close, extension)

    def refuse(self, path: tuple[str, ...], message: str) -> NoReturn:
        """Raise a :class:`ConfigurationError` for a key of the configuration."""
        self.configuration.add_error(path, message)
        self.configuration.raise_if_invalid()
        raise AssertionError("unreachable: an error was just added")

    def _make_data_dir(self) -> None:
        try:
            self.settings.server.data_dir.absolute().mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError as error:
            self.refuse(("server", "data_dir"), f"cannot be created: {error.strerror}")

    def _secret_keys(self) -> SecretKeys:
        server = self.settings.server
        try:
            return SecretKeys(server.secret_key or load_or_create_secret(self.settings.secret_path))
        except ValueError as error:
            self.refuse(("server", "secret_key"), str(error))

    def _open_database(self) -> Database:
        try:
            database = Database(
                self.settings.database_url,
                pool_size=self.settings.database.pool_size,
                timeout_seconds=None if self._patient else self.settings.database.timeout_seconds,
            )
        except (ValueError, ArgumentError, NoSuchModuleError) as error:
            self.refuse(("database", "url"), f"cannot be opened: {error}")
        self.resources.callback(database.close)
        if self.metrics is not None:
            for engine in database.engines:
                self.metrics.watch(engine)
        return database

    def _limit_backend(self) -> LimitBackend:
        url = self.settings.redis.url
        return in_redis(url) if url else in_database(self.database, self.clock)

    def _make_metrics(self) -> "Metrics | None":
        """Return the metrics, or ``None`` without a management port to serve them."""
        if not self.settings.management.port:
            return None
        # Imported here to save time when there are no metrics.
        from prometheus_client import CollectorRegistry

        from strongroom.telemetry.metrics import Metrics

        return Metrics(CollectorRegistry())


def _close(extension: Extension[Any]) -> None:
    try:
        extension.close()
    except Exception:
        logger.exception("The extension %s failed to close", extension.name)
