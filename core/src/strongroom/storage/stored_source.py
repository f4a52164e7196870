"""Bytes that a client has sent to the store by itself."""

from collections.abc import Iterator

from strongroom.storage.bandwidth import BandwidthLimiter
from strongroom.storage.copying import ChunkSource


class StoredObjectSource(ChunkSource):
    """Reads an object that lies in its storage already, to be measured and not to be stored again.

    Args:
        key: the blob, whose row is pending.
        storage: where its object is.
        chunks: the object.
    """

    def __init__(self, key: str, storage: str, chunks: Iterator[bytes]) -> None:
        super().__init__(chunks, BandwidthLimiter(None))
        self.key = key
        self.storage = storage
