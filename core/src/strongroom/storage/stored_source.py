"""An object that a client uploaded directly to the store."""

from collections.abc import Iterator

from strongroom.storage.bandwidth import BandwidthLimiter
from strongroom.storage.copying import ChunkSource


class StoredObjectSource(ChunkSource):
    """Reads an object that is in its storage already, to measure it without storing it again.

    Args:
        key: the key of the blob, whose row is pending.
        storage: the name of the storage that has the object.
        chunks: the content of the object.
    """

    def __init__(self, key: str, storage: str, chunks: Iterator[bytes]) -> None:
        super().__init__(chunks, BandwidthLimiter(None))
        self.key = key
        self.storage = storage
