"""The modules that a start imports: they take most of its time, and each worker would repeat it."""

import re
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

import pytest

from tests.support.server import STRONGROOM, serving, write_config

IMPORTED = re.compile(r"^import time: +\d+ \| +\d+ \| +(\S+)$", re.MULTILINE)

UNUSED = frozenset(
    {
        "PIL",
        "alembic",
        "boto3",
        "botocore",
        "fs",
        "phonenumbers",
        "prometheus_client",
        "psycopg",
        "redis",
        "smtplib",
        "sqlalchemy.dialects.mysql",
        "sqlalchemy.dialects.postgresql",
        "strongroom.extensions.audit_exports.export",
        "strongroom.extensions.backup.create",
        "strongroom.extensions.backup.restore",
        "strongroom.foundation.database.migrations",
        "strongroom.extensions.observability.doctor",
        "strongroom.testing",
        "tarfile",
        "urllib.request",
        "urllib3",
    }
)
"""Modules that a server with SQLite and local files does not need before its first response."""


@pytest.fixture(scope="module")
def imported(tmp_path_factory: pytest.TempPathFactory) -> Counter[str]:
    """How often the processes of a server, together, import each module before they respond."""
    folder = tmp_path_factory.mktemp("server")
    config = write_config(folder, f"sqlite:///{folder / 'data' / 'strongroom.sqlite3'}")
    log = folder / "imports.log"
    # The first start also creates the schema.
    with serving(config, program=STRONGROOM):
        pass
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPROFILEIMPORTTIME", "1")
        with serving(config, log, program=STRONGROOM):
            return Counter(_without_repeats(IMPORTED.findall(log.read_text())))


def _without_repeats(names: list[str]) -> Iterator[str]:
    """Leave out modules that Python logs again, because their package has imported them itself."""
    known: set[str] = set()
    for before, name in pairwise(["", *names]):
        if before != name.rpartition(".")[0] or name not in known:
            yield name
        known.add(name)


def test_a_start_does_not_import_unused_modules(imported: Counter[str]) -> None:
    assert "strongroom.web.gateway.exchange" in imported
    assert UNUSED & imported.keys() == set()


def test_the_workers_share_the_modules_of_their_parent(imported: Counter[str]) -> None:
    assert {name for name in imported if name.startswith("strongroom") and imported[name] > 1} == set()
