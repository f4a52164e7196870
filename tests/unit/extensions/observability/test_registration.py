"""The doctor warns of public servers that give unlimited storage to anyone who registers."""

from pathlib import Path

import pytest
from tests.support.config import Table, write_toml

from strongroom.extensions.observability.doctor import examine_registration
from strongroom.foundation.config import load


@pytest.mark.parametrize(
    ("mode", "registration", "tables", "state"),
    [
        ("production", "open", {}, "warning"),
        ("production", "open", {"files": {"default_quota_bytes": 1_000_000}}, "ok"),
        ("production", "open", {"tenants": {"allow_user_creation": False}}, "ok"),
        ("production", "closed", {}, "ok"),
        ("development", "open", {}, "ok"),
    ],
)
def test_open_registration_without_a_quota_is_a_warning_in_production(
    tmp_path: Path, mode: str, registration: str, tables: Table, state: str
) -> None:
    path = write_toml(
        tmp_path / "strongroom.toml",
        {
            "server": {"mode": mode},
            "storages": {"main": {"backend": "local", "root": "files"}},
            "users": {"registration": registration},
            **tables,
        },
    )
    finding = examine_registration(load(path, {}).settings)
    assert finding.state == state
    assert bool(finding.remedy) == (state == "warning")
