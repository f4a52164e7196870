"""The version before starts and works on the schema of a later one, with the plugins of the default."""

import re
from pathlib import Path

import pytest

from strongroom.foundation.config.server_settings import PluginsSettings
from strongroom.foundation.database.upgrade import SCHEMA_REVISION
from strongroom.testing.server import to_toml
from tests.support.client import PASSWORD, Client
from tests.support.config import read_toml
from tests.support.previous_release import VERSION_BEFORE, Release, command
from tests.support.server import STRONGROOM, Server, serving

PLUGINS = {"share_links": "share_links_links", "login_pages": "login_pages_codes"}
"""Those of the default that have tables, each with one of its tables."""
REMEDY = "install a newer version of the plugin, or restore a backup made with this one"
EXPAND = """
import sqlalchemy as sa
from alembic import op
revision = "{revision}"
down_revision = "{before}"

def upgrade():
    op.add_column("{table}", sa.Column("later{revision}", sa.Text))
"""
CONTRACT = (
    EXPAND
    + """
oldest_code = "{revision}"
"""
)

pytestmark = [
    pytest.mark.extended,
    pytest.mark.config(
        {
            # Browsers have no passkeys for an address.
            "server": {"workers": 1, "public_url": "http://localhost:8000"},
            "plugins": {"enabled": [*PluginsSettings().enabled]},
        }
    ),
]


@pytest.fixture
def server_config(server_config: Path) -> Path:
    """A configuration that both versions understand."""
    table = read_toml(server_config)
    del table["advanced"]
    server_config.write_text(to_toml(table))
    return server_config


def add_migration(later: Path, folder: str, script: str, table: str) -> str:
    """Add a migration after the newest one of a folder, and return its revision."""
    (migrations,) = later.glob(folder)
    before = max(file.name[:4] for file in migrations.glob("0*.py"))
    revision = f"{int(before) + 1:04}"
    text = script.format(revision=revision, before=before, table=table)
    (migrations / f"{revision}_later.py").write_text(text)
    return revision


def add_plugin_migration(later: Path, plugin: str, script: str) -> None:
    """Add a migration to a plugin, and declare its revision."""
    revision = add_migration(later, f"plugins/{plugin}/src/*/migrations", script, PLUGINS[plugin])
    module = later / f"plugins/{plugin}/src/strongroom_{plugin}/plugin.py"
    text = re.sub(r'revision="\d{4}"', f'revision="{revision}"', module.read_text())
    module.write_text(text)


def add_core_migration(later: Path) -> None:
    folder = "core/src/strongroom/foundation/database/migrations/versions"
    revision = add_migration(later, folder, EXPAND, "users")
    module = later / "core/src/strongroom/foundation/database/upgrade.py"
    module.write_text(module.read_text().replace(f'"{SCHEMA_REVISION}"', f'"{revision}"', 1))


def use(server: Server) -> None:
    """Use what the default has tables for: users, files, shares and the pages of logins."""
    client = Client.logged_in(server.url, "alice@example.com")
    tenant = client.make_tenant("Acme")
    file_id = client.upload(tenant, "note.txt", b"Kept.")["id"]
    path = f"{tenant}/files/{file_id}/shares"
    share = client.expect(201, "POST", path, {"kind": "read"}).json()
    assert client.expect(200, "GET", f"{tenant}/shares").json()["data"][0]["id"] == share["id"]
    assert (
        b"note.txt"
        in Client(server.url).expect(200, "GET", share["url"].split("/", 3)[-1].join(["/", ""])).content
    )
    assert b"<form" in Client(server.url).expect(200, "GET", "/account/login").content


def create_user(config: Path) -> None:
    arguments = ("users", "create", "--email", "alice@example.com", "--password-stdin", "--admin")
    command(config, *arguments, stdin=PASSWORD)


def test_this_version_works_on_the_expanded_schema_of_a_later_one(
    server_config: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "later"
    later = Release.copied(folder)
    add_core_migration(folder)
    for plugin in PLUGINS:
        add_plugin_migration(folder, plugin, EXPAND)
    with later.in_use():
        command(server_config, "db", "upgrade")
        create_user(server_config)
    with serving(server_config, program=STRONGROOM) as server:
        use(server)
        notes = Client(server.url).expect(200, "GET", "/readyz").json()["notes"]
        assert notes["schema"].endswith("and compatible.")
    assert ", and compatible" in command(server_config, "doctor").stdout

    add_plugin_migration(folder, "share_links", CONTRACT)
    with later.in_use():
        command(server_config, "db", "upgrade")
    for name in ("serve", "doctor"):
        refused = command(server_config, name, check=False)
        assert refused.returncode != 0
        assert REMEDY in refused.stdout + refused.stderr


def test_the_version_before_works_on_the_schema_of_this_one(server_config: Path, tmp_path: Path) -> None:
    before = Release.extracted(tmp_path / "before", VERSION_BEFORE)
    command(server_config, "db", "upgrade")
    create_user(server_config)
    with before.in_use(), serving(server_config, program=STRONGROOM) as server:
        use(server)
