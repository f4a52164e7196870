"""Rows of the version before survive its upgrade."""

import shutil
from dataclasses import replace
from importlib.resources import as_file, files
from pathlib import Path

import pytest
from sqlalchemy import MetaData, create_engine, insert, inspect, select

from strongroom.foundation.database.upgrade import upgrade
from strongroom_oidc_provider.models import Consent, consents
from strongroom_oidc_provider.plugin import register_tables

BEFORE = "0009"
ROW = {
    "user_id": "u" * 36,
    "client_id": "c" * 36,
    "resource": "https://wiki.example.com",
    "scopes": ["openid"],
    "tenant_id": None,
    "file_id": None,
    "created_at": 1,
    "updated_at": 2,
}
URL = "https://agents.example.com/" + "a" * 228


@pytest.mark.both_databases
def test_consents_survive_and_their_clients_may_be_urls(tmp_path: Path, database_url: str) -> None:
    engine = create_engine(database_url)
    tables = register_tables()
    with as_file(files("strongroom_oidc_provider") / "migrations") as folder:
        for file in folder.glob("0*.py"):
            if file.name[:4] <= BEFORE:
                shutil.copy(file, tmp_path)
    before = replace(tables, metadata=MetaData(), migrations=tmp_path, revision=BEFORE)
    upgrade(engine, {"oidc_provider": before})
    former = MetaData()
    former.reflect(engine, only=["oidc_provider_consents"])
    indexes = inspect(engine).get_indexes("oidc_provider_consents")
    with engine.begin() as connection:
        connection.execute(insert(former.tables["oidc_provider_consents"]), [ROW])
    upgrade(engine, {"oidc_provider": tables})
    with engine.begin() as connection:
        connection.execute(insert(consents), [{**ROW, "client_id": URL, "client_name": "Agent"}])
        rows = connection.execute(select(consents).order_by(consents.c.client_id)).all()
    assert [row.client_id for row in rows] == [ROW["client_id"], URL]
    assert rows[0]._mapping == {**ROW, "client_name": None}
    assert inspect(engine).get_indexes("oidc_provider_consents") == indexes
    assert Consent(URL, "", "", (), 1, 2, None, None).key != URL
    engine.dispose()
