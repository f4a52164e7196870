"""The doctor's checks of what plugins have in the database: tables and jobs."""

from collections.abc import Callable, Iterator, Mapping
from datetime import timedelta
from typing import Final

from sqlalchemy import inspect

from strongroom.clock import Clock, iso_format
from strongroom.database import Database
from strongroom.database.plugin_tables import AllTables, left_tables, plugin_schemas
from strongroom.jobs.leases import JobLeases
from strongroom.jobs.models import JobState
from strongroom.observability.doctor import CheckResult, failed, ok, warning
from strongroom.plugin_api.jobs import Job
from strongroom.plugins.manager import PluginError

_LATE: Final = timedelta(minutes=10)
"""How late a job is at least before it is reported; a server may be busy with another one."""


class PluginTablesCheck:
    """Compares the tables of plugins with the enabled plugins."""

    def __init__(self, database: Database, tables: AllTables) -> None:
        self._database = database
        self._tables = tables

    def __call__(self) -> Iterator[CheckResult]:
        """Yield a finding for each plugin that has tables, or has left some."""
        for schema in plugin_schemas(self._database.engine, self._tables):
            part = f"plugins.{schema.plugin}"
            if schema.is_current:
                yield ok(part, f"the schema of its tables is {schema}, the newest")
            else:
                yield failed(part, f"the schema of its tables is {schema}", schema.remedy)
        found = set(inspect(self._database.engine).get_table_names())
        for plugin, names in left_tables(found, self._tables).items():
            yield warning(
                f"plugins.{plugin}",
                f"is not enabled, but has tables, which backups leave out: {', '.join(names)}",
                "enable it again, or drop its tables",
            )


class JobsCheck:
    """Compares the rows of jobs with the registered jobs."""

    def __init__(self, leases: JobLeases, jobs: Callable[[], Mapping[str, Job]], clock: Clock) -> None:
        self._leases = leases
        self._jobs = jobs
        self._clock = clock

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
