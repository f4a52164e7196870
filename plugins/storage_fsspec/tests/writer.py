"""Puts objects until it is killed: ``writer.py`` reads its options as JSON from standard input.

The content of an object is its key, repeated. Each key is printed before its object is put. It kills
itself in the middle of the second put if that is wanted.
"""

import io
import itertools
import json
import os
import signal
import sys
from random import Random

from strongroom_storage_fsspec.backend import FsspecBackend
from strongroom_storage_fsspec.options import FsspecOptions

given = json.loads(sys.stdin.readline())
backend, random = FsspecBackend(FsspecOptions(**given["options"])), Random(given["seed"])


class Fatal(io.BytesIO):
    """Content whose middle cannot be read."""

    def read(self, size: int | None = -1, /) -> bytes:
        if self.tell() >= len(self.getbuffer()) // 2:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().read(size)


for number in itertools.count():
    name = f"{random.getrandbits(128):032x}"
    key = f"{name[:2]}/{name}"
    print(key, flush=True)  # noqa: T201  read by the test
    source = Fatal if given["breaks"] and number else io.BytesIO
    backend.put(key, source(name.encode() * 32_768))
