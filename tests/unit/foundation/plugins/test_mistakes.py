"""Twelve mistakes of authors of plugins: each is answered by one line with plugin, place and remedy."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
from flask import Flask
from prometheus_client import CollectorRegistry
from tests.support.config import base_config, merged, write_toml

from strongroom.assembly.app import create_app, get_container
from strongroom.assembly.plugin_host import hosts
from strongroom.cli.database_checks import require_served_schema
from strongroom.cli.startup import require_offline
from strongroom.content.scanning.scanners import Scanners, ScanSubject
from strongroom.extensions.observability.metrics import Metrics
from strongroom.foundation.config import Configuration, ConfigurationError, load
from strongroom.foundation.database.plugin_tables import plugin_schemas
from strongroom.foundation.database.upgrade import upgrade
from strongroom.foundation.plugins import hook_calls
from strongroom.identity.sessions.factor_verification import SecondFactors

HEADER = """\
from typing import Any
from strongroom.plugin_api import hookimpl, option
API_VERSION = "2.0"
"""

ROUTES = """
from strongroom.plugin_api.schemas import DoneSchema
from strongroom.plugin_api.web import Access, Blueprint

def make_routes(name, path, view):
    routes = Blueprint(name, description="Things.")
    routes.operation("GET", path, access=Access.PUBLIC, returns=DoneSchema)(view)
    return routes
"""


LOCATED = """
from strongroom.plugin_api.schemas import DoneSchema
from strongroom.plugin_api.web import Access, Blueprint, Location

routes = Blueprint("things", description="Things.")

@routes.operation("GET", "/things/<thing_id>", access=Access.PUBLIC, returns=DoneSchema)
def get_thing(thing_id):
    return dict(success=True)

@routes.operation("POST", "/things", access=Access.PUBLIC, returns=DoneSchema, status=201,
                  location=Location({endpoint!r}, {fields!r}))
def create_thing():
    return dict(success=True)

@hookimpl
def register_blueprints():
    return [routes]
"""


class Site:
    """A folder of one-file plugins, with a server that has them."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.enabled = folder, list[str]()
        (folder / "plugins.d").mkdir()

    def write(self, code: str, name: str = "acme", header: str = HEADER) -> Path:
        """Write a plugin."""
        path = self.folder / "plugins.d" / f"{name}.py"
        path.write_text(header + dedent(code))
        return path

    def configuration(self) -> Configuration:
        base = base_config(self.folder, f"sqlite:///{self.folder}/strongroom.sqlite3")
        enabled = [*base["plugins"]["enabled"], *self.enabled]
        plugins = {"plugins": {"enabled": enabled, "folder": str(self.folder / "plugins.d")}}
        return load(write_toml(self.folder / "strongroom.toml", merged(base, plugins)), {})

    @contextmanager
    def app(self) -> Iterator[Flask]:
        """Create the application."""
        app = create_app(self.configuration())
        try:
            yield app
        finally:
            get_container(app).close()

    def refusal(self) -> str:
        """Return the one line of a start that is refused, without the place in the configuration."""
        with pytest.raises(ConfigurationError) as caught:
            create_app(self.configuration())
        (line,) = str(caught.value).splitlines()
        key, _, message = line.partition(": plugins.folder: ")
        assert key.startswith(f"{self.folder}/strongroom.toml:"), line
        return message.replace(str(self.folder / "plugins.d"), "FOLDER")


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(tmp_path)


def lines(caplog: pytest.LogCaptureFixture) -> list[str]:
    """Return the logged lines that name the plugin."""
    return [record.getMessage() for record in caplog.records if "acme" in record.getMessage()]


ACME = 'plugin "acme" (FOLDER/acme.py)'
REFUSED = {
    "a hook with another name": (
        "@hookimpl\ndef register_blueprint(host):\n    return []\n",
        f'{ACME} is invalid: there is no hook "register_blueprint"; did you mean "register_blueprints"?',
    ),
    "two extensions of one name": (
        """
        from strongroom.builtin.fixed_captcha import FixedCaptcha
        class Mine(FixedCaptcha):
            pass
        @hookimpl
        def register_captcha_providers():
            return [Mine]
        """,
        f'plugin "fixed_captcha" and {ACME} both claim the name "fixed" in register_captcha_providers',
    ),
    "a dependency that is not installed": (
        "import not_there_at_all\n",
        "plugin \"acme\" failed to import: ModuleNotFoundError: No module named 'not_there_at_all'",
    ),
    "a name that is not defined": (
        "\nSIZE = undefined_size\n",
        (
            "plugin \"acme\" failed to import: NameError: name 'undefined_size' is not defined "
            "(FOLDER/acme.py:5)"
        ),
    ),
    "an entry point without hooks": (
        "def register_blueprints(host):\n    return []\n",
        f"{ACME} has no hooks; decorate its functions with hookimpl",
    ),
    "a hook that raises at the registration": (
        "@hookimpl\ndef register_blueprints(host):\n    raise RuntimeError('broken')\n",
        f"{ACME} failed in register_blueprints: RuntimeError: broken (FOLDER/acme.py:6)",
    ),
    "an option of a type that no key can have": (
        """
        from dataclasses import dataclass
        @dataclass(frozen=True)
        class Options:
            word: str = option(help="A word.")
            ports: set[int] = option(help="Ports.")
        @hookimpl
        def register_options():
            return Options
        """,
        f"{ACME}: options_type: Options.ports has the type set[int]; use str, int, float, bool, ",
    ),
    "an option whose default has another type": (
        """
        from dataclasses import dataclass
        @dataclass(frozen=True)
        class Options:
            port: int = option("5", help="A port.")
        @hookimpl
        def register_options():
            return Options
        """,
        f"{ACME}: options_type: Options.port has the default '5', which is no int",
    ),
    "a hook that returns None": (
        "@hookimpl\ndef register_blueprints(host):\n    host.clock.now()\n",
        f"{ACME} returned None from register_blueprints; return what it registers, or []",
    ),
    "a blueprint that is none": (
        "@hookimpl\ndef register_blueprints(host):\n    return ['/things']\n",
        (
            f"{ACME} returned '/things' from register_blueprints; "
            "expected a Blueprint of strongroom.plugin_api.web"
        ),
    ),
    "a route with an unknown option": (
        """
        from strongroom.plugin_api.web import Access, Blueprint
        routes = Blueprint("things", description="Things.")
        @routes.operation("GET", "/things", access=Access.PUBLIC, return_=dict)
        def get_things():
            return {}
        """,
        (
            'plugin "acme" failed to import: TypeError: '
            "GET /things: there is no option 'return_'; use one of "
        ),
    ),
    "a route without access": (
        """
        from strongroom.plugin_api.web import Blueprint
        @Blueprint("things", description="Things.").operation("GET", "/things")
        def get_things():
            return {}
        """,
        'plugin "acme" failed to import: TypeError: GET /things: state who may call the route, such as ',
    ),
    "a compressed response with a secret": (
        ROUTES
        + """
from marshmallow import Schema, fields

class KeySchema(Schema):
    token = fields.String()

routes = Blueprint("things", description="Things.")

@routes.operation("GET", "/things", access=Access.PUBLIC, returns=KeySchema, compress=True)
def get_things():
    return {}

@hookimpl
def register_blueprints():
    return [routes]
        """,
        f"{ACME}: a blueprint cannot be registered: ValueError: GET /things: ",
    ),
    "a route of the server": (
        ROUTES
        + """
def get_user(who):
    return {}

@hookimpl
def register_blueprints(host):
    return [make_routes("things", "/users/<who>", get_user)]
        """,
        f"{ACME}: GET /users/<who> is also a route of the server; choose another path",
    ),
    "a blueprint with a name of a later one": (
        ROUTES
        + """
def get_thing():
    return {}

@hookimpl
def register_blueprints(host):
    return [make_routes("reserved", "/things", get_thing)]
        """,
        f"{ACME}: another blueprint has the name 'reserved'; choose another name",
    ),
    "a route whose view lacks a parameter": (
        ROUTES
        + """
def get_thing():
    return {}

@hookimpl
def register_blueprints(host):
    return [make_routes("things", "/things/<thing_id>", get_thing)]
        """,
        (
            f"{ACME}: a blueprint cannot be registered: ValueError: GET /things/<thing_id>: the view "
            "get_thing: got an unexpected keyword argument 'thing_id'; its parameters must be: thing_id"
        ),
    ),
    "a location that names no route": (
        LOCATED.format(endpoint="things.get_other", fields={"thing_id": "id"}),
        (
            f"{ACME}: POST /things: location names no route: 'things.get_other'; "
            "use BLUEPRINT.VIEW of a route"
        ),
    ),
    "a location without a parameter of its path": (
        LOCATED.format(endpoint="things.get_thing", fields={}),
        (
            f"{ACME}: POST /things: location lacks 'thing_id' of /things/<thing_id>; "
            "map it to a member of the result"
        ),
    ),
    "a location with another parameter": (
        LOCATED.format(endpoint="things.get_thing", fields={"thing": "id"}),
        f"{ACME}: POST /things: location has 'thing', which is no path parameter of /things/<thing_id>",
    ),
    "a location that is a path": (
        LOCATED.replace("Location({endpoint!r}, {fields!r})", "'/things/1'"),
        (
            f"{ACME}: a blueprint cannot be registered: ValueError: POST /things: location is "
            "'/things/1'; use a Location of strongroom.plugin_api.web"
        ),
    ),
    "a hook without hookimpl next to a decorated one": (
        """
        def register_jobs(host):
            return []
        @hookimpl
        def register_blueprints(host):
            return []
        """,
        f"{ACME}: register_jobs has the name of a hook; decorate it with hookimpl, or rename it",
    ),
    "an argument that the hook does not have": (
        "@hookimpl\ndef register_jobs(hosts):\n    return []\n",
        f'{ACME} is invalid: register_jobs has no argument "hosts"; it may have: host',
    ),
    "an argument of a hook that has none": (
        "@hookimpl\ndef register_errors(host):\n    return []\n",
        f'{ACME} is invalid: register_errors has no argument "host"; it may have: none',
    ),
    "a type of events of the core": (
        """
        from strongroom.plugin_api.events import ACTOR, AuditedEvent, EventType
        @hookimpl
        def register_event_types():
            kind = EventType("tenant.deleted", "Things.", (ACTOR,), is_of_tenant_stream=False)
            return [AuditedEvent("add", kind)]
        """,
        (
            f'{ACME} has the type of events "tenant.deleted": "tenant" begins types of the core; '
            "begin it with another word"
        ),
    ),
    "a type of events without its action": (
        """
        from strongroom.plugin_api.events import ACTOR, EventType
        @hookimpl
        def register_event_types():
            return [EventType("things.added", "Things.", (ACTOR,), is_of_tenant_stream=False)]
        """,
        f"{ACME}: returned EventType('things.added') from register_event_types; expected ",
    ),
    "two prune steps of one name": (
        """
        from strongroom.plugin_api.pruning import PruneStep
        @hookimpl
        def register_prune_steps(host):
            return [PruneStep("rows", int), PruneStep("rows", int)]
        """,
        f'{ACME} has a second prune step of the name "acme.rows"',
    ),
    "a prune step that is none": (
        "@hookimpl\ndef register_prune_steps(host):\n    return [int]\n",
        f"{ACME} returned <class 'int'> from register_prune_steps; expected a PruneStep",
    ),
    "an eraser that is no function": (
        "@hookimpl\ndef register_file_erasers(host):\n    return ['erase']\n",
        f"{ACME} returned 'erase' from register_file_erasers; expected a function",
    ),
    "two jobs of one name": (
        """
        from datetime import timedelta
        from strongroom.plugin_api.jobs import Job
        @hookimpl
        def register_jobs(host):
            return [Job("run", timedelta(days=1), print), Job("run", timedelta(days=2), print)]
        """,
        f'{ACME} has a second job of the name "acme.run"',
    ),
    "one blueprint with a route twice": (
        ROUTES
        + """
def get_thing():
    return {}

def get_other():
    return {}

@hookimpl
def register_blueprints(host):
    routes = make_routes("one", "/things", get_thing)
    routes.operation("GET", "/things", access=Access.PUBLIC, returns=DoneSchema)(get_other)
    return [routes]
        """,
        f"{ACME}: GET /things is twice in the blueprint one, as get_thing and get_other; choose another",
    ),
    "two blueprints with one route": (
        ROUTES
        + """
def get_thing():
    return {}

@hookimpl
def register_blueprints(host):
    return [make_routes(name, "/things", get_thing) for name in ("one", "two")]
        """,
        f"{ACME}: GET /things is in two blueprints, one.get_thing and two.get_thing; choose",
    ),
}


@pytest.mark.parametrize("mistake", REFUSED)
def test_a_mistake_is_refused_at_the_start_in_one_line(site: Site, mistake: str) -> None:
    code, line = REFUSED[mistake]
    site.write(code)
    assert site.refusal().startswith(line)


FACTOR = """
from strongroom.plugin_api.factors import Ceremony, PasswordlessFactor, SecondFactor
from strongroom.plugin_api.forms import CaptchaWidget, FactorForm

class Card(BASE):
    name = "card"
    form = FORM
    def begin_enrolment(self, user, enrolled):
        return Ceremony()
    def enrol(self, ceremony, answer):
        raise NotImplementedError
    def verify(self, enrolled, ceremony, answer):
        return None
    def begin_login(self):
        return Ceremony()
    def get_handle(self, answer):
        return None

@hookimpl
def register_second_factors():
    return [Card]
"""
NO_FORM = "has no form, so its users could not log in by the login pages; give it a FactorForm"
NO_TEMPLATE = "no user can type its answers, so the generic form is not enough; give it a template"
NO_SCRIPT = "the script 'card.js' must be a file of register_static_files"


def write_factor(site: Site, form: str, base: str = "SecondFactor[Any]") -> None:
    site.write(FACTOR.replace("BASE", base).replace("FORM", form))


@pytest.mark.parametrize(
    ("base", "form", "fault"),
    [
        ("SecondFactor[Any]", "None", NO_FORM),
        ("PasswordlessFactor[Any]", "FactorForm()", NO_TEMPLATE),
        (
            "SecondFactor[Any]",
            "FactorForm(template='card.html')",
            "its package has no template 'card.html' in the folder templates",
        ),
        ("SecondFactor[Any]", "FactorForm(script='card.js')", NO_SCRIPT),
        (
            "SecondFactor[Any]",
            "property(lambda _: FactorForm(policy={'img-src': 'a; b'}))",
            "policy: 'img-src' must be a directive with sources, such as {'img-src': 'data:'}",
        ),
    ],
)
def test_a_factor_that_the_login_pages_cannot_ask_for_is_refused(
    site: Site, base: str, form: str, fault: str
) -> None:
    site.enabled.append("login_pages")
    write_factor(site, form, base)
    assert site.refusal() == f"{ACME}: Card: {fault}"


def test_without_login_pages_a_factor_needs_no_form(site: Site) -> None:
    write_factor(site, "None")
    with site.app() as app:
        assert "card" in get_container(app).get(SecondFactors).methods


@pytest.mark.parametrize(
    ("stated", "line"),
    [
        ("", f'{ACME} must state API_VERSION = "2.0"'),
        (
            'API_VERSION = "9.0"\n',
            f"{ACME} was written for plugin API 9.0; this server has 2.0; upgrade strongroom",
        ),
    ],
)
def test_a_missing_or_wrong_api_version_is_refused(site: Site, stated: str, line: str) -> None:
    header = HEADER.replace('API_VERSION = "2.0"\n', stated)
    site.write("@hookimpl\ndef register_jobs(host):\n    return []\n", header=header)
    assert site.refusal() == line


def test_two_plugins_with_one_route_are_both_named(site: Site) -> None:
    code = (
        ROUTES
        + """
def get_thing(key):
    return {}

@hookimpl
def register_blueprints(host):
    return [make_routes(NAME, f"/things/<{NAME}>", lambda **_: {})]
    """
    )
    for name in ("acme", "bolt"):
        site.write(f"NAME = {name!r}\n{code}", name)
    expected = (
        'plugin "bolt" (FOLDER/bolt.py): GET /things/<bolt> is also a route of plugin "acme" '
        "(FOLDER/acme.py); choose another path"
    )
    assert site.refusal() == expected


@dataclass
class Stopwatch:
    """The time that hooks of the test say they take."""

    now: float = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def watch(monkeypatch: pytest.MonkeyPatch) -> Stopwatch:
    watch = Stopwatch()
    monkeypatch.setattr(hook_calls, "perf_counter", watch)
    return watch


SLOW = (
    ROUTES
    + """
from strongroom.foundation.plugins.hook_calls import perf_counter as watch

@hookimpl
def register_blueprints(host):
    watch.now += 15
    routes = make_routes("things", "/things", get_thing)
    @routes.before_app_request
    def look_up():
        watch.now += 3
    return [routes]

def get_thing():
    return {"success": True}
    """
)


def test_a_slow_hook_is_named_once_and_counted_each_time(
    site: Site, watch: Stopwatch, caplog: pytest.LogCaptureFixture
) -> None:
    site.write(SLOW)
    with site.app() as app:
        metrics = Metrics(CollectorRegistry())
        get_container(app).hosts.plugins.slow_hooks.count_by(metrics.slow_hook)
        client = app.test_client()
        assert [client.get("/things").status_code for _ in range(2)] == [200, 200]
    remedy = "move the work to a job, or to a thread that start() begins"
    place = f'plugin "acme" ({site.folder}/plugins.d/acme.py)'
    assert lines(caplog) == [
        f"{place} is slow: register_blueprints took 15.0 s; {remedy}",
        f"{place} is slow: before_app_request look_up took 3.0 s; {remedy}",
    ]
    counted = {
        labels: metrics.registry.get_sample_value(
            "strongroom_slow_plugin_hooks_total", {"plugin": "acme", "hook": labels}
        )
        for labels in ("register_blueprints", "before_app_request look_up")
    }
    assert counted == {"register_blueprints": 1.0, "before_app_request look_up": 2.0}


@pytest.mark.parametrize(
    ("code", "said"),
    [
        (
            "@routes.after_app_request\ndef count(response):\n    return 1 / 0\n",
            "failed in after_app_request count: ZeroDivisionError: division by zero (FILE:",
        ),
        (
            "@routes.after_app_request\ndef count(response):\n    pass\n",
            "after_app_request count returned None; return the response",
        ),
        (
            "@routes.before_app_request\ndef check():\n    raise KeyError('a')\n",
            "failed in before_app_request check: KeyError: 'a' (FILE:",
        ),
        ("", "the view get_thing returned None; return a value for its schema, or a response"),
    ],
)
def test_a_fault_in_a_request_names_the_plugin_and_the_hook(
    site: Site, caplog: pytest.LogCaptureFixture, code: str, said: str
) -> None:
    inside = "".join(f"    {line}\n" for line in code.splitlines())
    view = 'return {"success": True}' if code else "pass"
    source = (
        "\n@hookimpl\ndef register_blueprints(host):\n"
        '    routes = make_routes("things", "/things", get_thing)\n'
        f"{inside}    return [routes]\n\ndef get_thing():\n    {view}\n"
    )
    path = site.write(ROUTES + source)
    with site.app() as app:
        assert app.test_client().get("/things").status_code == 500
    expected = f'plugin "acme" ({path}){" " if said.startswith("failed") else ": "}'
    expected += said.replace("FILE", str(path))
    named = [line for line in lines(caplog) if line.startswith(expected)]
    assert len(named) == 1, caplog.text


def test_a_result_without_the_member_of_its_location_names_the_view(
    site: Site, caplog: pytest.LogCaptureFixture
) -> None:
    path = site.write(LOCATED.format(endpoint="things.get_thing", fields={"thing_id": "id"}))
    with site.app() as app:
        upgrade(get_container(app).database.engine)
        assert app.test_client().post("/things").status_code == 500
    expected = "the view create_thing: the result has no member for its location: 'id'"
    assert f'plugin "acme" ({path}): {expected}' in lines(caplog)


SCANNER = """
from strongroom.plugin_api.scanning import ContentScanner

class Scanner(ContentScanner):
    name = "acme"
    head_only = True
    def scan(self, stream, *, name, size, content_type):
        return True

@hookimpl
def register_content_scanners():
    return [Scanner]
"""


def test_a_scanner_that_returns_something_else_is_named_and_passes_no_content(
    site: Site, caplog: pytest.LogCaptureFixture
) -> None:
    path = site.write(SCANNER)
    with site.app() as app:
        (kind,) = (
            kind
            for name, kind in get_container(app).selection.plugins.content_scanners.items()
            if name == "acme"
        )
        scanners = Scanners([kind(None)], {})
        with pytest.raises(Exception, match="acme returned an invalid verdict"):
            scanners.scan_head(ScanSubject("a", 1, "text/plain"), b"a")
    said = "Scanner.scan returned True; return a Verdict of strongroom.plugin_api.scanning"
    assert lines(caplog) == [f'plugin "acme" ({path}): {said}']


TABLE = """
from pathlib import Path
from sqlalchemy import Column, Integer, MetaData, String, Table
from strongroom.plugin_api.state import PluginTables

metadata = MetaData()
Table("acme_notes", metadata, Column("id", Integer, primary_key=True), Column("text", String(10)))
Table("acme_marks", metadata, Column("id", Integer, primary_key=True))

@hookimpl
def register_tables():
    return PluginTables(metadata, Path(__file__).parent.parent / "migrations", "0001")
"""

MIGRATION = """
import sqlalchemy as sa
from alembic import op
revision, down_revision = "0001", None
def upgrade():
    op.create_table("acme_notes", sa.Column("id", sa.Integer, primary_key=True))
"""


def test_a_table_or_column_without_a_migration_is_refused_and_reported(site: Site) -> None:
    site.write(TABLE)
    migrations = site.folder / "migrations"
    migrations.mkdir()
    (migrations / "0001_notes.py").write_text(MIGRATION)
    missing = "acme_marks, acme_notes.text"
    configuration = site.configuration()
    with site.app() as app:
        container = get_container(app)
        tables = container.selection.plugins.tables
        with pytest.raises(ConfigurationError) as caught:
            require_served_schema(configuration, container.database, tables)
        assert f'plugin "acme": no migration creates {missing}; add one' in str(caught.value)
        # A database that got there before, by a version that did not look.
        upgrade(container.database.engine)
        with container.database.engine.begin() as connection:
            connection.exec_driver_sql("CREATE TABLE acme_notes (id INTEGER PRIMARY KEY)")
            connection.exec_driver_sql("CREATE TABLE acme_alembic_version (version_num TEXT)")
            connection.exec_driver_sql("INSERT INTO acme_alembic_version VALUES ('0001')")
        (schema,) = plugin_schemas(container.database.engine, tables)
        assert (schema.is_current, str(schema)) == (False, f"0001 without {missing}")
        assert schema.remedy.startswith("add a migration to the plugin")


TABLE_FAULTS = {
    None: "the folder of its migrations, FOLDER/migrations, does not exist",
    "def upgrade():\n    pass": "no migration creates acme_marks, acme_notes; add one",
    "def upgrade():\n    raise OSError('full')": "a migration failed: full",
}


def test_a_check_of_the_configuration_names_the_plugin_whose_migrations_are_wrong(site: Site) -> None:
    site.write(TABLE)
    migrations = site.folder / "migrations"
    for upgrade_code, line in TABLE_FAULTS.items():
        if upgrade_code:
            migrations.mkdir(exist_ok=True)
            revision = f'revision, down_revision = "0001", None\n{upgrade_code}\n'
            (migrations / "0001_notes.py").write_text(revision)
        with pytest.raises(ConfigurationError) as caught:
            require_offline(site.configuration())
        (message,) = str(caught.value).splitlines()
        expected = f'plugins.folder: plugin "acme": {line}'.replace("FOLDER", str(site.folder))
        assert expected in message


def test_a_start_names_the_line_of_the_plugin_whose_migrations_are_missing(site: Site) -> None:
    site.write(TABLE)
    configuration = site.configuration()
    with site.app() as app:
        container = get_container(app)
        with pytest.raises(ConfigurationError, match=r'plugins\.folder: plugin "acme": the folder'):
            require_served_schema(configuration, container.database, container.selection.plugins.tables)


STOPPING = """
import threading

done = threading.Event()

def work():
    done.wait()

@hookimpl
def start(host):
    threading.Thread(target=work, name="acme-worker").start()

@hookimpl
def stop():
    {stop}
"""


def test_a_thread_that_a_plugin_leaves_is_named_at_the_end(
    site: Site, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(hosts, "_THREAD_PATIENCE", 0.0)
    path = site.write(STOPPING.format(stop="pass"))
    app = create_app(site.configuration())
    container = get_container(app)
    upgrade(container.database.engine)
    (plugin,) = (item for item in container.hosts.plugins.plugins if item.name == "acme")
    container.start()
    try:
        container.close()
    finally:
        plugin.module.done.set()
    remedy = "end it in stop() or close(), or make it a daemon"
    left = f'plugin "acme" ({path}) leaves the thread acme-worker running; {remedy}'
    assert lines(caplog) == [left]


def test_a_plugin_that_does_not_stop_is_named_meanwhile(
    site: Site, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(hook_calls, "STOP_PATIENCE", 0.0)
    path = site.write(STOPPING.format(stop="done.wait()"))
    app = create_app(site.configuration())
    container = get_container(app)
    upgrade(container.database.engine)
    (plugin,) = (item for item in container.hosts.plugins.plugins if item.name == "acme")

    class Ending(logging.Handler):
        """Lets the plugin stop once it is named."""

        def emit(self, record: logging.LogRecord) -> None:
            if "has not stopped" in record.getMessage():
                plugin.module.done.set()

    handler: Any = Ending()
    hook_calls.logger.addHandler(handler)
    try:
        container.start()
        container.close()
    finally:
        hook_calls.logger.removeHandler(handler)
        plugin.module.done.set()
    expected = f'plugin "acme" ({path}) has not stopped for 0 s; its hook stop must end what start began'
    assert expected in lines(caplog)
