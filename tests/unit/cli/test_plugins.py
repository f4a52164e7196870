"""``strongroom plugins``: its output and its refusals."""

import re
import runpy
import subprocess
import sys
from collections import Counter
from importlib import import_module
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from tests.support.commands import run_command
from tests.support.examples import EXAMPLES

from strongroom.builtin import fixed_captcha, password
from strongroom.cli.main import root
from strongroom.cli.plugins.check import contract_subjects, judge_contracts
from strongroom.cli.plugins.contract_runs import ContractRun
from strongroom.cli.plugins.listing import load_plugin
from strongroom.foundation.plugins.hook_trace import VARIABLE
from strongroom.foundation.plugins.kinds import KINDS
from strongroom.foundation.plugins.manager import PluginManager
from strongroom.foundation.plugins.plugin import Plugin
from strongroom.foundation.plugins.selection import BUILTIN

NO_PLACEHOLDER = re.compile(r'\$\{\{ matrix|"\$ref"')
"""Dollars of workflows, and of references in the data of events."""


def plugins(*arguments: str, **environment: str) -> Result:
    return CliRunner().invoke(root, ["plugins", *arguments], env=environment)


@pytest.mark.parametrize(
    "name", ["Tape", "9tape", "ta-pe", "tape_", "ta__pe", "../tape", "", "a" * 25, "class", "é"]
)
def test_a_name_that_no_package_could_spell_is_refused(name: str, tmp_path: Path) -> None:
    result = plugins("new", "storage", "--folder", str(tmp_path / "new"), "--", name)
    assert result.exit_code == 2
    assert f'"{name}" is not a valid plugin name' in result.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("kind", "name", "reason"),
    [
        ("storage", "local", "a plugin storage_local is installed already"),
        ("login", "password", '"password" is built in'),
        ("captcha", "image", '"image" is built in'),
        ("sender", "smtp", '"smtp" is built in'),
    ],
)
def test_a_name_that_is_taken_is_refused(kind: str, name: str, reason: str, tmp_path: Path) -> None:
    result = plugins("new", kind, name, "--folder", str(tmp_path / "new"))
    assert result.exit_code == 1
    assert reason in result.stderr


def test_nothing_is_written_over(tmp_path: Path) -> None:
    (tmp_path / "mine").touch()
    result = plugins("new", "storage", "tape", "--folder", str(tmp_path))
    assert result.exit_code == 1
    assert "already exists and is not empty" in result.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]


@pytest.mark.parametrize("kind", [kind.name for kind in KINDS])
def test_no_placeholder_is_left(kind: str, tmp_path: Path) -> None:
    assert plugins("new", kind, "tape", "--folder", str(tmp_path)).exit_code == 0
    written = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(written) > 8
    left = Counter(path.name for path in written if "$" in re.sub(NO_PLACEHOLDER, "", path.read_text()))
    assert left == Counter()


@pytest.mark.parametrize("kind", [kind.name for kind in KINDS])
@pytest.mark.parametrize("name", ["tape", "a_name_as_long_as_can_be"])
def test_a_new_plugin_is_clean_with_a_name_of_any_length(kind: str, name: str, tmp_path: Path) -> None:
    assert plugins("new", kind, name, "--folder", str(tmp_path)).exit_code == 0
    for command in (["check"], ["format", "--check", "--diff"]):
        result = subprocess.run(
            [sys.executable, "-m", "ruff", *command, "--no-cache", tmp_path],
            capture_output=True,
            text=True,
            check=False,
        )
        assert result.returncode == 0, result.stdout


def test_a_one_file_plugin_is_written_once_and_only_if_one_file_is_enough(tmp_path: Path) -> None:
    folder = tmp_path / "plugins.d"
    arguments = ("new", "job", "tape", "--one-file", str(folder))
    assert f"{folder}/job_tape.py was created" in plugins(*arguments).stdout
    assert [path.name for path in folder.iterdir()] == ["job_tape.py"]
    again = plugins(*arguments)
    assert (again.exit_code, "already exists" in again.stderr) == (1, True)
    refused = plugins("new", "table", "tape", "--one-file", str(folder))
    assert "table plugins need a package; omit --one-file" in refused.stderr


ONE_FILE = sorted({kind.name for kind in KINDS} - {"login", "pages", "redirect", "table", "wsgi"})


@pytest.mark.parametrize("kind", ONE_FILE)
def test_a_new_one_file_plugin_passes_its_check(kind: str, tmp_path: Path) -> None:
    folder = tmp_path / "plugins.d"
    assert plugins("new", kind, "tape", "--one-file", str(folder)).exit_code == 0
    (path,) = folder.iterdir()
    checked = plugins("check", str(path))
    assert checked.output == (
        f"{path.stem} file fits this server\n"
        "no contract was tested; set the folder of its tests by --tests\n"
    )
    # By its name as well, if the configuration has the folder.
    by_name = plugins("check", path.stem, STRONGROOM__PLUGINS__FOLDER=str(folder))
    assert by_name.output == checked.output
    command = [sys.executable, "-m", "ruff", "check", "--isolated", "--select", "E,F", "--no-cache"]
    result = subprocess.run(
        [*command, "--line-length", "105", path], capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stdout


def test_the_check_of_a_one_file_plugin_finds_a_table_without_a_migration(tmp_path: Path) -> None:
    (tmp_path / "migrations").mkdir()
    path = tmp_path / "acme.py"
    path.write_text(
        "from pathlib import Path\n"
        "from sqlalchemy import Column, Integer, MetaData, Table\n"
        "from strongroom.plugin_api import hookimpl\n"
        "from strongroom.plugin_api.state import PluginTables\n"
        'API_VERSION = "2.0"\n'
        "metadata = MetaData()\n"
        'Table("acme_notes", metadata, Column("id", Integer, primary_key=True))\n'
        "@hookimpl\n"
        "def register_tables():\n"
        f'    return PluginTables(metadata, Path({str(tmp_path / "migrations")!r}), "0001")\n'
    )
    checked = plugins("check", str(path))
    assert checked.exit_code == 1
    assert 'plugin "acme": no migration creates acme_notes; add one' in checked.stderr


def test_info_shows_where_a_plugin_comes_from_and_its_options() -> None:
    shown = plugins("info", "storage_local").output
    assert "entry point  storage_local = strongroom_storage_local.plugin" in shown
    assert "distribution strongroom-storage-local" in shown
    assert "plugin API   2.0, on a server that has 2.0" in shown
    assert "can also: LocalPaths, ServerSideCopy" in shown
    assert '[storages.NAME]\n  #backend = "local"' in shown
    assert '#root = "" # required' in shown


def test_info_describes_built_in_extensions() -> None:
    assert "login password: " in plugins("info", "password").output
    assert "#max_number = 100000" in plugins("info", "proof_of_work").output


def test_info_names_the_commands_and_the_errors_of_a_plugin() -> None:
    shown = plugins("info", "login_oidc").output
    assert "\nroutes: " in shown
    assert "\nerrors: error." in shown
    assert "\ncommands: oidc" in shown


def test_info_of_a_plugin_that_is_missing_says_how_to_install_it() -> None:
    result = plugins("info", "storage_tape")
    assert result.exit_code == 1
    assert 'Error: plugin "storage_tape" is not installed; pip install' in result.stderr


@pytest.mark.parametrize("missing", ["pytest", "strongroom.testing"])
def test_check_says_what_to_install_where_the_contracts_are_missing(
    monkeypatch: pytest.MonkeyPatch, missing: str
) -> None:
    monkeypatch.setattr(
        "strongroom.cli.plugins.check.find_spec", lambda name: None if name == missing else ""
    )
    result = plugins("check", "storage_local")
    assert result.exit_code == 1
    assert 'the contracts are not installed; pip install "strongroom[testing]"' in result.stderr


def test_check_requires_the_path_of_tests_in_another_folder() -> None:
    result = plugins("check", "password")
    assert result.exit_code == 1
    assert "set their folder by --tests" in result.stderr


def test_the_calls_of_hooks_are_traced_by_names_alone(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(VARIABLE, "1")
    PluginManager([password, fixed_captcha], ())
    assert capsys.readouterr().err.splitlines() == [
        "strongroom: hook register_login_methods: calling password",
        "strongroom: hook register_login_methods: got strongroom.builtin.password.PasswordLogin",
        "strongroom: hook register_captcha_providers: calling fixed_captcha",
        "strongroom: hook register_captcha_providers: got strongroom.builtin.fixed_captcha.FixedCaptcha",
    ]


@pytest.mark.parametrize("value", ["", "0"])
def test_nothing_is_traced_by_default(
    value: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(VARIABLE, value)
    PluginManager([password], ())
    assert capsys.readouterr().err == ""


def test_a_trace_shows_no_secret_of_the_configuration(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, "1")
    path = tmp_path / "strongroom.toml"
    secret = "hush" * 16
    path.write_text(
        f'[server]\nsecret_key = "{secret}"\n[captcha]\nprovider = "fixed"\nanswer = "hush"\n'
    )
    result = CliRunner().invoke(root, ["--config", str(path), "plugins", "list"])
    assert result.exit_code == 0
    assert "register_captcha_providers" in result.stderr
    assert "hush" not in result.output


@pytest.mark.parametrize(
    ("hook", "returned", "fault"),
    [
        ("register_jobs", "[1]", "returned 1 from register_jobs; expected a Job"),
        ("register_prune_steps", "[int]", "expected a PruneStep"),
        ("register_file_erasers", "['x']", "expected a function"),
        ("register_metrics", "[1]", "expected a Metric"),
    ],
)
def test_the_check_names_what_a_server_would_refuse(
    tmp_path: Path, hook: str, returned: str, fault: str
) -> None:
    path = tmp_path / "acme.py"
    path.write_text(
        "from strongroom.plugin_api import hookimpl\n"
        'API_VERSION = "2.0"\n'
        f"@hookimpl\ndef {hook}(host):\n    return {returned}\n"
    )
    checked = plugins("check", str(path))
    assert (checked.exit_code, fault in checked.stderr) == (1, True), checked.output


def _load_example(name: str, monkeypatch: pytest.MonkeyPatch) -> tuple[PluginManager, Plugin, set[str]]:
    """Load a plugin of ``examples``; return also the names of the classes that its tests derive from."""
    folder = EXAMPLES / name
    monkeypatch.syspath_prepend(str(folder / "src"))
    manager = PluginManager([*BUILTIN, import_module(f"strongroom_{name}.plugin")], ())
    plugin = next(
        plugin for plugin in manager.plugins if plugin.module.__name__.startswith("strongroom_")
    )
    (path,) = (folder / "tests").glob("test_*.py")
    classes = [item for item in runpy.run_path(str(path)).values() if isinstance(item, type)]
    tested = {base.__name__ for item in classes for base in item.__mro__ if base is not item}
    return manager, plugin, tested


def test_no_example_lacks_a_contract_that_the_check_demands(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("STRONGROOM_MAINTENANCE_FILE", str(tmp_path / "switch"))
    names = sorted(path.parent.name for path in EXAMPLES.glob("*/pyproject.toml"))
    assert {"maintenance_mode", "served_by", "tenant_folders"} <= {*names}
    demanded = {}
    for name in names:
        manager, plugin, tested = _load_example(name, monkeypatch)
        subjects = contract_subjects(manager, plugin)
        demanded[name] = [subject.contract for subject in subjects]
        outcomes = {(item.extension, item.contract): Counter(passed=1) for item in subjects}
        run = ContractRun({key: value for key, value in outcomes.items() if key[1] in tested})
        assert judge_contracts(subjects, run).problems == [], name
    assert demanded["maintenance_mode"] == demanded["served_by"] == []
    assert demanded["tenant_folders"] == ["EventSubscriberContract"]


NOTES = '''
from pathlib import Path
from sqlalchemy import MetaData
from strongroom.plugin_api import hookimpl
from strongroom.plugin_api.state import PluginTables
from strongroom.plugin_api.web import Access, Blueprint

API_VERSION = "2.0"
routes = Blueprint("notes")


@routes.operation("GET", "/notes", access=Access.USER)
def notes():
    """Return the notes."""


@hookimpl
def register_blueprints():
    return [routes]


@hookimpl
def register_tables():
    return PluginTables(MetaData(), Path(__file__).parent, "0001")
'''


def test_the_check_demands_the_contract_of_each_hook_that_has_one(tmp_path: Path) -> None:
    path = tmp_path / "notes.py"
    hooks = ("tenant_erasers", "file_erasers", "deactivations", "prune_steps", "user_exports")
    more = (*hooks, "event_subscribers")
    path.write_text(
        NOTES + "".join(f"\n\n@hookimpl\ndef register_{hook}(host):\n    return []\n" for hook in more)
    )
    manager, plugin = load_plugin("notes", {"notes": path})
    subjects = contract_subjects(manager, plugin)
    assert sorted(judge_contracts(subjects, ContractRun()).problems) == [
        f"{hook}: no test class derives from {contract}"
        for hook, contract in [
            ("register_blueprints", "RoutesContract"),
            ("register_deactivations", "DeactivationsContract"),
            ("register_event_subscribers", "EventSubscriberContract"),
            ("register_file_erasers", "FileErasersContract"),
            ("register_prune_steps", "PruneStepsContract"),
            ("register_tables", "TablesContract"),
            ("register_tenant_erasers", "TenantErasersContract"),
            ("register_user_exports", "UserExportsContract"),
        ]
    ]


def test_the_check_runs_the_tests_of_a_plugin_without_contracts(tmp_path: Path) -> None:
    path = tmp_path / "bare.py"
    path.write_text(
        "from strongroom.plugin_api import hookimpl\n"
        'API_VERSION = "2.0"\n'
        "@hookimpl\ndef register_errors():\n    return []\n"
    )
    tests = tmp_path / "tests"
    tests.mkdir()
    (tests / "test_bare.py").write_text("def test_it_fails():\n    assert 1 == 2\n")
    checked = run_command("plugins", "check", str(path), "--tests", str(tests))
    assert (checked.returncode, "its tests failed" in checked.stderr) == (1, True), checked.stdout


def test_the_check_refuses_a_type_of_events_with_a_word_of_the_core(tmp_path: Path) -> None:
    path = tmp_path / "notes.py"
    path.write_text(
        "from strongroom.plugin_api import hookimpl\n"
        "from strongroom.plugin_api.events import ACTOR, AuditedEvent, EventType\n"
        'API_VERSION = "2.0"\n'
        'NOTED = EventType("file.noted", "A note.", (ACTOR,), is_of_tenant_stream=False)\n'
        '@hookimpl\ndef register_event_types():\n    return [AuditedEvent("note", NOTED)]\n'
    )
    checked = plugins("check", str(path))
    rule = 'has the type of events "file.noted": "file" begins types of the core;'
    assert (checked.exit_code, rule in checked.stderr) == (1, True), checked.output


def test_the_check_of_a_former_version_says_what_its_author_does(tmp_path: Path) -> None:
    path = tmp_path / "notes.py"
    path.write_text(
        "from strongroom.plugin_api import hookimpl\n"
        'API_VERSION = "1.2"\n'
        "@hookimpl\ndef register_errors():\n    return []\n"
    )
    checked = plugins("check", str(path))
    remedy = 'if that lists nothing, sets API_VERSION = "2.0"'
    assert (checked.exit_code, remedy in checked.stderr) == (1, True), checked.output
