"""The commands of master keys, and the start of a server whose storage is encrypted."""

import re
import stat
from collections.abc import Callable
from pathlib import Path

import pyrage
import pytest
from tests.support.api import Api
from tests.support.commands import run_command
from tests.support.config import change_config
from tests.support.databases import on_sqlite
from tests.support.server import serving, write_config

from strongroom.builtin.key_file import create_key_file
from strongroom.content.storage.models import is_key

pytestmark = on_sqlite

Run = Callable[..., str]


@pytest.fixture
def keys(tmp_path: Path) -> Path:
    return tmp_path / "master-keys.json"


@pytest.fixture
def server_config(tmp_path: Path, database_url: str, keys: Path) -> Path:
    """A server that has started with a plain storage, and is now configured with an encrypted one."""
    config = write_config(
        tmp_path, database_url, {"storages": {"disk": {"backend": "local", "root": f"{tmp_path}/disk"}}}
    )
    change_config(
        config,
        {
            "plugins": {"enabled": ["storage_local", "storage_encrypted"]},
            "keys": {"path": str(keys)},
            "storages": {"vault": {"backend": "encrypted", "over": "disk"}},
            "files": {"storage": "vault"},
        },
    )
    return config


@pytest.fixture
def run(server_config: Path) -> Run:
    """Runs a command, which must succeed or end with the given status; returns its output."""

    def run(*arguments: str, status: int = 0) -> str:
        result = run_command("--config", str(server_config), *arguments)
        assert result.returncode == status, result.stderr
        return result.stdout or result.stderr

    return run


def content_of(folder: Path) -> dict[str, bytes]:
    """Return the objects of the storage "vault" by key."""
    root = folder / "disk/00/02" / b"vault".hex()
    return {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def test_without_a_master_key_the_server_says_how_to_create_one(run: Run, keys: Path) -> None:
    refusal = run("config", "check", status=2)
    assert "keys: cannot be opened: " in refusal
    assert "strongroom keys create-master-key" in refusal
    assert not keys.exists()
    key_id = run("keys", "create-master-key").split()[0]
    assert stat.S_IMODE(keys.stat().st_mode) == 0o600
    assert run("config", "check") == "the configuration is fine\n"
    assert "exists" in run("keys", "create-master-key", status=1)
    assert key_id in keys.read_text()


def test_with_another_master_key_the_server_refuses_to_start(
    run: Run, server_config: Path, keys: Path
) -> None:
    run("keys", "create-master-key")
    right = keys.read_bytes()
    assert "an object was written, read and deleted" in run("doctor")
    with serving(server_config):
        pass  # A start marks the store as its own; a check writes nothing.
    keys.unlink()
    other = create_key_file(keys)
    for command in (("config", "check"), ("serve",)):
        refusal = run(*command, status=2)
        assert re.search("storages.vault: cannot be \\w+: the master key ", refusal), refusal
        assert f"is missing in {keys}, which has {other}" in refusal
    keys.write_bytes(right)
    assert run("config", "check") == "the configuration is fine\n"


def test_a_rotation_wraps_all_keys_again_and_files_stay_readable(
    run: Run, server_config: Path, keys: Path, tmp_path: Path
) -> None:
    run("keys", "create-master-key")
    run("db", "upgrade")
    with Api.running(server_config) as api:
        tenant = api.tenant(alice := api.person())
        api.upload(tenant, alice, "a.bin", b"content")
        before = content_of(tmp_path)
        shown = run("keys", "rotate-master-key").splitlines()
        # The key of the tenant, and the one of the owner marker.
        assert shown[1:] == ["vault: 2 keys wrapped again"]
        assert run("keys", "rotate-master-key", "--only-rewrap") == "vault: 0 keys wrapped again\n"
        api.upload(tenant, alice, "b.bin", b"after")
    after = content_of(tmp_path)
    # Only the two wrapped keys were replaced.
    assert len(before.keys() - after.keys()) == 2
    assert {name: after[name] for name in before.keys() & after.keys()}.items() <= before.items()
    assert run("storage", "fsck", "--checksums") == "0 faults, 0 repaired\n"


def test_the_key_of_a_tenant_is_exported_for_age(run: Run, server_config: Path, tmp_path: Path) -> None:
    run("keys", "create-master-key")
    run("db", "upgrade")
    with Api.running(server_config) as api:
        tenant = api.tenant(alice := api.person())
        api.upload(tenant, alice, "a.bin", b"read without Strongroom")
    tenant_id, target = tenant.rpartition("/")[2], tmp_path / "tenant.key"
    run("rescue", "export-tenant-key", "vault", tenant_id, "--output", str(target))
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    identity = pyrage.x25519.Identity.from_str(target.read_text().strip())
    (content,) = (content for name, content in content_of(tmp_path).items() if is_key(name))
    assert pyrage.decrypt(content, [identity]) == b"read without Strongroom"
    assert "exists" in run("rescue", "export-tenant-key", "vault", "--output", str(target), status=2)
    nothing = run("rescue", "export-tenant-key", "disk", "--output", f"{target}2", status=2)
    assert "[storages.disk] has no keys" in nothing


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"vault": {"over": "nowhere"}}, "storages.vault.over: there is no [storages.nowhere]; "),
        ({"vault": {"over": "vault"}}, "leads back to this storage: vault -> vault"),
        (
            {"a": {"backend": "encrypted", "over": "b"}, "b": {"backend": "encrypted", "over": "a"}},
            "storages.a.over: leads back to this storage: a -> b -> a",
        ),
        ({"disk": {"over": "vault"}}, '"local" does not wrap a storage; remove this key'),
        ({"vault": {"over": ""}}, "there is no [storages.]"),
        ({"c": {"backend": "encrypted"}}, 'storages.c.over: "encrypted" wraps another storage; name it'),
        ({"vault": {"downloads": "x_accel"}}, 'encrypted does not support "x_accel"'),
        ({"vault": {"direct_uploads": True}}, "is not supported by encrypted"),
    ],
)
def test_storages_that_cannot_be_are_refused(
    run: Run, server_config: Path, keys: Path, changes: dict[str, object], fault: str
) -> None:
    create_key_file(keys)
    change_config(server_config, {"storages": changes})
    assert fault in run("config", "check", status=2)


def test_a_wrapper_over_a_wrapper_encrypts_twice(run: Run, server_config: Path, keys: Path) -> None:
    create_key_file(keys)
    change_config(server_config, {"storages": {"a_twice": {"backend": "encrypted", "over": "vault"}}})
    assert run("doctor").count("an object was written, read and deleted") == 4
