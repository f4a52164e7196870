"""A reload selects the plugins once, so that the log masks their secrets from the first line."""

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.support.config import Table, write_api_config

from strongroom.assembly.server_process import _configure_log, _Worker
from strongroom.foundation.config import load

SECRET = "planted-smtp-password"
SMTP: Table = {
    "host": "127.0.0.1",
    "sender": "no-reply@example.com",
    "username": "strongroom",
    "password": SECRET,
}


@pytest.fixture(autouse=True)
def log_of_the_tests() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)


def test_the_log_masks_secrets_of_a_new_configuration_before_the_application_loads(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    url = f"sqlite:///{tmp_path}/strongroom.sqlite3"
    changes: Table = {"messages": {"email": ["smtp"], "smtp": SMTP}}
    path = write_api_config(tmp_path, url, changes)
    server: Any = None
    worker = _Worker(server, load(path, {}), lambda: load(path, {}))
    worker.reload()
    _configure_log(worker._configuration)
    logging.getLogger("strongroom.test").warning("connecting with %s", SECRET)
    shown = capsys.readouterr().err
    assert "connecting with" in shown
    assert SECRET not in shown
