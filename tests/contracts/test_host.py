"""Runs the contracts of the host, as a plugin's tests do."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from strongroom.testing.host import (
    FileLocksContract,
    FileSinkContract,
    LeasesContract,
    LoginsContract,
    ProvisioningContract,
    TenantWritesContract,
    UserWritesContract,
    ValuesContract,
)
from strongroom.testing.state import OpenedPlugin, opened_plugin


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[OpenedPlugin]:
    with opened_plugin(tmp_path, "factor_totp") as opened:
        yield opened


class TestLeases(LeasesContract):
    pass


class TestValues(ValuesContract):
    pass


class TestLogins(LoginsContract):
    pass


class TestFileLocks(FileLocksContract):
    """Locks of files."""


class TestFileSinks(FileSinkContract):
    pass


class TestTenantWrites(TenantWritesContract):
    pass


class TestUserWrites(UserWritesContract):
    pass


class TestProvisioning(ProvisioningContract):
    """Users and groups of directories."""
