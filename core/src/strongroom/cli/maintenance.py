"""``strongroom prune`` and ``doctor``: maintain a running installation."""

import sys
from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from strongroom.cli.context import CommandContext, config_option, plugins_checked
from strongroom.cli.output import echo, echo_json
from strongroom.cli.progress import progress_bar
from strongroom.cli.range_runs import pause_option, stopping
from strongroom.extensions.observability.doctor import CheckResult, CheckState, failed
from strongroom.foundation.config import ConfigurationError

if TYPE_CHECKING:
    from strongroom.assembly.container import Container


@click.command("prune")
@config_option
@pause_option
@click.pass_obj
def prune(context: CommandContext, pause_ms: int) -> None:
    """Remove expired data; safe while servers run, which do it once a day (the job `core.prune`).

    Removes expired captchas, verification codes, rate limit counters and logins with their tokens; the
    personal data of users deleted more than users.erase_after_days ago; tenants deleted more than
    tenants.purge_after_days ago; file events older than files.events_kept_days; message records older
    than messages.retention_days; and audit records older than audit.retention_days. The content of
    deleted files is removed by `storage gc`. Expired rows of plugins are listed as PLUGIN.KIND. Exits
    with 1 if a kind cannot be removed; the others are removed nevertheless. A signal stops the command
    after its batch, and the next run removes the rest.
    """
    from strongroom.assembly.pruning import PruneFailed
    from strongroom.foundation.database.pace import Pace, paced

    failure = None
    with context.container() as container, stopping() as stop, progress_bar("Pruning") as progress:
        job, removed = plugins_checked(context, container.prune_job), []
        with paced(Pace(pause_ms / 1000, stop.is_set, progress)):
            try:
                for step in job.run():
                    removed.append(step)
                    if stop.is_set():
                        break
            except PruneFailed as error:
                failure = error
    for name, count in removed:
        echo(f"{name}: {count} removed")
    if failure is not None:
        raise click.ClickException(f"not removed: {failure}")
    if stop.is_set():
        raise click.ClickException("stopped; the same command removes the rest")


@click.command()
@config_option
@click.option(
    "--send-to",
    "recipients",
    multiple=True,
    metavar="ADDRESS",
    help="Send a test message to this e-mail address or mobile number (E.164) by each sender.",
)
@click.option("--cluster", is_flag=True, help="Compare the instances of the last day, too.")
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON.")
@click.pass_obj
def doctor(
    context: CommandContext, recipients: tuple[str, ...], *, cluster: bool, as_json: bool
) -> None:
    """Diagnose the configuration, database, storages, clock, limits, proxies and senders.

    Safe while servers run. Exits with 1 if a fault prevents the server from working; each finding has
    a remedy.
    """
    findings = list(_examine(context, recipients, cluster=cluster))
    if as_json:
        echo_json([asdict(finding) for finding in findings])
    else:
        for finding in findings:
            echo(_line(finding))
    if any(finding.state is CheckState.FAILED for finding in findings):
        sys.exit(1)


def _examine(
    context: CommandContext, recipients: tuple[str, ...], *, cluster: bool
) -> Iterator[CheckResult]:
    from strongroom.assembly.container import build

    try:
        container = build(context.configuration)
    except ConfigurationError as error:
        for problem in error.problems:
            yield failed(problem.key or "configuration", problem.message, f"see {problem.origin or '-'}")
        return
    try:
        yield from _examine_container(container, recipients, cluster=cluster)
    finally:
        container.close()


def _examine_container(
    container: "Container", recipients: tuple[str, ...], *, cluster: bool
) -> Iterator[CheckResult]:
    from strongroom.activity.notifications.services import make_composer
    from strongroom.assembly.doctor import assemble_doctor, examine_cluster
    from strongroom.extensions.observability.doctor import try_senders

    yield from assemble_doctor(container, container.jobs).examine()
    if cluster:
        yield from examine_cluster(container)
    senders = {
        channel: [
            container.base.construct(choice, ("messages", choice.extension.name)) for choice in choices
        ]
        for channel, choices in container.selection.senders.items()
    }
    composer = make_composer(container.base.configuration, container.base.translations)
    for recipient in recipients:
        yield from try_senders(recipient, senders, composer)


def _line(finding: CheckResult) -> str:
    remedy = f"\n         -> {finding.remedy}" if finding.remedy else ""
    return f"{finding.state.value:<8} {finding.part}: {finding.message}{remedy}"
