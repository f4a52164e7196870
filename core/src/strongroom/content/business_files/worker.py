"""Worker process that decodes and encodes one picture, and then exits.

Decoders are large C libraries that parse hostile content. So they run in a process without secrets,
with limited memory and time, that can open neither files nor connections. The request is the only
argument of ``python -m strongroom.content.business_files.worker``. The picture is read from standard
input. The result is written to standard output: a line of JSON, followed by the new picture.
"""

import ctypes
import errno
import json
import resource
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO, Final

# Imported now, because Pillow imports them lazily and the confined process cannot open files.
from PIL import (  # noqa: F401
    Image,
    ImageChops,
    ImageCms,
    ImageColor,
    ImagePalette,
    ImageSequence,
    MpoImagePlugin,
    TiffImagePlugin,
)

from strongroom.content.business_files import images
from strongroom.content.business_files.images import load_codec
from strongroom.content.business_files.requests import NO_SPACE, PictureRequest, refusal
from strongroom.foundation.errors import PictureTooLarge, PictureUnreadable, StrongroomError

_PR_SET_DUMPABLE: Final = 4
_PR_SET_NO_NEW_PRIVS: Final = 38
_UNKNOWN_ADDRESS_SPACE: Final = 256 * 1024 * 1024


def process(request: PictureRequest, source: BinaryIO) -> tuple[dict[str, Any], bytes]:
    """Clean or scale a picture; return the header of the result, and the new picture unless rejected."""
    try:
        content = source.read()
        if request.width is not None:
            return {}, images.scale(content, request.media_type, request.width)
        cleaned, width, height = images.clean(content, request.media_type, request.max_pixels)
        return {"width": width, "height": height}, cleaned
    except StrongroomError as error:
        (detail,) = error.details
        return refusal(type(error), detail.code, detail.message), b""
    except MemoryError:
        return refusal(
            PictureTooLarge, "too-expensive", "Decoding the picture takes too much memory."
        ), b""
    except Exception as error:
        head = refusal(PictureUnreadable, "unreadable", "The picture cannot be decoded.")
        return {**head, "cause": type(error).__name__}, b""


def main() -> None:
    """Process the request in the command line argument."""
    request = PictureRequest(**json.loads(sys.argv[1]))
    Image.preinit()
    load_codec(request.media_type)
    # All modules must be imported before this line, because importing opens files.
    _confine(request)
    head, content = process(request, sys.stdin.buffer)
    try:
        sys.stdout.buffer.write(json.dumps(head).encode() + b"\n")
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            sys.exit(NO_SPACE)
        raise


def _confine(request: PictureRequest) -> None:
    """Drop privileges and set resource limits, before the first byte of the picture is read."""
    with suppress(OSError, AttributeError):
        system = ctypes.CDLL(None)
        # Other processes of the same user cannot attach, and no program can gain privileges.
        system.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
        system.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    _limit(resource.RLIMIT_AS, _address_space() + request.memory_bytes)
    _limit(resource.RLIMIT_CPU, request.seconds)
    _limit(resource.RLIMIT_FSIZE, request.memory_bytes)
    _limit(resource.RLIMIT_CORE, 0)
    # Files, sockets and pipes all need a new descriptor.
    _limit(resource.RLIMIT_NOFILE, 0)


def _limit(kind: int, value: int) -> None:
    _, hard = resource.getrlimit(kind)
    value = value if hard == resource.RLIM_INFINITY else min(value, hard)
    # macOS defines RLIMIT_AS but rejects setting it; the server's time limit applies everywhere.
    with suppress(OSError, ValueError):
        resource.setrlimit(kind, (value, value))


def _address_space() -> int:
    """Return the mapped address space of this process in bytes, or an estimate without ``/proc``."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    except OSError:
        return _UNKNOWN_ADDRESS_SPACE
    return pages * resource.getpagesize()


if __name__ == "__main__":
    main()
