"""Hashing in the background returns the right hash."""

import gc
import hashlib
import os
import threading

import pytest

from strongroom.content.storage.streams import OverlappedSha256

MEBIBYTE = 1024 * 1024


@pytest.mark.parametrize("piece", [1000, 64 * 1024, 300_000, 3 * MEBIBYTE])
def test_the_hash_is_that_of_all_pieces(piece: int) -> None:
    content = os.urandom(5 * MEBIBYTE + 7)
    digest = OverlappedSha256()
    for start in range(0, len(content), piece):
        digest.update(content[start : start + piece])
    assert digest.hexdigest() == hashlib.sha256(content).hexdigest()


def test_small_and_large_pieces_mix() -> None:
    pieces = [os.urandom(size) for size in (2 * MEBIBYTE, 5, 200_000, 0, 70_000, 1)]
    digest = OverlappedSha256()
    for piece in pieces:
        digest.update(piece)
    assert digest.hexdigest() == hashlib.sha256(b"".join(pieces)).hexdigest()


def hashing_threads() -> set[threading.Thread]:
    """Return the running threads of hashes; those of earlier tests may still be ending."""
    return {item for item in threading.enumerate() if item.name.startswith("sha256")}


def test_small_content_needs_no_thread() -> None:
    before = hashing_threads()
    digest = OverlappedSha256()
    digest.update(bytes(500_000))
    assert hashing_threads() <= before
    assert digest.hexdigest() == hashlib.sha256(bytes(500_000)).hexdigest()


def test_the_thread_ends_with_its_hash() -> None:
    before = hashing_threads()
    digest = OverlappedSha256()
    digest.update(bytes(2 * MEBIBYTE))
    (thread,) = hashing_threads() - before
    del digest
    gc.collect()
    thread.join(60)
    assert not thread.is_alive()
