"""A database without room: each change happens wholly or is refused, and nothing is lost by that."""

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, event
from tests.support.api import Answer, Api, Json, Person, error_code
from tests.support.databases import SqliteDatabases
from tests.support.stores import stored_files

from strongroom.content.storage.service import BlobService

CONTENT = b"kept" * 1000


@pytest.fixture
def database_url(sqlite_databases: SqliteDatabases) -> Iterator[str]:
    # A small disk for PostgreSQL needs root; its errors are reported by the same code.
    with sqlite_databases.create() as url:
        yield url


class Site:
    """A tenant whose database soon has no room."""

    def __init__(self, api: Api) -> None:
        self.api = api
        self.person: Person = api.person()
        self.tenant = api.tenant(self.person)
        self.folder = api.folder(self.tenant, self.person, "folder")
        self.file = api.upload(self.tenant, self.person, "file", CONTENT)
        self._numbers = count()

    def path(self, node: Json) -> str:
        return f"{self.tenant}/files/{node['id']}"

    def rename(self) -> Answer:
        return self.api.patch(
            self.path(self.file), {"name": f"{next(self._numbers):0>250}"}, by=self.person
        )

    def move(self) -> Answer:
        path = f"{self.path(self.file)}/directory"
        return self.api.put(path, {"parentId": self.folder["id"]}, by=self.person)

    def delete(self) -> Answer:
        return self.api.delete(self.path(self.file), by=self.person)

    def upload(self) -> Answer:
        return self.api.send(self.tenant, self.person, f"{next(self._numbers):0>250}", CONTENT)

    def shown(self) -> dict[str, Any]:
        """Return everything that the person sees, by id, with the bytes of files."""
        places = {None: f"{self.tenant}/owners/me/files?pageSize=100"}
        places[self.folder["id"]] = (
            f"{self.tenant}/owners/me/files/{self.folder['id']}/files?pageSize=100"
        )
        return {
            node["id"]: (place, node["name"], node["revision"])
            for place, path in places.items()
            for node in self.api.get(path, by=self.person).json["data"]
        }


@contextmanager
def no_room(api: Api) -> Iterator[None]:
    """Let the database grow by a few pages, and no more, while the block lasts."""
    database = api.container.database

    def limit(connection: Any, _record: Any) -> None:
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count = {pages + 8}")

    database.close()
    event.listen(Engine, "connect", limit)
    yield
    event.remove(Engine, "connect", limit)
    database.close()


@pytest.mark.parametrize("action", ["rename", "move", "delete", "upload"])
def test_a_change_is_whole_or_refused(api: Api, tmp_path: Path, action: str) -> None:
    site = Site(api)
    with no_room(api):
        for number in count():
            if site.upload().status_code == 507:
                break
            assert number < 90
        before = site.shown()
        answer: Answer = getattr(site, action)()
        after = site.shown()
        if answer.status_code == 507:
            assert error_code(answer) == "error.storage-full"
            assert after == before
        else:
            assert answer.status_code in (200, 201), answer.text
            assert after != before
    site.api.container.get(BlobService).collect()
    stored = {path.read_bytes() for path in stored_files(tmp_path / "files")}
    assert stored == {CONTENT}
    for node_id in site.shown().keys() - {site.folder["id"]}:
        downloaded = api.get(f"{site.tenant}/files/{node_id}/download", by=site.person)
        assert (downloaded.status_code, downloaded.data) == (200, CONTENT)
