"""A request body that shows how much of it a server has read."""

import io


class CountedBody(io.BytesIO):
    """A body that counts what is read of it."""

    received = 0

    def read(self, size: int | None = -1, /) -> bytes:
        data = super().read(size)
        self.received += len(data)
        return data
