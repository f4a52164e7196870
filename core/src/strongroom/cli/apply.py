"""``strongroom apply``: make what a file declares, by the requests that are missing."""

import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final, TypedDict

import click

from strongroom.cli.context import CommandContext, config_option
from strongroom.cli.output import echo, echo_json
from strongroom.cli.refusals import refusal
from strongroom.foundation.errors import StrongroomError

if TYPE_CHECKING:
    from strongroom.assembly.container import Container
    from strongroom.extensions.desired_state.administrator import HttpClient
    from strongroom.extensions.desired_state.document import Document
    from strongroom.extensions.desired_state.plan import StatePlan, Step
    from strongroom.extensions.desired_state.service import OpenDocument

_DIFFERS: Final = 4
"""The exit code of ``--plan`` if the server differs from the file."""

_SIGNS: Final = {"create": "+", "change": "~", "delete": "-", "undeclared": "?"}


@click.command("apply")
@config_option
@click.option(
    "-f",
    "--file",
    "path",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    required=True,
    help="The file that declares resources, as TOML, or as JSON if its name ends in .json.",
)
@click.option("--as", "name", required=True, help="The administrator: an id or a name for logins.")
@click.option("--plan", "only_plan", is_flag=True, help="Show what is missing, and change nothing.")
@click.option(
    "--prune", is_flag=True, help="Delete what the file declared formerly, and no longer does."
)
@click.option(
    "--secrets",
    "secrets_path",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Append the secrets of new resources to this file, instead of printing them.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the plan as JSON.")
@click.pass_obj
def apply(
    context: CommandContext,
    path: Path,
    name: str,
    secrets_path: Path | None,
    *,
    only_plan: bool,
    prune: bool,
    as_json: bool,
) -> None:
    """Create and change what a file declares and the server lacks; safe while servers run.

    Each change is a request to the REST API as the administrator. The first one that is refused ends the
    command; repeat it after the correction. --plan exits with 4 if the server differs from the file.
    """
    if as_json and not (only_plan or secrets_path):
        raise click.UsageError("--json needs --plan or --secrets, so that the output is one object")
    with _opened(context, path, name) as opened, _kept_secrets(secrets_path) as keep:
        plan = _planned(opened)
        _show(plan, as_json=as_json, prune=prune)
        if only_plan:
            if plan.differs or (prune and plan.undeclared):
                click.get_current_context().exit(_DIFFERS)
            return
        _make(opened, plan, keep, prune=prune)


@contextmanager
def _opened(context: CommandContext, path: Path, name: str) -> "Iterator[OpenDocument]":
    from strongroom.extensions.desired_state.administrator import Administrators
    from strongroom.extensions.desired_state.service import DesiredState

    with _application(context) as (client, container):
        kinds, settings = container.registry.resource_kinds, container.settings
        document = _read(path, container)
        try:
            user_id = container.get(Administrators).find_user(name)
            if user_id is None:
                raise click.ClickException(f'there is no user "{name}"')
            state, root = container.get(DesiredState), settings.public_root
            with state.open(client, root, settings.server.base_path, kinds, document, user_id) as opened:
                yield opened
        except StrongroomError as error:
            raise refusal(error, container.base.translations) from error


@contextmanager
def _application(context: CommandContext) -> "Iterator[tuple[HttpClient, Container]]":
    from strongroom.assembly.app import create_app, get_container
    from strongroom.cli.database_checks import require_own_secret, require_served_schema

    configuration = context.configuration
    app = create_app(configuration)
    container = get_container(app)
    try:
        require_served_schema(configuration, container.database, container.selection.plugins.tables)
        require_own_secret(configuration, container.database, container.base.keys)
        yield app.test_client(use_cookies=False), container
    finally:
        container.close()


def _read(path: Path, container: "Container") -> "Document":
    from strongroom.extensions.desired_state.document import DocumentError, read_document

    try:
        return read_document(path, container.registry.resource_kinds)
    except DocumentError as error:
        raise click.ClickException("\n".join(error.faults)) from error


def _planned(opened: "OpenDocument") -> "StatePlan":
    from strongroom.extensions.desired_state.document import DocumentError

    try:
        return opened.plan()
    except DocumentError as error:
        raise click.ClickException("\n".join(error.faults)) from error


def _make(opened: "OpenDocument", plan: "StatePlan", keep: "_Keep", *, prune: bool) -> None:
    from strongroom.extensions.desired_state.service import ApplyFailed

    try:
        for step in plan.steps:
            opened.apply(step, keep)
        for undeclared in plan.undeclared if prune else ():
            opened.delete(undeclared)
    except ApplyFailed as error:
        raise click.ClickException(str(error)) from error


class _Shown(TypedDict):
    action: str
    resource: str
    members: list[str]
    drift: bool


def _show(plan: "StatePlan", *, as_json: bool, prune: bool) -> None:
    changes = list(_changes(plan, "delete" if prune else "undeclared"))
    counts = {name: sum(change["action"] == name for change in changes) for name in _SIGNS}
    counts["keep"] = sum(step.action == "keep" for step in plan.steps)
    if as_json:
        echo_json({"changes": changes, "counts": counts}, indent=2)
        return
    for change in changes:
        members = f": {', '.join(change['members'])}" if change["members"] else ""
        drift = " (changed since it was applied)" if change["drift"] else ""
        echo(f"{_SIGNS[change['action']]} {change['resource']}{members}{drift}")
    echo(", ".join(f"{count} to {name}" for name, count in counts.items() if name != "undeclared"))


def _changes(plan: "StatePlan", undeclared: str) -> Iterator[_Shown]:
    for step in plan.steps:
        if step.action != "keep":
            title, changed = step.declared.title, list(step.changed)
            yield _Shown(action=step.action.value, resource=title, members=changed, drift=step.is_drift)
    for item in plan.undeclared:
        yield _Shown(action=undeclared, resource=item.title, members=[], drift=False)


_Keep = Callable[["Step", Mapping[str, str]], None]


@contextmanager
def _kept_secrets(path: Path | None) -> Iterator[_Keep]:
    """Yield what prints secrets, or appends them to a file that only its owner can read."""
    if path is None:
        yield lambda step, secrets: echo(_secret_line(step, secrets))
        return
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    with os.fdopen(descriptor, "a", encoding="utf-8") as file:
        yield lambda step, secrets: _append(file, _secret_line(step, secrets))


def _append(file: IO[str], line: str) -> None:
    # On the disk before the next request, because no later answer has the secrets.
    file.write(f"{line}\n")
    file.flush()
    os.fsync(file.fileno())


def _secret_line(step: "Step", secrets: Mapping[str, str]) -> str:
    return json.dumps({"resource": step.declared.title, **secrets}, ensure_ascii=False)
