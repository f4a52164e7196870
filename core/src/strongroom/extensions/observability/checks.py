"""The doctor's checks of what the services have in the database: events, names, scans, plugins, jobs."""

import io
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import KW_ONLY, dataclass
from datetime import timedelta
from typing import Any, Final

from sqlalchemy import inspect

from strongroom.activity.events.positions import Positions
from strongroom.activity.notifications.service import MessageService
from strongroom.clock import Clock, iso_format
from strongroom.content.files.reindexing import NameReindexing
from strongroom.content.scanning.rescans import Rescans
from strongroom.content.scanning.scanners import Scanners
from strongroom.extensions.observability.doctor import CheckResult, failed, ok, warning
from strongroom.foundation.database import Database
from strongroom.foundation.database.plugin_tables import AllTables, left_tables, plugin_schemas
from strongroom.foundation.jobs.leases import JobLeases
from strongroom.foundation.jobs.models import JobState
from strongroom.foundation.plugins.plugin import PluginError
from strongroom.identity.users.bulk import count_other_values, find_unreachable, unknown_schemes
from strongroom.identity.users.change_notices import ChangeNotices
from strongroom.identity.users.user_reindexing import UserReindexing
from strongroom.plugin_api.jobs import Job
from strongroom.plugin_api.login import LoginMethod
from strongroom.plugin_api.scanning import ContentScanner, ScannerUnavailable
from strongroom.web.pages.template_copies import TemplateCopies

_SCAN_WAIT: Final = 60 * 60 * 1000
"""Milliseconds that a file may wait for its scan without a warning."""

_HARMLESS: Final = b"strongroom doctor"

_NAMED: Final = 10
"""How many users a finding names."""

_LATE: Final = timedelta(minutes=10)
"""How late a job is at least before it is reported; a server may be busy with another one."""


@dataclass(slots=True, eq=False, repr=False)
class EventsCheck:
    """Reports the event sinks that fail, and their dead letters."""

    _positions: Positions

    def __call__(self) -> Iterator[CheckResult]:
        """Yield a finding per failing sink, or one for all sinks together."""
        part, sinks = "events", self._positions.sinks()
        failing = Counter(position.sink for position in self._positions.failing())
        dead = Counter(letter.sink for letter in self._positions.dead_letters())
        for sink in sorted(failing.keys() | dead.keys()):
            yield warning(
                f"{part}.{sink}",
                f"{failing[sink]} streams are delayed by failures, {dead[sink]} events were given up",
                "see the server's log and `strongroom events status`; to deliver events again, run: "
                "strongroom events replay",
            )
        if not failing and not dead:
            yield ok(part, f"delivered to {', '.join(sinks) or 'no sink'}")


@dataclass(slots=True, eq=False, repr=False)
class MessagesCheck:
    """Reports the messages of a day that could not be sent, and addresses that no login finds."""

    _messages: MessageService
    _database: Database

    def __call__(self) -> Iterator[CheckResult]:
        """Yield a finding per channel and outcome, and one for the addresses."""
        for channel, outcome, count in self._messages.unsent():
            yield warning(
                f"messages.{channel}",
                f"{count} messages of the last 24 hours were not sent: {outcome}",
                "see the server's log; to test the senders, run: strongroom doctor --send-to ADDRESS",
            )
        with self._database.read() as connection:
            users = find_unreachable(connection)
        if users:
            yield warning(
                "credentials",
                f"{len(users)} users have the e-mail address of another: {', '.join(users[:_NAMED])}",
                "set another address for each of them",
            )


@dataclass(slots=True, eq=False, repr=False)
class TemplateCopiesCheck:
    """Reports copies of templates whose originals have changed.

    Args:
        copies: the deployment's copies; ``None`` without a folder for them.
    """

    _copies: TemplateCopies | None

    def __call__(self) -> Iterator[CheckResult]:
        """Yield a finding per stale copy."""
        for name in self._copies.stale() if self._copies else ():
            yield warning(
                "pages.templates",
                f"{name} is a copy of another version of the template",
                f"copy it again by `strongroom pages copy {name}`, and repeat your changes",
            )


@dataclass(slots=True, eq=False, repr=False)
class RestoringPageCheck:
    """Reports where links lead by which users take back a contact that another person has replaced.

    Args:
        notices: the notices with the links.
        is_production: whether a missing page is a problem.
    """

    _notices: ChangeNotices
    _: KW_ONLY
    is_production: bool

    def __call__(self) -> Iterator[CheckResult]:
        """Yield one finding."""
        part, page = "users.restore_url", self._notices.restoring_page
        if page is None and self.is_production:
            yield warning(
                part,
                "absent, so users cannot take back a contact that another person has replaced",
                "enable login pages, or set users.restore_url to a page of your own",
            )
        else:
            yield ok(part, f"links lead to {page}" if page else "absent: notices have no link")


@dataclass(slots=True, eq=False, repr=False)
class NameIndexCheck:
    """Compares the number of indexed names with the number of files and folders."""

    _reindexing: NameReindexing

    def __call__(self) -> Iterator[CheckResult]:
        """Yield one finding."""
        _, missing = self._reindexing.count()
        if missing:
            # Servers of the version before create nodes without it while an upgrade is rolled out.
            yield warning(
                "search", f"does not find {missing} files and folders", "run: strongroom files reindex"
            )
        else:
            yield ok("search", "the index has the names of all files and folders")


@dataclass(slots=True, eq=False, repr=False)
class UserIndexCheck:
    """Looks for users who are not in the index of searches."""

    _reindexing: UserReindexing

    def __call__(self) -> Iterator[CheckResult]:
        """Yield one finding."""
        _, missing = self._reindexing.count()
        if missing:
            # As with nodes: servers of the version before create users without it.
            yield warning("users", f"searches miss {missing} users", "run: strongroom users reindex")
        else:
            yield ok("users", "the index of searches has all users")


@dataclass(slots=True, eq=False, repr=False)
class ScannersCheck:
    """Scans a harmless text with each scanner, and looks for files that wait for too long."""

    _scanners: Scanners
    _rescans: Rescans
    _clock: Clock

    def __call__(self) -> Iterator[CheckResult]:
        """Yield the findings."""
        for scanner in self._scanners.scanners:
            yield _try_scanner(scanner)
        yield from self._examine_due()

    def _examine_due(self) -> Iterator[CheckResult]:
        part, (count, oldest) = "scanning", self._rescans.due()
        if not count or oldest is None:
            return
        message = f"{count} files wait for a scan"
        if not self._scanners.scanners:
            yield warning(part, f"{message}, but no scanner is configured", "see scanning.scanners")
        elif self._clock.now() - oldest > _SCAN_WAIT:
            hours = (self._clock.now() - oldest) // _SCAN_WAIT
            yield warning(
                part,
                f"{message}, the oldest for {hours} h",
                "see the log of the servers, or raise advanced.scan_threads",
            )
        else:
            yield ok(part, message)


def _try_scanner(scanner: ContentScanner[Any]) -> CheckResult:
    part = f"scanning.{scanner.name}"
    try:
        version = scanner.version()
        scanner.scan(
            io.BytesIO(_HARMLESS), name="doctor.txt", size=len(_HARMLESS), content_type="text/plain"
        )
    except ScannerUnavailable as error:
        remedy = f"start its service, or correct [{part}]; until then, new files are held back"
        return failed(part, f"is unavailable: {error}", remedy)
    except Exception as error:
        return failed(
            part, f"failed: {type(error).__name__}", "see the log; it is a fault of the plugin"
        )
    if version is None:
        return ok(part, "scans")
    return ok(part, f"scans with {version.engine}, database {version.database or 'unknown'}")


@dataclass(slots=True, eq=False, repr=False)
class PluginTablesCheck:
    """Compares the tables of plugins with the enabled plugins."""

    _database: Database
    _tables: AllTables

    def __call__(self) -> Iterator[CheckResult]:
        """Yield a finding for each plugin that has tables, or has left some."""
        for schema in plugin_schemas(self._database.engine, self._tables):
            part = f"plugins.{schema.plugin}"
            if schema.is_current:
                yield ok(part, f"the schema of its tables is {schema}, the newest")
            elif schema.is_served:
                yield ok(part, f"the schema of its tables is {schema}, and compatible")
            else:
                yield failed(part, f"the schema of its tables is {schema}", schema.remedy)
        existing = set(inspect(self._database.engine).get_table_names())
        for plugin, names in left_tables(existing, self._tables).items():
            yield warning(
                f"plugins.{plugin}",
                f"is not enabled, but has tables, which backups leave out: {', '.join(names)}",
                "enable it again, or drop its tables",
            )


@dataclass(slots=True, eq=False, repr=False)
class ImportedPasswordsCheck:
    """Compares the schemes of imported passwords with those that are enabled.

    Args:
        schemes: the names of the schemes of the enabled plugins.
    """

    _database: Database
    _schemes: Collection[str]

    def __call__(self) -> Iterator[CheckResult]:
        """Yield a finding for each scheme that passwords have and no enabled plugin knows."""
        with self._database.read() as connection:
            unknown = unknown_schemes(connection, self._schemes)
        for scheme, count in unknown:
            yield warning(
                f"passwords.{scheme}",
                f"{count} imported passwords are refused: no enabled plugin has their scheme",
                "enable the plugin that has it, such as password_schemes",
            )


class LoginMethodsCheck:
    """Lets each login method report what the operator must or should correct."""

    def __init__(self, methods: Iterable[LoginMethod[Any]]) -> None:
        names = ("faults", "warnings")
        self._methods = [
            item
            for item in methods
            if any(getattr(type(item), name) is not getattr(LoginMethod, name) for name in names)
        ]

    def __call__(self) -> Iterator[CheckResult]:
        """Yield a finding for each fault and warning, and one for each method without any."""
        for method in self._methods:
            part = f"login.{method.name}"
            try:
                faults, warnings = list(method.faults()), list(method.warnings())
            except Exception as error:
                faults, warnings = [f"failed: {type(error).__name__}"], []
            for fault in faults:
                yield warning(part, fault, f"see [{part}]; until then, logins by it fail")
            for line in warnings:
                yield warning(part, line, f"see [{part}]")
            if not faults and not warnings:
                yield ok(part, "is configured")


class LostCredentialsCheck:
    """Looks for credentials that no login method can verify any more."""

    def __init__(self, database: Database, methods: Iterable[LoginMethod[Any]]) -> None:
        self._database = database
        self._methods = tuple(methods)

    def __call__(self) -> Iterator[CheckResult]:
        """Yield a finding for each kind that has such credentials."""
        for method in self._methods:
            for kind, prefixes in method.credential_prefixes().items():
                with self._database.read() as connection:
                    count = count_other_values(connection, kind, prefixes)
                if count:
                    yield warning(
                        f"login.{method.name}",
                        f"{count} credentials are of no configured part of it, so they log in no user",
                        "restore the part, or its former name, in the configuration",
                    )


@dataclass(slots=True, eq=False, repr=False)
class JobsCheck:
    """Compares the rows of jobs with the registered jobs."""

    _leases: JobLeases
    _jobs: Callable[[], Mapping[str, Job]]
    _clock: Clock

    def __call__(self) -> Iterator[CheckResult]:
        """Yield a finding for each job."""
        try:
            jobs = self._jobs()
        except PluginError as error:
            yield failed("plugins.enabled", str(error), "correct or disable the plugin")
            return
        states = self._leases.states() if jobs else {}
        for name, job in jobs.items():
            yield self._examine(f"jobs.{name}", job, states.get(name))

    def _examine(self, part: str, job: Job, state: JobState | None) -> CheckResult:
        now = self._clock.now()
        if state is None:
            return ok(part, "is added when a server starts")
        if state.has_failed:
            message = f"failed at {iso_format(state.failed_at or 0)}: {state.failure}"
            return warning(part, message, "see the log of the server for the cause")
        late = max(job.every, _LATE).total_seconds() * 1000
        if state.due_at + late < now and not state.is_running(now):
            return warning(part, f"is due since {iso_format(state.due_at)}", "start a server")
        if state.succeeded_at is None:
            return ok(part, f"is due at {iso_format(state.due_at)}")
        return ok(part, f"succeeded at {iso_format(state.succeeded_at)}")
