"""Files of secrets: who else can read them."""

import os
from pathlib import Path

import pytest

from strongroom.foundation.secret_keys import is_readable_by_others

ROOT, SERVER, OTHER = 0, 10001, 10002


@pytest.fixture
def secret(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file of root, while this process is that of a server with another user."""
    if os.geteuid() != ROOT:
        pytest.skip("only root can hand over files")
    path = tmp_path / "secret"
    path.write_text("planted")
    monkeypatch.setattr(os, "geteuid", lambda: SERVER)
    monkeypatch.setattr(os, "getegid", lambda: SERVER)
    return path


@pytest.mark.parametrize(
    ("user", "group", "mode", "expected"),
    [
        (SERVER, SERVER, 0o600, False),
        (SERVER, SERVER, 0o640, True),
        (ROOT, SERVER, 0o440, False),
        (ROOT, SERVER, 0o444, True),
        (ROOT, OTHER, 0o440, True),
        (OTHER, SERVER, 0o440, True),
    ],
)
def test_the_group_may_read_only_what_root_hands_over_to_it(
    secret: Path, user: int, group: int, mode: int, expected: bool
) -> None:
    os.chown(secret, user, group)
    secret.chmod(mode)
    assert is_readable_by_others(secret) is expected


def test_a_server_of_root_needs_files_that_only_root_can_read(tmp_path: Path) -> None:
    path = tmp_path / "secret"
    path.write_text("planted")
    path.chmod(0o640)
    assert is_readable_by_others(path)
