"""Puts objects until it is killed: ``writer.py`` reads its options as JSON from standard input.

The content of an object is its key, repeated. Each key is printed before its object is put.
"""

import io
import itertools
import json
import sys
from random import Random

from strongroom_storage_fsspec.backend import FsspecBackend
from strongroom_storage_fsspec.options import FsspecOptions

given = json.loads(sys.stdin.readline())
backend, random = FsspecBackend(FsspecOptions(**given["options"])), Random(given["seed"])
for _ in itertools.count():
    name = f"{random.getrandbits(128):032x}"
    key = f"{name[:2]}/{name}"
    print(key, flush=True)  # noqa: T201  read by the test
    backend.put(key, io.BytesIO(name.encode() * 32_768))
