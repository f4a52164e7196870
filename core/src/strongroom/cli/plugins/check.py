"""``strongroom plugins check``: checks a plugin's compatibility and runs its contract tests."""

import faulthandler
import json
import os
import signal
import sys
from collections import Counter
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from importlib.metadata import Distribution
from importlib.util import find_spec
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any, Final, NoReturn
from urllib.parse import unquote, urlsplit

import click
from pluggy import HookimplMarker

from strongroom.cli.context import CommandContext
from strongroom.cli.output import echo
from strongroom.cli.plugins.listing import fault_of_hooks, load_plugin
from strongroom.foundation.config import plugins_settings
from strongroom.foundation.config.plugin_discovery import PluginFiles, installed_plugins, plugin_files
from strongroom.foundation.database.plugin_tables import PluginTablesError
from strongroom.foundation.plugins.api_changes import find_changes
from strongroom.foundation.plugins.kinds import KINDS, Kind, extension_kind
from strongroom.foundation.plugins.manager import PluginManager
from strongroom.foundation.plugins.plugin import Plugin
from strongroom.plugin_api import Extension

if TYPE_CHECKING:
    import pytest

_hookimpl = HookimplMarker("pytest")  # pytest itself is imported only where tests are run

_AGAIN_SECONDS: Final = 1.0
_GRACE_SECONDS: Final = 15.0


class TimeLimit:
    """Fails a test that exceeds the limit, and prints the stacks of all threads. Main thread only.

    SIGALRM interrupts waits in Python. It repeats, because an interrupted test may wait again, for
    example for the threads of an executor. If a test hangs in native code, the whole process exits 15
    seconds later, with the stacks on standard error.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._stderr = os.fdopen(os.dup(2), "w")
        self.was_exceeded = False

    @_hookimpl(wrapper=True)
    def pytest_runtest_setup(self) -> Generator[None, None, None]:
        with self._limit():
            return (yield)

    @_hookimpl(wrapper=True)
    def pytest_runtest_call(self) -> Generator[None, None, None]:
        with self._limit():
            return (yield)

    @_hookimpl(wrapper=True)
    def pytest_runtest_teardown(self) -> Generator[None, None, None]:
        with self._limit():
            return (yield)

    @contextmanager
    def _limit(self) -> Iterator[None]:
        previous = signal.signal(signal.SIGALRM, self._exceeded)
        signal.setitimer(signal.ITIMER_REAL, self._seconds, _AGAIN_SECONDS)
        faulthandler.dump_traceback_later(self._seconds + _GRACE_SECONDS, exit=True, file=self._stderr)
        try:
            yield
        finally:
            faulthandler.cancel_dump_traceback_later()
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, previous)

    def _exceeded(self, _signal: int, _frame: FrameType | None) -> NoReturn:
        import pytest

        if not self.was_exceeded:
            faulthandler.dump_traceback(file=sys.__stderr__ or self._stderr)
        self.was_exceeded = True
        pytest.fail(f"took longer than {self._seconds:g} s; see --timeout", pytrace=True)


_CONTRACTS = "strongroom.testing."


@dataclass(slots=True)
class ContractRun:
    """The results of contract tests."""

    outcomes: dict[tuple[type[Any] | None, str], Counter[str]] = field(default_factory=dict)
    exit_code: int = 0
    timed_out: bool = False
    version: str = ""

    def outcomes_of(self, extension: type[Any] | None, contract: str) -> Counter[str]:
        """Return the number of tests of the contract by outcome (passed, failed, ...).

        Args:
            extension: the tested extension; ``None`` for the contract of a hook that returns instances.
        """
        return self.outcomes.get((extension, contract), Counter())


def run_contracts(tests: Path, seconds: float) -> ContractRun:
    """Run tests with pytest in this process; pytest prints each test before it starts, and failures.

    pytest uses the configuration of the plugin's project, as if it ran there. So helper modules next
    to the tests and folders of its ``pythonpath`` can be imported.
    """
    import pytest

    recorder, limit = _Recorder(), TimeLimit(seconds)
    options = ["-v", "--no-header", "-p", "no:cacheprovider"]
    recorder.run.exit_code = int(pytest.main([*options, str(tests)], plugins=[recorder, limit]))
    recorder.run.timed_out = limit.was_exceeded
    # Imported only now, because pytest must first be able to rewrite the asserts of the contracts.
    recorder.run.version = import_module("strongroom.testing").CONTRACT_VERSION
    return recorder.run


class _Recorder:
    """A pytest plugin that records the outcomes of contract tests."""

    def __init__(self) -> None:
        self.run = ContractRun()
        self._tested: set[tuple[type[Any] | None, str]] = set()
        self._outcome = "skipped"

    def pytest_runtest_teardown(self, item: "pytest.Item") -> None:
        # The fixtures, and so the tested extension, are known only at teardown.
        contracts = {base.__name__ for base in _bases(item) if base.__module__.startswith(_CONTRACTS)}
        tested = {type(value) for value in _fixtures(item) if isinstance(value, Extension)} | {None}
        self._tested = {(kind, contract) for kind in tested for contract in contracts}

    def pytest_runtest_logreport(self, report: "pytest.TestReport") -> None:
        if report.when == "call" or report.failed:
            self._outcome = "xfailed" if hasattr(report, "wasxfail") else report.outcome

    def pytest_runtest_logfinish(self) -> None:
        for key in self._tested:
            self.run.outcomes.setdefault(key, Counter())[self._outcome] += 1
        self._tested, self._outcome = set(), "skipped"


def _bases(item: "pytest.Item") -> tuple[type[Any], ...]:
    cls: type[Any] | None = getattr(item, "cls", None)
    return cls.__mro__ if cls else ()


def _fixtures(item: "pytest.Item") -> list[object]:
    return list(getattr(item, "funcargs", {}).values())


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

    Runs the plugin's own tests, because only they can construct its extensions. Every extension must be
    tested by its contract from strongroom.testing. Exits with 1 if a check or a test fails.

    Uses of plugin API 1.2 are printed with their lines and what to write instead.

    Each test is printed before it runs, and fails if it exceeds the timeout.
    """
    name, files = _named(context, name)
    _refuse_former_api(name, files)
    manager, plugin = load_plugin(name, files)
    if fault := _fault(manager, plugin):
        raise click.ClickException(fault)
    extensions, hooks = manager.extensions_of(plugin), _instance_kinds(plugin)
    echo(f"{plugin.name} {plugin.version} fits this server")
    if plugin.file and tests is None:
        echo("no contract was tested; set the folder of its tests by --tests")
        return
    if not extensions and not hooks:
        echo("it offers no extension, so that no contract applies")
        return
    # The contracts are a distribution of their own, which requires pytest.
    if find_spec("pytest") is None or find_spec("strongroom.testing") is None:
        raise click.ClickException('the contracts are not installed; pip install "strongroom[testing]"')
    run = run_contracts(tests or _tests_of(name), seconds)
    problems = [problem for extension in extensions for problem in _judge_extension(extension, run)]
    problems += [problem for kind in hooks for problem in _judge(kind.hook, kind, None, run)]
    if not problems and not run.exit_code:
        return
    error = click.ClickException("; ".join(problems) or f"its tests failed (pytest: {run.exit_code})")
    if run.timed_out:
        # A normal exit would wait for the threads that still hang.
        error.show()
        sys.stdout.flush()
        os._exit(error.exit_code)
    raise error


def _named(context: CommandContext, name: str) -> tuple[str, PluginFiles]:
    """Return the name of a plugin, and the one-file plugins that it may be one of."""
    path = Path(name)
    if path.suffix == ".py" and path.is_file():
        return path.stem, {path.stem: path.absolute()}
    return name, plugin_files(plugins_settings(context.config_path, os.environ).folder)


def _refuse_former_api(name: str, files: PluginFiles) -> None:
    """Print a line for each use of the former plugin API, with its place and what to write instead.

    The source is read and not imported, because a plugin for the former API may fail to be imported.

    Raises:
        click.ClickException: there is such a use.
    """
    uses = [*_uses_of_former_api(name, files)]
    for use in uses:
        echo(use)
    if uses:
        raise click.ClickException(f"{name} uses a former plugin API; change what the lines above name")


def _uses_of_former_api(name: str, files: PluginFiles) -> Iterator[str]:
    for path in _modules_of(name, files):
        try:
            found = [*find_changes(path.read_text(encoding="utf-8"))]
        except (OSError, SyntaxError, UnicodeError):
            # The error of its import says more.
            continue
        yield from (f"{path}:{line}: {change.old} is now {change.new}" for line, change in found)


def _modules_of(name: str, files: PluginFiles) -> list[Path]:
    """Return the modules of a plugin: the file, or those of the package of its entry point."""
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
    options_type = manager.options_types.get(plugin.name)
    try:
        options = {plugin.name: options_type()} if options_type else {}
    except (TypeError, ValueError):
        # An option is required, so that the hooks cannot be called without a configuration.
        return None
    return fault_of_hooks(manager, options, plugin)


def _instance_kinds(plugin: Plugin) -> list[Kind]:
    """Return the kinds without extensions whose hooks a plugin implements."""
    # A plugin of one kind may implement the hooks of another one as well, such as register_errors.
    return [kind for kind in KINDS if kind.base is None and hasattr(plugin.module, kind.hook)]


def _judge_extension(extension: type[Extension[Any]], run: ContractRun) -> list[str]:
    kind = extension_kind(extension)
    return _judge(f"{kind.name} {extension.name}", kind, extension, run)


def _judge(title: str, kind: Kind, extension: type[Any] | None, run: ContractRun) -> list[str]:
    outcomes = run.outcomes_of(extension, kind.contract_name)
    if not outcomes:
        return [f"{title}: no test class derives from {kind.contract_name}"]
    counts = ", ".join(f"{count} {outcome}" for outcome, count in sorted(outcomes.items()))
    echo(f"{title}: {kind.contract_name} {run.version}: {counts}")
    return [f"{title} breaks its contract"] if outcomes["failed"] else []


def _tests_of(name: str) -> Path:
    """Return the folder ``tests`` of the source folder that pip has recorded (PEP 610)."""
    entry_points = installed_plugins().get(name, [])
    source = _source(entry_points[0].dist) if entry_points and entry_points[0].dist else None
    tests = source / "tests" if source else None
    if tests is None or not tests.is_dir():
        raise click.ClickException("its tests were not found; set their folder by --tests")
    return tests


def _source(distribution: Distribution) -> Path | None:
    recorded = distribution.read_text("direct_url.json")
    url = urlsplit(json.loads(recorded)["url"]) if recorded else None
    return Path(unquote(url.path)) if url and url.scheme == "file" else None
