"""Diagnoses the services and settings that the server depends on, with a remedy for each fault."""

import stat
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Any, Final

from limits.storage import Storage
from sqlalchemy import Float, Integer, cast, func, select
from sqlalchemy.exc import SQLAlchemyError

from strongroom.activity.notifications.composition import Composer
from strongroom.clock import Clock
from strongroom.content.storage.ownership import StorageOwnership
from strongroom.content.storage.stores import find_fault
from strongroom.extensions.observability.clock_skew import DATABASE, NEWEST_RECORD, ClockSkew
from strongroom.extensions.observability.readiness import AWAY, DISK_FULL, IN_RECOVERY, database_fault
from strongroom.foundation.addresses import parse_network
from strongroom.foundation.config.plugin_discovery import writable_by_others
from strongroom.foundation.config.server_settings import TracingSettings
from strongroom.foundation.config.settings import Settings
from strongroom.foundation.database import Database
from strongroom.foundation.database.installation import is_own_secret
from strongroom.foundation.database.replica import ReplicaState
from strongroom.foundation.database.statements import Statement
from strongroom.foundation.database.upgrade import read_schema
from strongroom.foundation.errors import Unavailable
from strongroom.foundation.limits.backends import redis_fault, redis_risks, storage_fault
from strongroom.foundation.locales import DEFAULT_LOCALE
from strongroom.foundation.secret_keys import SecretKeys, is_readable_by_others
from strongroom.identity.users.service import OPEN
from strongroom.plugin_api.messages import DeliveryUncertain, MessageNotSent, MessageSender
from strongroom.plugin_api.storage import StorageBackend, StorageError, StorageFull, StorageUnavailable


class CheckState(StrEnum):
    """The state of a part."""

    OK = "ok"
    WARNING = "warning"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The result of checking one part.

    Args:
        part: the configuration key, or another name of the part.
        remedy: how to correct it; empty if nothing needs to be done.
    """

    part: str
    state: CheckState
    message: str
    remedy: str = ""


def ok(part: str, message: str) -> CheckResult:
    """Return the finding of a part without faults."""
    return CheckResult(part, CheckState.OK, message)


def failed(part: str, message: str, remedy: str) -> CheckResult:
    """Return the finding of a fault that prevents the server from working."""
    return CheckResult(part, CheckState.FAILED, message, remedy)


def warning(part: str, message: str, remedy: str) -> CheckResult:
    """Return the finding of a problem that the server can work with."""
    return CheckResult(part, CheckState.WARNING, message, remedy)


_CONNECTIONS_ALLOWED: Final = Statement(
    select(
        cast(func.current_setting("max_connections"), Integer)
        - cast(func.current_setting("superuser_reserved_connections"), Integer)
    )
)

_COMPILES: Final = Statement(
    select(func.pg_jit_available() & (cast(func.current_setting("jit_above_cost"), Float) >= 0))
)

_COLLECTOR_SECONDS: Final = 3.0

_TEMPLATE: Final = "login"
_PARAMETERS: Final = {"code": "000000", "minutes": "5", "source": "strongroom doctor"}


def try_senders(
    recipient: str, senders: Mapping[str, Sequence[MessageSender[Any]]], composer: Composer
) -> Iterator[CheckResult]:
    """Send a test message, with a dummy code, by every sender of the recipient's channel."""
    channel = "email" if "@" in recipient else "sms"
    if not senders.get(channel):
        yield failed(
            f"messages.{channel}", "no sender is configured", f"configure one in messages.{channel}"
        )
    for sender in senders.get(channel, ()):
        yield _try(sender, channel, recipient, composer)


def _try(sender: MessageSender[Any], channel: str, recipient: str, composer: Composer) -> CheckResult:
    message = composer.compose((channel, recipient), _TEMPLATE, DEFAULT_LOCALE, _PARAMETERS)
    part = f"messages.{sender.name}"
    try:
        reference = sender.send(message)
    except DeliveryUncertain as error:
        return failed(part, f"delivery is uncertain: {error}", "check the log of the gateway")
    except MessageNotSent as error:
        return failed(part, f"not sent: {error}", f"correct [{part}]")
    return ok(part, f"accepted by the gateway{f' as {reference}' if reference else ''}")


Check = Callable[[], Iterator[CheckResult]]
"""Yields the findings of a part."""

DATABASE_PART: Final = "database.url"
_SCHEMA_PART: Final = "schema"
_BASES: Final = (DATABASE_PART, _SCHEMA_PART)
"""The parts without which the further checks cannot run."""


def has_base_fault(results: Iterable[CheckResult]) -> bool:
    """Return whether the database or its schema has a fault, so that dependent parts would fail, too."""
    return any(result.part in _BASES and result.remedy for result in results)


TOLERATED: Final = 5000
"""The tolerated difference of two clocks in milliseconds."""

_CLOCKS: Final = {DATABASE: "the database's", NEWEST_RECORD: "the newest record's"}


@dataclass(slots=True, eq=False, repr=False)
class Doctor:
    """Diagnoses the parts of a server, whether it is running or not.

    Args:
        clock: the local clock, which is compared with other clocks.
        checks: further checks by the names of their parts; they need a current schema.
    """

    _settings: Settings
    _database: Database
    _limits_store: Storage
    _storages: Mapping[str, StorageBackend[Any]]
    _ownership: StorageOwnership
    _clock: Clock
    _keys: SecretKeys
    _checks: Mapping[str, Check] = field(default_factory=dict)

    def examine(self) -> Iterator[CheckResult]:
        """Yield the findings of all parts, one after the other."""
        is_served = True
        for name, check in self.parts().items():
            if is_served or name not in self.dependent:
                results = []
                for result in check():
                    results.append(result)
                    yield result
                is_served = is_served and not has_base_fault(results)

    @property
    def dependent(self) -> Collection[str]:
        """The names of the parts that need a database with a current schema."""
        return self._checks.keys()

    def parts(self) -> Mapping[str, Check]:
        """Return the checks of all parts by their names, which may run concurrently."""
        parts: dict[str, Check] = {DATABASE_PART: self._examine_databases, **self._checks}
        parts["limits"] = self._examine_limits
        if self._settings.tracing.endpoint:
            parts["tracing.endpoint"] = lambda: iter([examine_collector(self._settings.tracing)])
        for name in self._storages:
            parts[f"storages.{name}"] = partial(self._examine_storages, name)
        parts["server"] = self._examine_server
        return parts

    def _examine_databases(self) -> Iterator[CheckResult]:
        database = self._examine_database()
        yield database
        if not database.remedy:
            schema = self._examine_schema()
            yield schema
            if not schema.remedy:
                yield self._examine_secret()
            yield from self._examine_replica()
            yield from self._examine_connections()
            yield from self._examine_compilation()
            yield self._examine_clock()

    def _examine_server(self) -> Iterator[CheckResult]:
        yield self._examine_proxies()
        yield examine_registration(self._settings)
        yield from self._examine_files()

    def _examine_storages(self, name: str) -> Iterator[CheckResult]:
        yield self.examine_storage(name)

    def _examine_database(self) -> CheckResult:
        part, kind = DATABASE_PART, self._database.engine.dialect.name
        fault = database_fault(self._database)
        if fault == DISK_FULL:
            return failed(part, f"the disk of {kind} is full", "free space on it, or enlarge it")
        if fault == IN_RECOVERY:
            return failed(
                part, f"{kind} is a standby, which refuses writes", "name the primary in database.url"
            )
        if fault is not None:
            return failed(
                part, f"{kind} is unavailable", "start it, or correct database.url; see its log"
            )
        if kind == "sqlite" and self._settings.is_production:
            return ok(part, "SQLite is available; it supports a single machine only")
        return ok(part, f"{kind} is available")

    def _examine_schema(self) -> CheckResult:
        part, schema = _SCHEMA_PART, read_schema(self._database.engine)
        if schema.is_current:
            return ok(part, f"is {schema}, the newest")
        if schema.is_served:
            return ok(part, f"is {schema}, and compatible")
        return failed(part, f"is {schema}", schema.remedy.removeprefix("run: "))

    def _examine_secret(self) -> CheckResult:
        part = "secret"
        if is_own_secret(self._database, self._keys.fingerprint):
            return ok(part, "matches the database")
        return failed(
            part,
            "does not match the database, so all passwords fail",
            "set the original one (a backup contains it: tar -xOf ARCHIVE secret.key), or run: "
            "strongroom rescue adopt-secret",
        )

    def _examine_replica(self) -> Iterator[CheckResult]:
        part, replica = "database.replica_url", self._database.replica
        if replica is None:
            return
        try:
            state = self._database.examine_replica() or ReplicaState(None)
        except SQLAlchemyError as error:
            reason = str(getattr(error, "orig", None) or error).strip().splitlines()[0]
            state = ReplicaState(f"does not answer: {reason}")
        if state.fault is None and state.age > replica.max_age:
            state = ReplicaState(f"is {state.age:.0f} s behind the primary")
        if state.fault is None:
            yield ok(part, "has all changes" if not state.age else f"is {state.age:.1f} s behind")
            return
        yield warning(
            part,
            f"the replica {state.fault}, so the primary answers its reads",
            "start it, or name a streaming standby of database.url",
        )

    def _examine_connections(self) -> Iterator[CheckResult]:
        allowed = self._connections_allowed()
        if allowed is None:
            return
        workers = self._settings.server.workers
        demand = workers * self._settings.database.connections_per_process
        message = f"{workers} workers open up to {demand} connections, and PostgreSQL allows {allowed}"
        if demand <= allowed:
            yield ok("database.pool_size", message)
            return
        yield warning(
            "database.pool_size",
            f"{message}, for all nodes together",
            "lower database.pool_size or server.workers, or raise max_connections of PostgreSQL",
        )

    def _examine_compilation(self) -> Iterator[CheckResult]:
        # The server's own connections switch it off, unless a pooler or the URL overrides that.
        if self._database.engine.dialect.name != "postgresql":
            return
        with self._database.read() as connection:
            is_on = _COMPILES.scalar(connection)
        if is_on:
            yield warning(
                "database.jit",
                "PostgreSQL compiles statements, which adds seconds to some of them",
                "as the owner of the database, run: ALTER DATABASE name SET jit = off",
            )
        else:
            yield ok("database.jit", "PostgreSQL compiles no statements")

    def _examine_clock(self) -> CheckResult:
        skews = ClockSkew(self._database, self._clock).milliseconds()
        for name, skew in skews.items():
            if abs(skew) > TOLERATED:
                return failed(
                    "clock",
                    f"differs from {_CLOCKS[name]} by {abs(skew) / 1000:.0f} s",
                    "set the clock, and synchronise it by chrony or systemd-timesyncd",
                )
        return ok("clock", "agrees with the database")

    def _connections_allowed(self) -> int | None:
        if self._database.engine.dialect.name != "postgresql":
            return None
        with self._database.read() as connection:
            allowed: int = _CONNECTIONS_ALLOWED.scalar(connection)
        return allowed

    def _examine_limits(self) -> Iterator[CheckResult]:
        workers = self._settings.server.workers
        if self._settings.redis.url:
            yield from self._examine_redis(workers)
        else:
            yield self._examine_counters(workers)

    def _examine_counters(self, workers: int) -> CheckResult:
        try:
            fault = storage_fault(self._limits_store)
        except Unavailable:
            fault = AWAY
        if fault is not None:
            message = "the database, which stores the counters, is unavailable"
            return failed("limits", message, "repair the database")
        return ok("limits", f"counted in the database, so {workers} processes count as one")

    def _examine_redis(self, workers: int) -> Iterator[CheckResult]:
        if fault := redis_fault(self._limits_store):
            yield failed("limits", fault.message, fault.remedy)
            return
        yield ok("limits", f"counted in Redis, so {workers} processes count as one")
        for message, remedy in redis_risks(self._limits_store):
            yield warning("redis.url", message, remedy)

    def _examine_proxies(self) -> CheckResult:
        part, server = "server.trusted_proxies", self._settings.server
        networks = [parse_network(text) for text in server.trusted_proxies]
        if any(network.prefixlen == 0 for network in networks):
            return failed(
                part, "X-Forwarded-For is trusted from every client", "list the proxies' networks"
            )
        if not networks and server.public_url.startswith("https://"):
            return warning(
                part,
                "empty, but HTTPS needs a proxy: all clients count as the address of the proxy",
                'list the proxies\' networks, such as ["127.0.0.1/32"]',
            )
        return ok(part, ", ".join(server.trusted_proxies) or "no proxy is trusted")

    def examine_storage(self, name: str) -> CheckResult:
        """Write, read and delete an object of a storage, unless it belongs to another database."""
        part, storage = f"storages.{name}", self._storages[name]
        if fault := self._ownership_fault(name, storage):
            return failed(part, fault, "follow the message; see: strongroom rescue claim-storage --help")
        try:
            fault = find_fault(storage)
        except StorageFull as error:
            return failed(part, f"is full: {error}", "free space; until then, uploads are refused")
        except StorageUnavailable as error:
            return failed(part, f"is unavailable: {error}", f"start the store, or correct [{part}]")
        if fault:
            return failed(part, fault, f"correct the options in [{part}], or repair the store")
        return ok(part, "an object was written, read and deleted")

    def _ownership_fault(self, name: str, storage: StorageBackend[Any]) -> str | None:
        try:
            return self._ownership.examine(name, storage)
        except (StorageError, Unavailable, SQLAlchemyError):
            # The round trip of the storage, or the check of the database, reports this fault.
            return None

    def _examine_files(self) -> Iterator[CheckResult]:
        settings = self._settings
        yield _examine_folder("server.data_dir", settings.server.data_dir.absolute())
        for part, path in (
            ("server.secret_key", settings.secret_path),
            ("tokens.keys_file", settings.keys_path),
        ):
            if path.exists():
                yield _examine_mode(part, path)
        if settings.plugins.folder is not None:
            yield examine_plugin_files(settings.plugins.folder)


def examine_collector(settings: TracingSettings) -> CheckResult:
    """Return whether the collector of traces accepts a batch."""
    # Imported only here, because it takes long.
    from strongroom.extensions.observability.trace_export import CollectorExporter

    part, exporter = "tracing.endpoint", CollectorExporter(settings, _COLLECTOR_SECONDS)
    fault = exporter.fault()
    exporter.shutdown()
    if fault is None:
        return ok(part, "the collector accepts traces")
    return warning(
        part,
        f"the collector accepts no traces: {fault}",
        "start it, or correct tracing.endpoint or tracing.authorization; until then, spans are dropped",
    )


def examine_plugin_files(folder: Path) -> CheckResult:
    """Return whether users outside the group of one-file plugins can change them."""
    part, paths = "plugins.folder", " ".join(map(str, writable_by_others(folder)))
    if paths:
        return failed(part, f"others can change, and so run: {paths}", f"chmod o-w {paths}")
    return ok(part, f"only its owner and group can change {folder}")


def _examine_folder(part: str, path: Path) -> CheckResult:
    if path.stat().st_mode & stat.S_IRWXO:
        return failed(part, f"{path} can be read by others", f"chmod 700 {path}")
    return ok(part, f"{path} cannot be read by others")


def examine_registration(settings: Settings) -> CheckResult:
    """Return whether anyone who registers gets unlimited storage on a production server."""
    part, mode = "users.registration", settings.users.registration
    unlimited = settings.tenants.allow_user_creation and not settings.files.default_quota_bytes
    if settings.is_production and mode == OPEN and unlimited:
        return warning(
            part,
            "open, and each user may create tenants without a quota",
            "set files.default_quota_bytes, tenants.allow_user_creation = false, or close registration",
        )
    return ok(part, mode)


def _examine_mode(part: str, path: Path) -> CheckResult:
    if is_readable_by_others(path):
        return failed(part, f"{path} can be read by others", f"chmod 600 {path}")
    return ok(part, f"{path} can be read only by its owner")
