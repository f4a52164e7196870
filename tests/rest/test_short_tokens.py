"""The one-file plugin examples/plugins.d/short_tokens.py: a token of a service account for minutes."""

import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.support.api import Api, Person
from tests.support.config import Table

from strongroom.testing.clock import HOUR

EXAMPLE = Path(__file__).parents[2] / "examples" / "plugins.d" / "short_tokens.py"


@pytest.fixture
def config_changes(tmp_path: Path) -> Table:
    (folder := tmp_path / "plugins.d").mkdir()
    shutil.copy(EXAMPLE, folder)
    return {"plugins": {"folder": str(folder)}}


def test_a_token_of_a_service_account_opens_its_scopes_for_minutes(api: Api) -> None:
    admin = api.person(admin=True)
    account = api.post("/api/v1/service-accounts", {"name": "Robot"}, by=admin).json["id"]
    hosts = api.container.hosts
    (command,) = [
        item for plugin, item in hosts.call("register_commands") if plugin.name == "short_tokens"
    ]
    result = CliRunner().invoke(command, [account, "--scope", "users:read"])
    assert result.exit_code == 0, result.output
    robot = Person(account, "", result.output.strip())
    assert api.get("/users", by=robot).status_code == 200
    assert api.get("/audit-events", by=robot).status_code == 403
    api.clock.advance(HOUR)
    assert api.get("/users", by=robot).status_code == 401
