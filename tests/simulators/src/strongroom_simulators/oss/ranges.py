"""Byte ranges, in both interpretations of OSS."""

import re

from strongroom_simulators.oss.errors import OssError


def resolve_range(header: str | None, size: int, *, standard: bool) -> tuple[int, int] | None:
    """Return the first byte and the length of a ``Range`` header, or ``None`` for the whole object.

    By default a range that is not within the object is ignored. With ``x-oss-range-behavior: standard``
    it is truncated to the object, as in RFC 9110.

    Raises:
        OssError: ``InvalidRange``, if a standard range starts after the end of the object.
    """
    match = re.fullmatch(r"bytes=(?:(\d+)-(\d*)|-(\d+))", header or "")
    if not match:
        return None
    start, stop = _bounds(match[1], match[2], match[3], size)
    if standard:
        return _cut(start, stop, size)
    return (start, stop - start) if 0 <= start < stop <= size else None


def _bounds(first: str | None, last: str, suffix: str, size: int) -> tuple[int, int]:
    if first is None:
        return size - int(suffix), size
    return int(first), int(last) + 1 if last else size


def _cut(start: int, stop: int, size: int) -> tuple[int, int]:
    start, stop = max(start, 0), min(stop, size)
    if start >= stop:
        raise OssError(416, "InvalidRange", "The requested range cannot be satisfied.")
    return start, stop - start
