"""A plugin's audit records are in the transaction of its rows if it passes the transaction."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.audit import reading_sealed

from strongroom.activity.audit.service import records_after
from strongroom.plugin_api.host import HostAPI
from strongroom.testing.state import OpenedPlugin, opened_plugin


@pytest.fixture
def opened(tmp_path: Path, database_url: str) -> Iterator[OpenedPlugin]:
    with opened_plugin(tmp_path, "webhooks", database_url=database_url) as opened:
        yield opened


def actions(opened: OpenedPlugin) -> list[str]:
    with reading_sealed(opened.services.database) as connection:
        return [record.action for record in records_after(connection, 0, 100)]


def change_nothing(host: HostAPI) -> None:
    with host.database.write() as transaction:
        host.audit("undo", "thing", "1", transaction=transaction)
        raise ValueError("refused")


def test_a_record_is_committed_or_rolled_back_with_the_transaction(opened: OpenedPlugin) -> None:
    host = opened.host
    with pytest.raises(ValueError, match="refused"):
        change_nothing(host)
    with host.database.write() as transaction:
        host.audit("keep", "thing", "1", transaction=transaction)
    assert actions(opened) == ["webhooks.keep"]


def test_a_record_needs_a_transaction_that_writes(opened: OpenedPlugin) -> None:
    host = opened.host
    with host.database.read() as transaction, pytest.raises(TypeError, match=r"host.database.write\(\)"):
        host.audit("add", "thing", "1", transaction=transaction)


def test_a_record_without_the_transaction_names_the_remedy(opened: OpenedPlugin) -> None:
    host = opened.host
    with host.database.write(), pytest.raises(RuntimeError, match="end the first before this call"):
        host.audit("add", "thing", "1")
