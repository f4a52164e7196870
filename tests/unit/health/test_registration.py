"""The doctor warns of public servers that give unlimited storage to anyone who registers."""

from pathlib import Path

import pytest

from strongroom.config import load
from strongroom.health.doctor import examine_registration

CONFIG = """
[server]
mode = "{mode}"
[storages.main]
backend = "local"
root = "files"
[users]
registration = "{registration}"
[files]
{files}
"""


@pytest.mark.parametrize(
    ("mode", "registration", "files", "state"),
    [
        ("production", "open", "", "warning"),
        ("production", "open", "default_quota_bytes = 1000000", "ok"),
        ("production", "open", "user_tenants = false", "ok"),
        ("production", "closed", "", "ok"),
        ("development", "open", "", "ok"),
    ],
)
def test_open_registration_without_a_quota_is_a_warning_in_production(
    tmp_path: Path, mode: str, registration: str, files: str, state: str
) -> None:
    path = tmp_path / "strongroom.toml"
    path.write_text(CONFIG.format(mode=mode, registration=registration, files=files))
    finding = examine_registration(load(path, {}).settings)
    assert finding.state == state
    assert bool(finding.remedy) == (state == "warning")
