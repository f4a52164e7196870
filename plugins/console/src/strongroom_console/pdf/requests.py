"""Requests to the workers, which the server makes without loading their decoders."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PdfRequest:
    """A request for a picture.

    Args:
        memory_bytes: the limit of memory, in addition to the interpreter's.
        seconds: the limit of CPU time.
        width: the width of the picture in pixels.
        pages: the maximum number of pages.
    """

    memory_bytes: int
    seconds: int
    width: int
    pages: int
