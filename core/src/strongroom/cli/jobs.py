"""``strongroom jobs``: shows and runs recurring jobs."""

import json
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from strongroom.cli.context import CommandContext, config_option, plugins_checked
from strongroom.cli.output import echo
from strongroom.cli.progress import progress_bar
from strongroom.clock import iso_format
from strongroom.foundation.config.sources import suggestion

if TYPE_CHECKING:
    from strongroom.foundation.jobs.models import JobState


@click.group("jobs")
def jobs_group() -> None:
    """Show and run the recurring jobs of the core and of plugins."""


@jobs_group.command("list")
@config_option
@click.option("--json", "as_json", is_flag=True, help="Print the jobs as JSON.")
@click.pass_obj
def list_command(context: CommandContext, *, as_json: bool) -> None:
    """List the jobs, with their intervals, last results and next runs.

    A job is added when a server first starts with it.
    """
    with context.container() as container:
        jobs, states = plugins_checked(context, container.jobs), container.job_leases.states()
        now = container.base.clock.now()
    if as_json:
        known = {name: asdict(states[name]) if name in states else None for name in jobs}
        echo(json.dumps(known))
        return
    for name, job in jobs.items():
        echo(f"{name:<32} every {job.every}  {_describe(states.get(name), now)}")


@jobs_group.command("run")
@config_option
@click.argument("name")
@click.pass_obj
def run_command(context: CommandContext, name: str) -> None:
    """Run a job now, even if it is not due; exit with 1 if it fails.

    Refused while another process runs the job.
    """
    from strongroom.foundation.jobs.runner import JobRunning

    with context.container() as container:
        jobs = plugins_checked(context, container.jobs)
        if name not in jobs:
            raise click.ClickException(f'there is no job "{name}"; {suggestion(name, list(jobs))}')
        try:
            with progress_bar(f"Running {name}"):
                succeeded = container.job_runner(jobs).run_now(name)
        except JobRunning as error:
            raise click.ClickException(f"{name} runs in another process") from error
    if not succeeded:
        raise click.ClickException(f"{name} failed; see its log above")
    echo(f"{name} succeeded")


def _describe(state: "JobState | None", now: int) -> str:
    if state is None:
        return "never registered by a server"
    parts = []
    if state.is_running(now):
        parts.append(f"running since {iso_format(state.started_at or 0)} ({state.holder})")
    if state.succeeded_at is not None:
        parts.append(f"succeeded {iso_format(state.succeeded_at)}")
    if state.has_failed:
        parts.append(f"FAILED {iso_format(state.failed_at or 0)}: {state.failure}")
    return ", ".join([*parts, f"next {iso_format(state.due_at)}"])
