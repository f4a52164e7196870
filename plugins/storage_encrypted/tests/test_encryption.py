"""What the encryption guarantees beyond the contract."""

import io
import secrets
from collections import Counter
from collections.abc import Callable
from random import Random
from typing import Any

import pyrage
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from strongroom.plugin_api import NoOptions
from strongroom.plugin_api.storage import (
    ByteStream,
    InnerStorage,
    LocalPaths,
    ObjectDamaged,
    StorageError,
    StorageUnavailable,
)
from strongroom.testing.keys import MemoryKeys
from strongroom.testing.storage import MemoryStorage, new_key, read_all
from strongroom_storage_encrypted.age_format import PIECE, PREFIX_BYTES, SEALED_PIECE, sealed_size
from strongroom_storage_encrypted.keyring import KEYS
from strongroom_storage_encrypted.wrapper import EncryptedStorage

MakeWrapper = Callable[..., EncryptedStorage]

TENANT, OTHER = "0199-tenant", "0199-other"


def put(storage: EncryptedStorage, content: bytes, scope: str = TENANT) -> str:
    key = new_key()
    assert storage.put_in(scope, key, io.BytesIO(content), size=len(content)) == len(content)
    return key


def identities(storage: EncryptedStorage, scope: str | None) -> list[pyrage.x25519.Identity]:
    lines = storage.export_keys(scope).splitlines()
    return [pyrage.x25519.Identity.from_str(line) for line in lines]


@pytest.mark.parametrize("size", [0, 1, PIECE - 1, PIECE, PIECE + 1, 4 * PIECE, 5 * PIECE + 7])
def test_age_reads_an_object_with_the_exported_key(
    storage: EncryptedStorage, inner: MemoryStorage, size: int
) -> None:
    content = secrets.token_bytes(size)
    key = put(storage, content)
    assert len(inner.objects[key]) == sealed_size(size)
    assert pyrage.decrypt(inner.objects[key], identities(storage, TENANT)) == content


def test_the_key_of_another_tenant_opens_nothing(
    storage: EncryptedStorage, inner: MemoryStorage
) -> None:
    key, _ = put(storage, b"secret"), put(storage, b"other", OTHER)
    with pytest.raises(pyrage.DecryptError):
        pyrage.decrypt(inner.objects[key], identities(storage, OTHER))
    with pytest.raises(pyrage.DecryptError):
        pyrage.decrypt(inner.objects[key], identities(storage, None))


def test_no_content_and_no_tenant_is_in_the_store(
    storage: EncryptedStorage, inner: MemoryStorage
) -> None:
    put(storage, b"the plain content of a file" * 1000)
    for name, stored in inner.objects.items():
        assert b"plain content" not in stored
        assert TENANT.encode() not in name.encode() + stored


CONTENT = Random(7).randbytes(3 * PIECE + 1000)


@settings(max_examples=300, suppress_health_check=[*HealthCheck])
@given(
    size=st.sampled_from([0, 1, PIECE - 1, PIECE, PIECE + 1, 2 * PIECE, 3 * PIECE, 3 * PIECE + 1000]),
    start=st.one_of(
        st.integers(0, 3 * PIECE + 2000), st.sampled_from([PIECE - 1, PIECE, PIECE + 1, 3 * PIECE])
    ),
    length=st.one_of(st.none(), st.integers(0, 3 * PIECE), st.sampled_from([1, PIECE, 2 * PIECE])),
)
def test_each_range_is_that_of_the_content(
    storage: EncryptedStorage, size: int, start: int, length: int | None
) -> None:
    key = put(storage, CONTENT[:size])
    stop = None if length is None else start + length
    assert read_all(storage, key, start=start, length=length) == CONTENT[:size][start:stop]


def test_a_range_reads_only_its_pieces(storage: EncryptedStorage, inner: MemoryStorage) -> None:
    key, read = put(storage, CONTENT), Counter[str]()
    whole = inner.open

    def watched(key: str, *, start: int = 0, length: int | None = None) -> ByteStream:
        read.update(requests=1, size=length or 0)
        return whole(key, start=start, length=length)

    inner.open = watched  # type: ignore[method-assign, assignment]
    assert read_all(storage, key, start=PIECE + 5, length=10) == CONTENT[PIECE + 5 : PIECE + 15]
    assert read == {"requests": 2, "size": PREFIX_BYTES + SEALED_PIECE}
    read_all(storage, key, start=PIECE + 5, length=PIECE)
    assert read == {"requests": 3, "size": PREFIX_BYTES + 3 * SEALED_PIECE}


Damage = Callable[[bytes, list[bytes]], bytes]
"""Changes an object, which consists of a header with a nonce, and of sealed pieces."""

DAMAGES: dict[str, Damage] = {
    "header": lambda header, pieces: header.replace(b"X25519", b"X25518") + b"".join(pieces),
    "nonce": lambda header, pieces: header[:-1] + bytes([header[-1] ^ 1]) + b"".join(pieces),
    "a bit": lambda header, pieces: header + bytes([pieces[0][0] ^ 1]) + b"".join(pieces)[1:],
    "no last piece": lambda header, pieces: header + b"".join(pieces[:-1]),
    "no first piece": lambda header, pieces: header + b"".join(pieces[1:]),
    "reordered": lambda header, pieces: header + b"".join([pieces[1], pieces[0], *pieces[2:]]),
    "repeated": lambda header, pieces: header + b"".join([*pieces, pieces[-1]]),
    "appended": lambda header, pieces: header + b"".join([*pieces, b"x"]),
    "foreign": lambda header, pieces: b"no header at all",
}


def damaged(sealed: bytes, how: str) -> bytes:
    header, body = sealed[:PREFIX_BYTES], sealed[PREFIX_BYTES:]
    return DAMAGES[how](
        header, [body[at : at + SEALED_PIECE] for at in range(0, len(body), SEALED_PIECE)]
    )


@pytest.mark.parametrize("how", DAMAGES)
@pytest.mark.parametrize("size", [2 * PIECE, 2 * PIECE + 10])
def test_a_changed_object_is_refused(
    storage: EncryptedStorage, inner: MemoryStorage, how: str, size: int
) -> None:
    key = put(storage, CONTENT[:size])
    inner.objects[key] = damaged(inner.objects[key], how)
    with pytest.raises(ObjectDamaged, match=key):
        read_all(storage, key)


def test_a_range_after_a_cut_is_refused(storage: EncryptedStorage, inner: MemoryStorage) -> None:
    key = put(storage, CONTENT)
    inner.objects[key] = inner.objects[key][: PREFIX_BYTES + 2 * SEALED_PIECE]
    with pytest.raises(ObjectDamaged):
        read_all(storage, key, start=2 * PIECE + 1, length=10)


@pytest.mark.parametrize("scope", [TENANT, OTHER])
def test_an_object_in_the_place_of_another_is_refused(
    storage: EncryptedStorage, inner: MemoryStorage, scope: str
) -> None:
    first, second = put(storage, CONTENT), put(storage, CONTENT, scope)
    inner.objects[first] = inner.objects[second]
    with pytest.raises(ObjectDamaged):
        read_all(storage, first)


def test_pieces_of_two_objects_cannot_be_mixed(storage: EncryptedStorage, inner: MemoryStorage) -> None:
    first, second = put(storage, CONTENT), put(storage, CONTENT)
    inner.objects[first] = inner.objects[first][:PREFIX_BYTES] + inner.objects[second][PREFIX_BYTES:]
    with pytest.raises(ObjectDamaged):
        read_all(storage, first)


def test_a_dropped_tenant_is_unreadable_in_each_process(
    storage: EncryptedStorage, inner: MemoryStorage, make_wrapper: MakeWrapper
) -> None:
    key, other = put(storage, CONTENT), put(storage, CONTENT, OTHER)
    make_wrapper(inner).drop_scope(TENANT)
    for reader in (storage, make_wrapper(inner)):
        assert read_all(reader, other) == CONTENT
    with pytest.raises(ObjectDamaged, match="key of its tenant was deleted"):
        read_all(make_wrapper(inner), key)
    storage.drop_scope(TENANT)
    with pytest.raises(ObjectDamaged):
        read_all(storage, key, start=1)
    storage.delete(key)


def test_rotation_rewrites_no_object(
    storage: EncryptedStorage,
    inner: MemoryStorage,
    master_keys: MemoryKeys,
    make_wrapper: MakeWrapper,
) -> None:
    keys = [put(storage, CONTENT, scope) for scope in (TENANT, OTHER)]
    before = {key: inner.objects[key] for key in keys}
    wrapped = {key for key in inner.objects if key.startswith(KEYS)}
    master_keys.rotate()
    assert storage.rewrap() == 2
    assert storage.rewrap() == 0
    assert {key: inner.objects[key] for key in keys} == before
    assert not wrapped & inner.objects.keys()
    # The former master key is no longer needed.
    master_keys._ciphers[0] = master_keys._ciphers[1]
    assert [read_all(make_wrapper(inner), key) for key in keys] == [CONTENT, CONTENT]


def test_a_rewrapping_that_was_interrupted_loses_no_key(
    storage: EncryptedStorage,
    inner: MemoryStorage,
    master_keys: MemoryKeys,
    make_wrapper: MakeWrapper,
) -> None:
    key = put(storage, CONTENT)
    master_keys.rotate()

    def fail(key: str) -> None:
        raise StorageUnavailable("interrupted")

    inner.delete = fail  # type: ignore[method-assign]
    with pytest.raises(StorageUnavailable):
        storage.rewrap()
    assert read_all(make_wrapper(inner), key) == CONTENT
    del inner.delete
    assert storage.rewrap() == 0
    assert len([name for name in inner.objects if name.startswith(KEYS)]) == 1
    assert read_all(make_wrapper(inner), key) == CONTENT


def test_two_processes_that_create_the_key_of_a_tenant_disturb_nothing(
    inner: MemoryStorage, make_wrapper: MakeWrapper
) -> None:
    first, second = make_wrapper(inner), make_wrapper(inner)
    listing = inner.scan
    inner.scan = lambda prefix="": iter(())  # type: ignore[method-assign]
    keys = [put(first, b"first"), put(second, b"second")]
    inner.scan = listing  # type: ignore[method-assign]
    assert [read_all(make_wrapper(inner), key) for key in keys] == [b"first", b"second"]
    assert len(make_wrapper(inner).export_keys(TENANT).splitlines()) == 2


def test_another_master_key_is_an_error_that_names_it(
    storage: EncryptedStorage, inner: MemoryStorage
) -> None:
    key = put(storage, CONTENT)
    other = EncryptedStorage(NoOptions(), InnerStorage("main", inner, MemoryKeys))
    with pytest.raises(StorageError, match="does not match") as caught:
        read_all(other, key)
    assert not isinstance(caught.value, ObjectDamaged | StorageUnavailable)


def test_a_key_provider_that_is_away_makes_the_storage_unavailable(
    storage: EncryptedStorage,
    inner: MemoryStorage,
    master_keys: MemoryKeys,
    make_wrapper: MakeWrapper,
) -> None:
    key = put(storage, CONTENT)
    master_keys.is_away = True
    # Keys that are known need no provider.
    assert read_all(storage, key) == CONTENT
    calls: list[Any] = [
        lambda: read_all(make_wrapper(inner), key),
        lambda: put(storage, b"", OTHER),
        lambda: make_wrapper(inner).put(new_key(), io.BytesIO(b"")),
    ]
    for call in calls:
        with pytest.raises(StorageUnavailable, match="key provider"):
            call()


def test_capabilities_of_the_inner_storage_are_not_passed_on(
    make_wrapper: MakeWrapper,
) -> None:
    class Paths(MemoryStorage, LocalPaths):
        def local_path(self, key: str) -> Any:
            raise NotImplementedError

    assert make_wrapper(Paths()).capability(LocalPaths) is None
