"""How many statements a PUT executes, because programs store folders of many small files."""

import pytest
from tests.support.api import Api
from tests.support.databases import on_sqlite
from tests.support.statements import statements
from tests.support.webdav import PLUGINS, Space

pytestmark = [on_sqlite, pytest.mark.config({"plugins": {"enabled": PLUGINS}})]


@pytest.mark.parametrize(("headers", "most"), [({}, 15), ({"X_OC_Mtime": "1788256800"}, 17)])
def test_a_put_of_a_new_file_executes_few(api: Api, headers: dict[str, str], most: int) -> None:
    drive = Space.made(api).drive
    drive.send("MKCOL", "folder")
    drive.put("folder/first", b"content")
    counts = []
    for number in range(20):
        with statements() as seen:
            assert drive.put(f"folder/{number}", b"content", **headers).status_code == 201
        counts.append(len(seen))
    # Some of them reserve object keys for the next ones.
    assert min(counts) == most
    assert max(counts) <= most + 1
