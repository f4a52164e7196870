"""litmus passes with several processes, on both databases."""

from pathlib import Path
from typing import Final

import pytest
from tests.support.databases import on_postgresql, on_sqlite
from tests.support.litmus import needs_litmus, run_litmus
from tests.support.webdav import make_live_key

from strongroom.testing.server import live_server

pytestmark = needs_litmus

TESTS: Final = {"basic": 16, "copymove": 13, "props": 30, "locks": 41, "http": 4}


def require_all_pass(folder: Path, database_url: str | None) -> None:
    config = {"server": {"workers": 4}}
    with live_server(
        folder / "server", plugins=["webdav"], config=config, database_url=database_url
    ) as server:
        user = server.user()
        server.tenant(user, "Drive")
        key = make_live_key(server, user)
        assert run_litmus(folder, f"{server.url}/dav/Drive/", key, " ".join(TESTS)) == TESTS


@on_sqlite
def test_all_tests_pass_on_sqlite(tmp_path: Path, database_url: str) -> None:
    require_all_pass(tmp_path, database_url)


@pytest.mark.extended
@on_postgresql
def test_all_tests_pass_on_postgresql(tmp_path: Path, database_url: str) -> None:
    require_all_pass(tmp_path, database_url)
