"""``strongroom plugins check``: whether a plugin fits, and holds to the contracts of what it offers."""

import json
import os
import sys
from importlib.metadata import Distribution
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import click

from strongroom.cli.plugins.contract_run import ContractRun, run_contracts
from strongroom.cli.plugins.kinds import kind_of
from strongroom.cli.plugins.listing import load_plugin
from strongroom.plugin_api import Extension
from strongroom.plugin_manager import installed_plugins


@click.command("check")
@click.argument("name")
@click.option(
    "--tests",
    type=click.Path(exists=True, path_type=Path),
    help="The plugin's tests; those beside its source, if it was installed from a folder.",
)
@click.option(
    "--timeout",
    "seconds",
    type=click.FloatRange(min=0, min_open=True),
    default=60.0,
    show_default=True,
    help="How many seconds a test may take.",
)
def check_command(name: str, tests: Path | None, seconds: float) -> None:
    """Check that a plugin fits this server, and that each extension holds to its contract.

    The plugin's own tests are run, for only they know how to make what they test. Every extension must
    be tested by its contract from strongroom.testing. Exits with 1 if something is not as it should be.

    Each test is printed before it runs, and fails when it takes longer than the time-out.
    """
    manager, plugin = load_plugin(name)
    extensions = manager.extensions_of(plugin)
    click.echo(f"{plugin.name} {plugin.version} fits this server")
    if not extensions:
        click.echo("it offers no extension, so that no contract applies")
        return
    if find_spec("pytest") is None:
        raise click.ClickException('the contracts need pytest: pip install "strongroom[testing]"')
    run = run_contracts(tests or _tests_of(name), seconds)
    problems = [problem for extension in extensions for problem in _judge(extension, run)]
    if not problems and not run.exit_code:
        return
    error = click.ClickException("; ".join(problems) or f"its tests failed (pytest: {run.exit_code})")
    if run.timed_out:
        # The interpreter would wait at its end for the threads that still hang.
        error.show()
        sys.stdout.flush()
        os._exit(error.exit_code)
    raise error


def _judge(extension: type[Extension[Any]], run: ContractRun) -> list[str]:
    kind = kind_of(extension)
    title = f"{kind.name} {extension.name}"
    outcomes = run.outcomes_of(extension, kind.contract)
    if not outcomes:
        return [f"{title}: no test class derives from {kind.contract}"]
    counts = ", ".join(f"{count} {outcome}" for outcome, count in sorted(outcomes.items()))
    click.echo(f"{title}: {kind.contract} {run.version}: {counts}")
    return [f"{title} breaks its contract"] if outcomes["failed"] else []


def _tests_of(name: str) -> Path:
    """Return the tests beside the folder that pip has recorded (PEP 610)."""
    found = installed_plugins().get(name, [])
    source = _source(found[0].dist) if found and found[0].dist else None
    tests = source / "tests" if source else None
    if tests is None or not tests.is_dir():
        raise click.ClickException("its tests are not beside it; name their folder by --tests")
    return tests


def _source(distribution: Distribution) -> Path | None:
    recorded = distribution.read_text("direct_url.json")
    url = urlsplit(json.loads(recorded)["url"]) if recorded else None
    return Path(unquote(url.path)) if url and url.scheme == "file" else None
