"""Data of a one-file plugin: tables, values for users and jobs, in commands, backups and servers."""

import json
from contextlib import closing
from itertools import pairwise
from pathlib import Path

import pytest

from strongroom.cli.database_checks import require_served_schema
from strongroom.foundation.config import ConfigurationError, load
from strongroom.foundation.database import Database
from strongroom.foundation.plugins.selection import load_plugins
from strongroom.testing.server import free_port
from tests.support.client import Client
from tests.support.commands import run_command
from tests.support.config import change_config
from tests.support.databases import on_sqlite
from tests.support.server import is_listening, serving, serving_nodes, write_config
from tests.support.waiting import wait_until

FIRST = """
import sqlalchemy as sa
from alembic import op
revision = "0001"
down_revision = None

def upgrade():
    op.create_table("diary_notes", sa.Column("id", sa.Integer, primary_key=True),
                    sa.Column("after", sa.Integer, sa.ForeignKey("diary_notes.id")),
                    sa.Column("body", sa.JSON, nullable=False))
"""
PLUGIN = '''
from datetime import timedelta
from pathlib import Path
import click
import sqlalchemy as sa
from strongroom.plugin_api import hookimpl
from strongroom.plugin_api.jobs import Job
from strongroom.plugin_api.state import PluginTables
API_VERSION = "2.0"
RECORD = Path(__file__).with_name("record")
metadata = sa.MetaData()
notes = sa.Table("diary_notes", metadata, sa.Column("id", sa.Integer, primary_key=True),
                 sa.Column("after", sa.Integer, sa.ForeignKey("diary_notes.id")),
                 sa.Column("body", sa.JSON, nullable=False))

jobs = sa.table("jobs", sa.column("name"), sa.column("started_at"))

@hookimpl
def register_tables():
    return PluginTables(metadata, Path(__file__).with_name("diary_migrations"), "0001")

@hookimpl
def register_commands(host):
    @click.group("diary")
    def diary():
        """Notes."""

    @diary.command("fill")
    @click.argument("user")
    def fill(user):
        with host.database.write() as transaction:
            transaction.execute(sa.insert(notes), [
                {"id": 1, "after": None, "body": {"text": "one"}},
                {"id": 2, "after": 1, "body": ["two"]},
            ])
        host.store.put(user, "seed", {"value": "plain"})
        host.values.put("token", "shared")

    @diary.command("show")
    @click.argument("user")
    def show(user):
        with host.database.read() as transaction:
            rows = transaction.all(sa.select(notes).order_by(notes.c.id))
        click.echo([[row.id, row.after, row.body] for row in rows])
        click.echo(host.store.get(user, "seed"))
        click.echo(host.values.get("token"))

    return [diary]

@hookimpl
def register_jobs(host):
    def note(run):
        # The start of the interval, because a busy machine may run this much later.
        with host.database.read() as transaction:
            (row,) = transaction.all(sa.select(jobs.c.started_at).where(jobs.c.name == "diary.note"))
        with RECORD.open("a") as file:
            file.write(f"{row.started_at}\\n")

    def fail(run):
        raise OSError("hush")

    return [Job("note", timedelta(seconds=1), note), Job("fail", timedelta(days=1), fail)]
'''
SHOWN = "[[1, None, {'text': 'one'}], [2, 1, ['two']]]\n{'value': 'plain'}\nshared\n"


@pytest.fixture
def plugins(tmp_path: Path) -> Path:
    folder = tmp_path / "plugins.d"
    (folder / "diary_migrations").mkdir(parents=True)
    (folder / "diary_migrations" / "0001_notes.py").write_text(FIRST)
    (folder / "diary.py").write_text(PLUGIN)
    return folder


@pytest.fixture
def server_config(tmp_path: Path, database_url: str, plugins: Path) -> Path:
    return write_config(tmp_path, database_url, {"plugins": {"folder": str(plugins)}})


def run(config: Path, *arguments: str, code: int = 0, stdin: str = "") -> str:
    """Run a command, and return its output and its errors."""
    result = run_command("--config", str(config), *arguments, stdin=stdin)
    assert result.returncode == code, result.stderr
    return result.stdout + result.stderr


def create_user(config: Path) -> str:
    arguments = ("users", "create", "--email", "a@example.com", "--password-stdin", "--json")
    return str(json.loads(run(config, *arguments, stdin="Correct1Horse"))["id"])


def test_an_upgrade_creates_the_tables_and_a_backup_of_either_database_restores_to_the_other(
    server_config: Path, plugins: Path, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    assert "plugin diary: empty, newest: 0001" in run(server_config, "db", "current")
    assert "plugin diary: empty -> 0001" in run(server_config, "db", "upgrade")
    user = create_user(server_config)
    run(server_config, "diary", "fill", user)
    assert run(server_config, "diary", "show", user) == SHOWN
    archive = tmp_path / "backup.tar"
    assert "NOT included" not in run(server_config, "backup", "create", str(archive))
    kind = "postgresql" if "sqlite" in server_config.read_text() else "sqlite"
    with request.getfixturevalue(f"{kind}_databases").create() as url:
        folder = tmp_path / "restored"
        folder.mkdir()
        there = write_config(folder, url)
        refused = run(there, "backup", "restore", str(archive), code=1)
        assert 'the archive contains tables of the plugin "diary": install and enable it' in refused
        change_config(there, {"plugins": {"folder": str(plugins)}})
        run(there, "backup", "restore", str(archive))
        assert run(there, "diary", "show", user) == SHOWN


def test_the_tables_of_a_disabled_plugin_are_kept_and_reported(
    server_config: Path, tmp_path: Path
) -> None:
    run(server_config, "db", "upgrade")
    user = create_user(server_config)
    run(server_config, "diary", "fill", user)
    assert "ok       plugins.diary: the schema of its tables is 0001" in run(server_config, "doctor")
    enabled = server_config.read_text()
    server_config.write_text(enabled.replace("folder =", "#folder ="))
    report = run(server_config, "doctor")
    assert "warning  plugins.diary: is not enabled, but has tables, which backups leave out: " in report
    left = "NOT included: tables of plugins that are not enabled: diary_alembic_version, diary_notes"
    assert left in run(server_config, "backup", "create", str(tmp_path / "backup.tar"))
    server_config.write_text(enabled)
    assert run(server_config, "diary", "show", user) == SHOWN


@on_sqlite
def test_production_refuses_to_serve_before_the_upgrade(server_config: Path) -> None:
    run(server_config, "db", "upgrade")
    plugin = server_config.parent / "plugins.d" / "diary.py"
    plugin.write_text(plugin.read_text().replace('"0001")', '"0002")'))
    second = FIRST.replace("0001", "0002").replace("None", '"0001"').partition("def upgrade")[0]
    path = plugin.parent / "diary_migrations" / "0002_more.py"
    path.write_text(second + "def upgrade():\n    pass\n")
    assert "plugin diary: 0001, newest: 0002" in run(server_config, "db", "current")
    configuration = load(server_config, {"STRONGROOM__SERVER__MODE": "production"})
    expected = 'plugin "diary" is 0001, not 0002; run: strongroom db upgrade'
    with closing(Database(configuration.settings.database_url)) as database:
        tables = load_plugins(configuration).tables
        with pytest.raises(ConfigurationError, match=expected):
            require_served_schema(configuration, database, tables)


def test_jobs_of_two_servers_run_once_per_interval_and_are_reported(
    database_url: str, plugins: Path, tmp_path: Path
) -> None:
    record = plugins / "record"
    changes = {"plugins": {"folder": str(plugins)}}
    with serving_nodes(tmp_path, database_url, changes) as (one, _other):
        wait_until(lambda: record.exists() and len(record.read_text().splitlines()) >= 4)
        times = [int(line) for line in record.read_text().splitlines()]
        assert all(later - earlier >= 1000 for earlier, later in pairwise(times))
        listed = one.command("jobs", "list")
        assert "diary.note" in listed
        assert "every 0:00:01  " in listed
        assert "succeeded" in listed
        failed = run(one.config, "jobs", "run", "diary.fail", code=1)
        assert "Error: diary.fail failed; see its log above" in failed
        unknown = run(one.config, "jobs", "run", "diary.nite", code=1)
        assert 'there is no job "diary.nite"; did you mean "diary.note"?' in unknown
    report = run(one.config, "doctor")
    assert "warning  jobs.diary.fail: failed at " in report
    assert ": OSError" in report
    assert "hush" not in report
    assert "ok       jobs.diary.note: succeeded at " in report


@on_sqlite
def test_metrics_count_jobs(database_url: str, plugins: Path, tmp_path: Path) -> None:
    management = {"management": {"port": free_port()}}
    config = write_config(tmp_path, database_url, {"plugins": {"folder": str(plugins)}}, management)
    port = management["management"]["port"]
    operator = Client(f"http://127.0.0.1:{port}")
    with serving(config):
        line = b'strongroom_job_runs_total{name="diary.note",outcome="success"} '
        wait_until(lambda: is_listening(port))
        wait_until(lambda: line in operator.request("GET", "/metrics").content)
