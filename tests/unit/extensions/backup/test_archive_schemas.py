"""An archive with another schema names the server that can restore it."""

import pytest

from strongroom.extensions.backup.archive import FORMAT, Manifest
from strongroom.foundation.database.upgrade import SCHEMA_REVISION
from strongroom.version import __version__


@pytest.mark.parametrize(
    ("version", "build"),
    [
        ("0.0.1", "the version strongroom 0.0.1"),
        (__version__, "the build that created it, of"),
    ],
)
def test_another_schema_names_another_server_than_this_one(version: str, build: str) -> None:
    fault = Manifest(FORMAT, version, "0001", "2026-01-01T00:00:00Z", "id").schema_fault() or ""
    assert fault.startswith(
        f"the archive's schema is 0001, not {SCHEMA_REVISION}: restore it with {build}"
    )
    assert fault.endswith("then run: strongroom db upgrade")


def test_the_schema_of_this_server_is_no_fault() -> None:
    assert (
        Manifest(FORMAT, __version__, SCHEMA_REVISION, "2026-01-01T00:00:00Z", "id").schema_fault()
        is None
    )
