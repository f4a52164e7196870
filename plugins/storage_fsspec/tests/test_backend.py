"""What the backend guarantees beyond the contract."""

import io
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import fsspec
import pytest
from fsspec.implementations.memory import MemoryFileSystem
from fsspec.registry import _registry

from strongroom.plugin_api.storage import (
    ServerSideCopy,
    StorageBackend,
    StorageError,
    StorageFull,
    StorageUnavailable,
)
from strongroom.testing.storage import PatternSource, SourceBroke, new_key, read_all
from strongroom_storage_fsspec.backend import INCOMING, FsspecBackend
from strongroom_storage_fsspec.errors import translated_errors
from strongroom_storage_fsspec.options import FsspecOptions


@pytest.mark.parametrize(
    ("url", "publish", "fault"),
    [
        ("nowhere://x", "rename", "nowhere"),
        ("file:///srv", "direct", "half objects"),
        ("memory://x", "direct", "half objects"),
        ("ssh://host/x", "direct", "half objects"),
        ("webdav://x", "direct", "half objects"),
        ("http://host/x", "rename", 'cannot rename; use publish = "direct"'),
    ],
)
def test_a_filesystem_that_cannot_publish_whole_objects_is_refused(
    url: str, publish: str, fault: str
) -> None:
    with pytest.raises(StorageError, match=fault):
        FsspecBackend(FsspecOptions(url=url, publish=publish))


class _Uncommitted(MemoryFileSystem):  # type: ignore[misc]  # fsspec has no types
    protocol = "uncommitted"

    def _open(self, path: str, mode: str = "rb", **_: Any) -> io.BytesIO:
        return io.BytesIO()


def test_a_writer_without_a_commit_is_refused() -> None:
    fsspec.register_implementation("uncommitted", _Uncommitted, clobber=True)
    backend = FsspecBackend(FsspecOptions(url="uncommitted://x", publish="direct"))
    with pytest.raises(StorageError, match='uncommitted has no commit; use publish = "rename"'):
        backend.put(new_key(), io.BytesIO(b"x"))


def test_sftp_that_verifies_no_host_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    # Its module needs paramiko, so a class of a module of this name stands for it.
    module = {"__module__": "fsspec.implementations.sftp"}
    unverified = type("SFTPFileSystem", (MemoryFileSystem,), module)
    monkeypatch.setitem(_registry, "sftp", unverified)
    with pytest.raises(StorageError, match="does not verify the host"):
        FsspecBackend(FsspecOptions(url="sftp://host/x"))


def test_a_server_with_another_host_key_is_refused(
    ssh: FsspecOptions, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    known_hosts = tmp_path / ".ssh" / "known_hosts"
    known_hosts.parent.mkdir()
    known_hosts.write_text("")
    monkeypatch.setenv("HOME", str(tmp_path))
    others = {name: value for name, value in ssh.options.items() if name != "known_hosts"}
    for named in ({"known_hosts": str(known_hosts)}, {}):
        backend = FsspecBackend(replace(ssh, options={**others, **named}))
        with pytest.raises(StorageUnavailable, match=r"[Hh]ost key"):
            backend.put(new_key(), io.BytesIO(b"x"))


def test_each_instance_declares_whether_its_store_copies(
    local: FsspecOptions, memory: FsspecOptions
) -> None:
    assert FsspecBackend(local).capability(ServerSideCopy) is None
    backend: StorageBackend[Any] = FsspecBackend(memory)
    copies: object = backend.capability(ServerSideCopy)
    assert copies is backend


def test_secrets_are_not_in_the_representation() -> None:
    options = FsspecOptions(url="ssh://user:hush@host/x", options={"password": "hush"})
    assert "hush" not in repr(options)


@pytest.mark.parametrize("options", ["local", "memory", "ssh", "webdav"], indirect=True)
def test_what_a_broken_source_leaves_is_removed(options: FsspecOptions) -> None:
    backend = FsspecBackend(options)
    with pytest.raises(SourceBroke):
        backend.put(new_key(), PatternSource(3_000_000, breaks=True))
    assert list(backend._listed(INCOMING)) == []
    assert list(backend.scan()) == []
    backend.close()


@pytest.mark.parametrize("options", ["local", "ssh"], indirect=True)
def test_a_process_of_its_own_has_connections_of_its_own(options: FsspecOptions) -> None:
    backend, key = FsspecBackend(options), new_key()
    backend.put(key, io.BytesIO(b"of the parent"))
    before = backend._filesystem()[0]
    backend._process = os.getpid() + 1
    assert backend._filesystem()[0] is not before
    assert read_all(backend, key) == b"of the parent"


def test_after_an_outage_it_connects_again(webdav: FsspecOptions) -> None:
    backend, key = FsspecBackend(webdav), new_key()
    backend.put(key, io.BytesIO(b"still there"))
    # As a connection pool that was closed by the other side.
    backend._filesystem()[0].client.http.close()
    with pytest.raises(StorageUnavailable):
        backend.stat(key)
    assert read_all(backend, key) == b"still there"
    backend.close()


def test_listings_are_never_remembered(local: FsspecOptions) -> None:
    first, second = FsspecBackend(local), FsspecBackend(local)
    assert list(first.scan()) == []
    key = new_key()
    second.put(key, io.BytesIO(b"new"))
    assert [found.key for found in first.scan()] == [key]


class _Response:
    status_code = 507


class _HttpError(Exception):
    response = _Response()


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (OSError(28, "No space left on device"), StorageFull),
        (_HttpError(), StorageFull),
        (TimeoutError(), StorageUnavailable),
        (ConnectionResetError(), StorageUnavailable),
        (OSError(5, "Input/output error"), StorageUnavailable),
        (RuntimeError("the driver's own"), StorageUnavailable),
        (PermissionError(13, "Permission denied"), StorageError),
    ],
)
def test_errors_of_drivers_have_a_meaning(error: Exception, kind: type[StorageError]) -> None:
    with pytest.raises(StorageError) as caught, translated_errors("ab/key"):
        raise error
    assert type(caught.value) is kind
    assert caught.value.__cause__ is error
