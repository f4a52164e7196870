"""Fixtures of all tests."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from strongroom.app import container_of, create_app
from strongroom.config import load
from strongroom.testing.clock import ManualClock
from tests.support.api import Api

pytest_plugins = ["tests.support.databases"]

CONFIG = """
[server]
data_dir = "{folder}/data"
public_url = "https://files.example.com"
[database]
url = "{database_url}"
[plugins]
enabled = ["storage_local"]
[storages.main]
backend = "local"
root = "{folder}/files"
[files]
max_file_bytes = 8000000
[login]
methods = ["password"]
[captcha]
provider = "fixed"
answer = "42"
[passwords]
bcrypt_cost = 4
"""


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def config_changes() -> dict[str, str]:
    """What a module replaces in the configuration, by what it is replaced with."""
    return {}


@pytest.fixture
def api(
    tmp_path: Path, database_url: str, clock: ManualClock, config_changes: dict[str, str]
) -> Iterator[Api]:
    """The REST API on an empty database, in this process, with time standing still."""
    path = tmp_path / "strongroom.toml"
    text = CONFIG.format(folder=tmp_path, database_url=database_url)
    for old, new in config_changes.items():
        assert old in text
        text = text.replace(old, new)
    path.write_text(text)
    app = create_app(load(path, {}), clock)
    container = container_of(app)
    yield Api(app, container, clock)
    container.close()
