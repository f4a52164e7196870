"""A process that is killed while it writes leaves no half object, in each filesystem."""

import json
import os
import subprocess
import sys
import time
from dataclasses import asdict
from pathlib import Path
from random import Random

import pytest
from tests.support.waiting import wait_until

from strongroom.testing.storage import read_all
from strongroom_storage_fsspec.backend import INCOMING, FsspecBackend
from strongroom_storage_fsspec.options import FsspecOptions

ROUNDS = max(1, int(8 * float(os.environ.get("STRONGROOM_TEST_SCALE", "1"))))
WRITER = Path(__file__).with_name("writer.py")
SIZE = 32 * 32_768


def kill_a_writer(options: FsspecOptions, seed: int) -> list[str]:
    """Let a process put objects, kill it at a random moment, and return the keys that it began."""
    with subprocess.Popen(
        [sys.executable, WRITER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as writer:
        assert writer.stdin
        assert writer.stdout
        # The first one is killed in the middle of a put for certain.
        given = {"options": asdict(options), "seed": seed, "breaks": seed == 0}
        writer.stdin.write(f"{json.dumps(given)}\n")
        writer.stdin.flush()
        first = writer.stdout.readline().strip()
        if seed:
            # A put takes some milliseconds, so that most kills are in the middle of one.
            time.sleep(Random(seed).uniform(0, 0.06))
            writer.kill()
        return [first, *writer.stdout.read().split()]


@pytest.mark.parametrize("options", ["local", "ssh", "webdav"], indirect=True)
def test_no_half_object_is_visible_after_a_kill(options: FsspecOptions) -> None:
    backend, begun, interrupted = FsspecBackend(options), set[str](), 0
    for seed in range(ROUNDS):
        keys = kill_a_writer(options, seed)
        begun.update(keys)
        visible = {found.key: found.size for found in backend.scan()}
        assert visible.keys() <= begun
        assert set(visible.values()) <= {SIZE}
        interrupted += keys[-1] not in visible
        for key in visible.keys() & set(keys):
            assert read_all(backend, key) == key[3:].encode() * 32_768
    assert interrupted, "no kill was in the middle of a put"

    def are_collected() -> bool:
        # Garbage collection deletes the object of each row, complete or not, long after the server of
        # the filesystem has finished the last request of a writer.
        for key in begun:
            backend.delete(key)
        return not [*backend.scan(), *backend._listed(INCOMING)]

    wait_until(are_collected)
    backend.close()
