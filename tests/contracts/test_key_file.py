"""The key provider ``file`` passes the contract, and guards its file."""

import json
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from strongroom.builtin.key_file import KeyFileOptions, KeyFileProvider, create_key_file
from strongroom.plugin_api.keys import KeyProviderError
from strongroom.testing.keys import CONTEXT, KeyProviderContract


def provider_at(path: Path) -> KeyFileProvider:
    return KeyFileProvider(KeyFileOptions(path=path))


class TestKeyFile(KeyProviderContract):
    @pytest.fixture
    def make_provider(self, tmp_path: Path) -> Callable[[], KeyFileProvider]:
        create_key_file(tmp_path / "keys.json")
        return lambda: provider_at(tmp_path / "keys.json")

    @pytest.fixture
    def other_provider(self, tmp_path: Path) -> KeyFileProvider:
        create_key_file(tmp_path / "other.json")
        return provider_at(tmp_path / "other.json")


def test_a_file_is_never_replaced(tmp_path: Path) -> None:
    path = tmp_path / "keys.json"
    create_key_file(path)
    before = path.read_bytes()
    with pytest.raises(FileExistsError):
        create_key_file(path)
    assert path.read_bytes() == before


def test_only_the_owner_reads_the_file(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "keys.json"
    create_key_file(path)
    provider_at(path).rotate()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_a_missing_file_is_not_created(tmp_path: Path) -> None:
    with pytest.raises(KeyProviderError, match="strongroom keys create-master-key"):
        provider_at(tmp_path / "keys.json")
    assert list(tmp_path.iterdir()) == []


def test_a_key_that_was_changed_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "keys.json"
    create_key_file(path)
    content = json.loads(path.read_text())
    content["keys"] = dict.fromkeys(content["keys"], "A" * 43 + "=")
    path.write_text(json.dumps(content))
    with pytest.raises(KeyProviderError, match="no file of master keys"):
        provider_at(path)


def test_a_wrong_file_names_the_missing_key(tmp_path: Path) -> None:
    first, second = (create_key_file(tmp_path / name) for name in ("a", "b"))
    wrapped = provider_at(tmp_path / "a").wrap(bytes(32), CONTEXT)
    with pytest.raises(KeyProviderError, match=f"{first} is missing in .*, which has {second}"):
        provider_at(tmp_path / "b").unwrap(wrapped, CONTEXT)
