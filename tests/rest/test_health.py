"""Whether the server lives and is ready, and which part is unavailable."""

from pathlib import Path

import pytest
from sqlalchemy import text
from tests.support.api import Answer, Api, error_code
from tests.support.databases import on_postgresql, on_sqlite

from strongroom.content.tenants.service import TenantService
from strongroom.extensions.observability.readiness import FRESH
from strongroom.foundation.database.upgrade import SCHEMA_REVISION
from strongroom.foundation.errors import Unavailable


def away(response: Answer) -> list[str]:
    """Return the parts that are named as away."""
    assert (response.status_code, error_code(response)) == (503, "error.unavailable")
    assert response.headers["Retry-After"] == "1"
    return [detail["field"] for detail in response.json["error"]["details"]]


def test_liveness_needs_no_token(api: Api) -> None:
    response = api.get("/livez")
    assert (response.status_code, response.json) == (200, {"status": "alive"})


def test_a_server_that_is_ready_names_its_parts(api: Api) -> None:
    response = api.get("/readyz")
    assert response.status_code == 200
    # A test runs on SQLite, whose file is on the disk of the instance, and on PostgreSQL.
    parts = response.json.pop("parts")
    assert sorted(parts) == ["database", "disk", "limits", "schema", "storages.main"]
    assert response.json == {"status": "ready"}


def test_a_folder_that_is_away_is_named_and_noticed_when_it_is_back(api: Api, tmp_path: Path) -> None:
    # Created by the first upload.
    (tmp_path / "files").mkdir(exist_ok=True)
    (tmp_path / "files").rename(tmp_path / "away")
    (tmp_path / "files").symlink_to(tmp_path / "files")
    assert away(api.get("/readyz")) == ["storages.main"]
    (tmp_path / "files").unlink()
    (tmp_path / "away").rename(tmp_path / "files")
    api.clock.advance(FRESH)
    assert api.get("/readyz").status_code == 200


def test_a_schema_of_another_version_is_named_with_what_to_do(api: Api) -> None:
    with api.container.database.write() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '0000'"))
    response = api.get("/readyz")
    assert away(response) == ["schema"]
    assert response.json["error"]["details"][0]["message"] == (
        f"It is 0000, not {SCHEMA_REVISION}; run: strongroom db upgrade"
    )


def test_a_data_folder_that_is_away_is_a_fault_of_the_instance(api: Api) -> None:
    folder = api.container.settings.server.data_dir
    folder.rename(folder.with_name("moved"))
    response = api.get("/readyz")
    folder.with_name("moved").rename(folder)
    assert away(response)[0] == "disk"


@on_postgresql
def test_a_database_server_that_is_away_is_a_note(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    without_database(api, monkeypatch)
    response = api.get("/readyz")
    assert response.status_code == 200
    assert set(response.json["notes"]) == {"database", "schema", "limits"}
    assert "hush" not in response.text


@on_sqlite
def test_a_database_file_that_is_away_is_a_fault_of_the_instance(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_database(api, monkeypatch)
    assert away(api.get("/readyz")) == ["database"]


def without_database(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let each new connection of the database fail."""

    def refuse(*_: object) -> None:
        raise ConnectionError("could not connect with password hush")

    database = api.container.database
    database.close()
    for engine in (database.engine, database._readers.engine):
        monkeypatch.setattr(engine.pool, "_creator", refuse)


def test_a_report_is_cached_for_a_second(api: Api, tmp_path: Path) -> None:
    assert api.get("/readyz").status_code == 200
    # Created by the first upload.
    (tmp_path / "files").mkdir(exist_ok=True)
    (tmp_path / "files").rename(tmp_path / "away")
    (tmp_path / "files").symlink_to(tmp_path / "files")
    api.clock.advance(FRESH - 1)
    assert api.get("/readyz").status_code == 200
    api.clock.advance(1)
    assert api.get("/readyz").status_code == 503


def test_the_log_names_the_part_that_an_answer_503_comes_from(
    api: Api, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise Unavailable(retry_after=1)

    alice = api.person()
    monkeypatch.setattr(api.container.get(TenantService), "create", refuse)
    response = api.post("/api/v1/tenants", {"name": "Acme"}, by=alice)
    assert response.status_code == 503
    request = response.headers["X-Request-Id"]
    assert f"Responded 503, raised by {__name__} (request {request})" in caplog.text
