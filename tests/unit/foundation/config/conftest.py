from pathlib import Path

import pytest
from tests.support.config import write_toml
from tests.support.production import production

from strongroom.identity.sessions.signing_keys import create_key_file


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """A configuration with which nothing is wrong."""
    path = write_toml(tmp_path / "strongroom.toml", production(tmp_path))
    path.chmod(0o600)
    create_key_file(tmp_path / "keys.json", "HS256", 0)
    return path
