"""``strongroom plugins check``: checks a plugin's compatibility and runs its contract tests."""

import json
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import Distribution
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote, urlsplit

import click

from strongroom.cli.context import CommandContext
from strongroom.cli.output import echo
from strongroom.cli.plugins.contract_runs import ContractRun, run_contracts
from strongroom.cli.plugins.listing import fault_of_hooks, has_routes, load_plugin
from strongroom.foundation.config import plugins_settings
from strongroom.foundation.config.plugin_discovery import PluginFiles, installed_plugins, plugin_files
from strongroom.foundation.database.plugin_tables import PluginTablesError
from strongroom.foundation.plugins.api_changes import find_changes
from strongroom.foundation.plugins.kinds import HOOK_CONTRACTS, extension_kind
from strongroom.foundation.plugins.manager import PluginManager
from strongroom.foundation.plugins.plugin import Plugin

_BLUEPRINTS: Final = "register_blueprints"


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
@click.pass_obj
def check_command(context: CommandContext, name: str, tests: Path | None, seconds: float) -> None:
    """Check that a plugin is compatible with this server, and that its extensions pass their contracts.

    NAME is an installed plugin, one of the folder plugins.folder, or the path of a file NAME.py. A
    one-file plugin is tested if --tests names the folder of its tests.

    Runs the plugin's own tests, because only they can construct its extensions. Every extension, and
    what each other hook registers, must be tested by its contract from strongroom.testing. Exits with 1
    if a check or a test fails.

    Uses of plugin API 1.2 are printed with their lines and what to write instead.

    Each test is printed before it runs, and fails if it exceeds the timeout.
    """
    name, files = _named(context, name)
    _show(judge_source(name, files))
    manager, plugin = load_plugin(name, files)
    _show(judge(manager, plugin))
    subjects = contract_subjects(manager, plugin)
    folder = tests or _find_tests(name)
    if plugin.file and tests is None:
        echo("no contract was tested; set the folder of its tests by --tests")
    elif not subjects and folder is None:
        echo("it registers nothing that has a contract")
    else:
        _require_contracts()
        if folder is None:
            raise click.ClickException("its tests were not found; set their folder by --tests")
        _show(judge_contracts(subjects, run_contracts(folder, seconds)))


@dataclass(frozen=True, slots=True)
class CheckReport:
    """What a check has found.

    Args:
        lines: what was checked, in the order of the checks.
        problems: what is wrong; empty if the plugin passes.
        timed_out: whether threads of a test may still hang.
    """

    lines: Sequence[str] = ()
    problems: Sequence[str] = ()
    timed_out: bool = False


def _show(report: CheckReport) -> None:
    """Print a report; exit with 1 if something is wrong.

    Raises:
        click.ClickException: something is wrong, and no threads hang.
    """
    for line in report.lines:
        echo(line)
    if not report.problems:
        return
    error = click.ClickException("; ".join(report.problems))
    if report.timed_out:
        # A normal exit would wait for the threads that still hang.
        error.show()
        sys.stdout.flush()
        os._exit(error.exit_code)
    raise error


def judge_source(name: str, files: PluginFiles) -> CheckReport:
    """Report each use of the former plugin API, with its place and what to write instead.

    The source is read and not imported, because a plugin for the former API may fail to be imported.
    """
    uses = [*_uses_of_former_api(name, files)]
    fault = f"{name} uses a former plugin API; change what the lines above name"
    return CheckReport(uses, [fault] if uses else [])


def judge(manager: PluginManager, plugin: Plugin) -> CheckReport:
    """Report whether a server would accept a plugin."""
    if fault := _fault(manager, plugin):
        return CheckReport(problems=[fault])
    return CheckReport([f"{plugin.name} {plugin.version} fits this server"])


@dataclass(frozen=True, slots=True)
class ContractSubject:
    """What a contract applies to.

    Args:
        title: the extension with its kind, or the name of the hook.
        contract: the name of the contract test class.
        extension: the extension; ``None`` for a hook's contract.
    """

    title: str
    contract: str
    extension: type[Any] | None = None


def judge_contracts(subjects: Sequence[ContractSubject], run: ContractRun) -> CheckReport:
    """Report whether each subject was tested by its contract, and passed it."""
    lines, problems = [], []
    for subject in subjects:
        outcomes = run.get_outcomes(subject.extension, subject.contract)
        if not outcomes:
            problems.append(f"{subject.title}: no test class derives from {subject.contract}")
            continue
        counts = ", ".join(f"{count} {outcome}" for outcome, count in sorted(outcomes.items()))
        lines.append(f"{subject.title}: {subject.contract} {run.version}: {counts}")
        if outcomes["failed"]:
            problems.append(f"{subject.title} breaks its contract")
    if run.exit_code and not problems:
        problems.append(f"its tests failed (pytest: {run.exit_code})")
    return CheckReport(lines, problems, run.timed_out)


def contract_subjects(manager: PluginManager, plugin: Plugin) -> list[ContractSubject]:
    """Return what a plugin registers that has a contract.

    Blueprints have one only if they have routes: hooks of requests alone have none.
    """
    extensions = [(extension_kind(extension), extension) for extension in manager.get_extensions(plugin)]
    subjects = [
        ContractSubject(f"{kind.name} {extension.name}", kind.contract_name, extension)
        for kind, extension in extensions
    ]
    hooks = [hook for hook in HOOK_CONTRACTS if hook in manager.get_hooks(plugin)]
    if _BLUEPRINTS in hooks and not has_routes(manager, _options(manager, plugin) or {}, plugin):
        hooks.remove(_BLUEPRINTS)
    return subjects + [ContractSubject(hook, HOOK_CONTRACTS[hook]) for hook in hooks]


def _require_contracts() -> None:
    # The contracts are a distribution of their own, which requires pytest.
    if find_spec("pytest") is None or find_spec("strongroom.testing") is None:
        raise click.ClickException('the contracts are not installed; pip install "strongroom[testing]"')


def _named(context: CommandContext, name: str) -> tuple[str, PluginFiles]:
    """Return the name of a plugin, and the one-file plugins that it may be one of."""
    path = Path(name)
    if path.suffix == ".py" and path.is_file():
        return path.stem, {path.stem: path.absolute()}
    return name, plugin_files(plugins_settings(context.config_path, os.environ).folder)


def _uses_of_former_api(name: str, files: PluginFiles) -> Iterator[str]:
    for path in _find_modules(name, files):
        try:
            uses = [*find_changes(path.read_text(encoding="utf-8"))]
        except (OSError, SyntaxError, UnicodeError):
            # The error of its import says more.
            continue
        yield from (f"{path}:{line}: {change.old} is now {change.new}" for line, change in uses)


def _find_modules(name: str, files: PluginFiles) -> list[Path]:
    """Return the modules of a plugin: the file, or the modules of its entry point's package."""
    if name in files:
        return [files[name]]
    packages = {point.module.partition(".")[0] for point in installed_plugins().get(name, [])}
    specs = (find_spec(package) for package in packages - {"strongroom"})
    folders = [Path(place) for spec in specs if spec for place in spec.submodule_search_locations or ()]
    return sorted(module for folder in folders for module in folder.rglob("*.py"))


def _fault(manager: PluginManager, plugin: Plugin) -> str | None:
    """Return what a server would refuse the plugin for, or ``None``."""
    declared = manager.tables.get(plugin.name)
    if declared is not None:
        # Imports Alembic, which most checks do not need.
        from strongroom.foundation.database.upgrade import try_migrations

        try:
            try_migrations(plugin.name, declared)
        except PluginTablesError as error:
            return str(error)
    return _registration_fault(manager, plugin)


def _registration_fault(manager: PluginManager, plugin: Plugin) -> str | None:
    # Without its required options, the hooks cannot be called.
    options = _options(manager, plugin)
    return None if options is None else fault_of_hooks(manager, options, plugin)


def _options(manager: PluginManager, plugin: Plugin) -> dict[str, Any] | None:
    """Return the default options of a plugin by its name; ``None`` if an option is required."""
    options_type = manager.options_types.get(plugin.name)
    try:
        return {plugin.name: options_type()} if options_type else {}
    except (TypeError, ValueError):
        return None


def _find_tests(name: str) -> Path | None:
    """Return the folder ``tests`` of the source folder that pip has recorded (PEP 610), or ``None``."""
    entry_points = installed_plugins().get(name, [])
    source = _source(entry_points[0].dist) if entry_points and entry_points[0].dist else None
    tests = source / "tests" if source else None
    return tests if tests is not None and tests.is_dir() else None


def _source(distribution: Distribution) -> Path | None:
    recorded = distribution.read_text("direct_url.json")
    url = urlsplit(json.loads(recorded)["url"]) if recorded else None
    return Path(unquote(url.path)) if url and url.scheme == "file" else None
