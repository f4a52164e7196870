"""``strongroom plugins check``: checks a plugin's compatibility and runs its contract tests."""

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
from strongroom.cli.plugins.listing import kind_of, load_plugin
from strongroom.plugin_api import Extension
from strongroom.plugin_discovery import installed_plugins


@click.command("check")
@click.argument("name")
@click.option(
    "--tests",
    type=click.Path(exists=True, path_type=Path),
    help="The folder of the plugin's tests. Default: the folder tests of its source, if it was "
    "installed from a folder.",
)
@click.option(
    "--timeout",
    "seconds",
    type=click.FloatRange(min=0, min_open=True),
    default=60.0,
    show_default=True,
    help="The maximum duration of a test in seconds.",
)
def check_command(name: str, tests: Path | None, seconds: float) -> None:
    """Check that a plugin is compatible with this server, and that its extensions pass their contracts.

    Runs the plugin's own tests, because only they can construct its extensions. Every extension must be
    tested by its contract from strongroom.testing. Exits with 1 if a check or a test fails.

    Each test is printed before it runs, and fails if it exceeds the timeout.
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
        # A normal exit would wait for the threads that still hang.
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
    """Return the folder ``tests`` of the source folder that pip has recorded (PEP 610)."""
    found = installed_plugins().get(name, [])
    source = _source(found[0].dist) if found and found[0].dist else None
    tests = source / "tests" if source else None
    if tests is None or not tests.is_dir():
        raise click.ClickException("its tests were not found; set their folder by --tests")
    return tests


def _source(distribution: Distribution) -> Path | None:
    recorded = distribution.read_text("direct_url.json")
    url = urlsplit(json.loads(recorded)["url"]) if recorded else None
    return Path(unquote(url.path)) if url and url.scheme == "file" else None
