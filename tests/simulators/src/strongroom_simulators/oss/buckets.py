"""Buckets with their objects and multipart uploads."""

import secrets
import threading
from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import BinaryIO

from strongroom_simulators.oss.blobs import Blob
from strongroom_simulators.oss.errors import OssError, no_such_key, no_such_upload


@dataclass(frozen=True, slots=True)
class StoredObject:
    """An object. ``headers`` are those of its upload that every response repeats."""

    key: str
    blob: Blob
    kind: str
    modified_at: datetime
    headers: Mapping[str, str]


@dataclass(slots=True)
class Upload:
    """A multipart upload in progress."""

    key: str
    headers: Mapping[str, str]
    initiated_at: datetime
    id: str = field(default_factory=lambda: secrets.token_hex(16).upper())
    parts: dict[int, Blob] = field(default_factory=dict)

    def remove_parts(self) -> None:
        """Remove the bytes of the parts."""
        for part in self.parts.values():
            part.path.unlink()


class Bucket:
    """A bucket. Thread-safe."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._lock = threading.Lock()
        self._objects: dict[str, StoredObject] = {}
        self._sorted_keys: list[str] = []
        self._uploads: dict[str, Upload] = {}

    def publish(self, stored: StoredObject, *, overwrite: bool) -> None:
        """Make an object visible; replace an existing one only if ``overwrite`` is true."""
        with self._lock:
            previous = self._objects.get(stored.key)
            if previous and not overwrite:
                stored.blob.path.unlink()
                raise OssError(409, "FileAlreadyExists", "The object you specified already exists.")
            self._objects[stored.key] = stored
            if not previous:
                insort(self._sorted_keys, stored.key)
        if previous:
            previous.blob.path.unlink()

    def get(self, key: str) -> StoredObject:
        """Return an object, or raise ``NoSuchKey``."""
        try:
            return self._objects[key]
        except KeyError:
            raise no_such_key(key) from None

    def open(self, key: str) -> tuple[StoredObject, BinaryIO]:
        """Return an object and its bytes, which stay readable if the object is deleted."""
        with self._lock:
            stored = self.get(key)
            return stored, stored.blob.path.open("rb", buffering=0)

    def delete(self, key: str) -> None:
        """Remove an object if it exists."""
        with self._lock:
            stored = self._objects.pop(key, None)
            if stored:
                del self._sorted_keys[bisect_left(self._sorted_keys, key)]
        if stored:
            stored.blob.path.unlink()

    def scan(self, prefix: str, after: str) -> Iterator[StoredObject]:
        """Iterate in key order over the objects with ``prefix`` and a key greater than ``after``."""
        with self._lock:
            first = max(bisect_left(self._sorted_keys, prefix), bisect_right(self._sorted_keys, after))
            keys = self._sorted_keys[first:]
        for key in keys:
            if not key.startswith(prefix):
                return
            if stored := self._objects.get(key):
                yield stored

    def begin_upload(self, upload: Upload) -> None:
        """Add a multipart upload."""
        with self._lock:
            self._uploads[upload.id] = upload

    def upload(self, upload_id: str, key: str) -> Upload:
        """Return an upload in progress, or raise ``NoSuchUpload``."""
        upload = self._uploads.get(upload_id)
        if upload is None or upload.key != key:
            raise no_such_upload(upload_id)
        return upload

    def add_part(self, upload: Upload, number: int, part: Blob) -> None:
        """Add a part; it replaces an earlier one with the same number."""
        with self._lock:
            previous = upload.parts.get(number)
            upload.parts[number] = part
        if previous:
            previous.path.unlink()

    def end_upload(self, upload: Upload) -> None:
        """Remove an upload; of two concurrent calls, one raises ``NoSuchUpload``."""
        with self._lock:
            if self._uploads.pop(upload.id, None) is None:
                raise no_such_upload(upload.id)

    def uploads(self) -> list[Upload]:
        """Return the uploads in progress, sorted by key."""
        with self._lock:
            return sorted(self._uploads.values(), key=lambda upload: (upload.key, upload.id))
