"""``strongroom users import``: imports users of another system, without a server."""

import gc
import json
import time
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, BinaryIO, Final

import click

from strongroom.cli.age_files import decrypted, is_encrypted
from strongroom.cli.context import CommandContext
from strongroom.cli.output import echo
from strongroom.cli.progress import progress_bar
from strongroom.cli.refusals import refusal
from strongroom.foundation.caller import Origin
from strongroom.foundation.errors import StrongroomError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from strongroom.assembly.container import Container
    from strongroom.extensions.user_imports.models import UserImport
    from strongroom.plugin_api.storage import ByteSource

_SHOWN_ERRORS: Final = 20
_POLL_SECONDS: Final = 1.0
_COLLECTED_AFTER: Final = 10_000
_READABLE: Final = click.Path(path_type=Path, dir_okay=False, exists=True)
_ORIGIN: Final = Origin(user_agent="command line")


@click.command("import")
@click.argument("file", type=click.File("rb"), required=False)
@click.option("--dry-run", is_flag=True, help="Check everything, and change no user.")
@click.option(
    "--on-conflict",
    type=click.Choice(["fail", "skip", "update"]),
    default="fail",
    show_default=True,
    help="What happens to a line whose user exists.",
)
@click.option("--events", is_flag=True, help="Let each user make an event, as one who registers does.")
@click.option(
    "--errors",
    "errors_path",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write why lines were refused to this file, as JSON lines.",
)
@click.option("--continue", "continued", is_flag=True, help="Continue imports whose process was killed.")
@click.option("--identity", type=_READABLE, help="Decrypt FILE by the identities of age in this file.")
@click.option("--passphrase-file", type=_READABLE, help="Decrypt FILE by the first line of this file.")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
@click.pass_obj
def import_users(
    context: CommandContext,
    file: BinaryIO | None,
    on_conflict: str,
    errors_path: Path | None,
    identity: Path | None,
    passphrase_file: Path | None,
    *,
    dry_run: bool,
    events: bool,
    continued: bool,
    as_json: bool,
) -> None:
    """Import users from FILE, or from standard input if FILE is -: a JSON object per line.

    Exits with status 1 if lines were refused. The other lines are imported.
    """
    # Commands collect rarely, because most of them are short; a long one would keep its garbage.
    gc.set_threshold(_COLLECTED_AFTER, 10, 10)
    if continued == (file is not None):
        raise click.UsageError("give either FILE or --continue")
    with _opened(file, identity, passphrase_file) as source, context.container() as container:
        try:
            jobs = _created(container, source, on_conflict, dry_run=dry_run, events=events)
            ended = [_processed(container, job, hidden=as_json) for job in jobs]
        except StrongroomError as error:
            raise refusal(error, container.base.translations) from error
        for job in ended:
            _report(container, job, errors_path, as_json=as_json)
    if any(job.failed for job in ended):
        click.get_current_context().exit(1)


def _opened(
    file: BinaryIO | None, identity: Path | None, passphrase_file: Path | None
) -> "AbstractContextManager[ByteSource | None]":
    if file is not None and is_encrypted(file):
        return decrypted(file, identity, passphrase_file)
    if identity is not None or passphrase_file is not None:
        raise click.UsageError("FILE is not encrypted")
    return nullcontext(file)


def _created(
    container: "Container", file: "ByteSource | None", on_conflict: str, *, dry_run: bool, events: bool
) -> "Iterator[UserImport]":
    """Yield the import of a file; without a file, all imports that are not finished."""
    from strongroom.extensions.user_imports.models import OnTakenUser
    from strongroom.extensions.user_imports.service import UserImports
    from strongroom.extensions.user_imports.store import ImportOptions

    service = container.get(UserImports)
    if file is None:
        yield from service.unfinished()
        return
    options = ImportOptions(OnTakenUser(on_conflict), dry_run, events)
    yield service.create(file, options, None, _ORIGIN)


def _processed(container: "Container", job: "UserImport", *, hidden: bool) -> "UserImport":
    from strongroom.extensions.user_imports.models import ACTIVE_STATES
    from strongroom.extensions.user_imports.service import UserImports
    from strongroom.extensions.user_imports.worker import ImportWorker

    service = container.get(UserImports)
    with progress_bar("Importing", job.lines, hidden=hidden) as advance:
        container.get(ImportWorker).run(job.id, advance)
        # A running server may have claimed it first.
        while (current := service.get(job.id)).state in ACTIVE_STATES:
            time.sleep(_POLL_SECONDS)
            container.get(ImportWorker).run(job.id, advance)
    return current


def _report(
    container: "Container", job: "UserImport", errors_path: Path | None, *, as_json: bool
) -> None:
    from strongroom.extensions.user_imports.service import UserImports

    errors = (asdict(error) for error in container.get(UserImports).errors(job.id))
    if errors_path is not None:
        with errors_path.open("w", encoding="utf-8") as output:
            _write_lines(output, errors)
    else:
        for error in islice(errors, _SHOWN_ERRORS):
            echo("line {line}: {field}: {message} ({code})".format(**error), err=True)
    names = ("read", "created", "updated", "skipped", "failed")
    counts = {name: getattr(job, name) for name in names}
    if as_json:
        echo(json.dumps({"id": job.id, "state": job.state, **counts}))
    else:
        echo(", ".join(f"{count} {name}" for name, count in counts.items()))


def _write_lines(output: IO[str], errors: "Iterator[dict[str, Any]]") -> None:
    for error in errors:
        del error["position"]
        output.write(f"{json.dumps(error, ensure_ascii=False)}\n")


@click.command("convert")
@click.argument("file", type=click.File("r", encoding="utf-8"))
@click.option(
    "--from",
    "source",
    required=True,
    type=click.Choice(["auth0", "django", "firebase", "keycloak", "supabase", "wordpress"]),
    help="The system that has written FILE.",
)
@click.option("-o", "--output", type=click.File("w", encoding="utf-8"), default="-", help="The lines.")
@click.option(
    "--hash-config",
    type=click.File("r", encoding="utf-8"),
    help="Firebase: a JSON object with signerKey, saltSeparator, rounds and memCost.",
)
def convert_users(file: IO[str], source: str, output: IO[str], hash_config: IO[str] | None) -> None:
    """Convert the export of another system in FILE to lines for `users import`.

    The import checks the lines. Protect the output as the export: it has the hashes of passwords.
    """
    from strongroom.extensions.user_imports.converters import CONVERTERS

    count = 0
    try:
        parameters = json.load(hash_config) if hash_config else {}
        for line in CONVERTERS[source](file, parameters):
            output.write(f"{json.dumps(line, ensure_ascii=False)}\n")
            count += 1
    except (ValueError, TypeError, AttributeError) as error:
        message = f"user {count + 1} of the export cannot be converted: {error}"
        raise click.ClickException(message) from error
    echo(f"{count} users converted", err=True)
