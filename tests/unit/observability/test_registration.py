"""The doctor warns of public servers that give unlimited storage to anyone who registers."""

from pathlib import Path

import pytest

from strongroom.config import load
from strongroom.observability.doctor import examine_registration

CONFIG = """
[server]
mode = "{mode}"
[storages.main]
backend = "local"
root = "files"
[users]
registration = "{registration}"
{tables}
"""


@pytest.mark.parametrize(
    ("mode", "registration", "tables", "state"),
    [
        ("production", "open", "", "warning"),
        ("production", "open", "[files]\ndefault_quota_bytes = 1000000", "ok"),
        ("production", "open", "[tenants]\nallow_user_creation = false", "ok"),
        ("production", "closed", "", "ok"),
        ("development", "open", "", "ok"),
    ],
)
def test_open_registration_without_a_quota_is_a_warning_in_production(
    tmp_path: Path, mode: str, registration: str, tables: str, state: str
) -> None:
    path = tmp_path / "strongroom.toml"
    path.write_text(CONFIG.format(mode=mode, registration=registration, tables=tables))
    finding = examine_registration(load(path, {}).settings)
    assert finding.state == state
    assert bool(finding.remedy) == (state == "warning")
