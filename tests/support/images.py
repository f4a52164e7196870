"""Images for tests."""

import io
import struct
import zlib
from typing import Any

from PIL import Image


def encoded(image: Image.Image, kind: str, **options: Any) -> bytes:
    """Return an image as a file."""
    target = io.BytesIO()
    image.save(target, kind, **options)
    return target.getvalue()


def picture(size: tuple[int, int] = (900, 600), kind: str = "PNG", **options: Any) -> bytes:
    """Return a grey gradient as a file."""
    gradient = Image.linear_gradient("L").resize(size).convert("RGB")
    return encoded(gradient, kind, **options)


def png_chunk(kind: bytes, data: bytes) -> bytes:
    """Return a chunk of a PNG file."""
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
