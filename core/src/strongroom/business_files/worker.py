"""The process that decodes and encodes one picture, and then ends.

Decoders are large C libraries that read hostile bytes. They run here, in a process that has no secret,
is limited in memory and time, and can open neither a file nor a connection. The request is the only
argument of ``python -m strongroom.business_files.worker``, the picture is read from standard input, and
the answer is written to standard output: a line of JSON, and the new picture after it.
"""

import ctypes
import errno
import json
import resource
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO, Final

# Pillow imports these when it needs them, but no file can be opened by then.
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

from strongroom.business_files import pixels
from strongroom.business_files.decoding import load_codec
from strongroom.business_files.requests import NO_SPACE, PictureRequest, refusal
from strongroom.errors import PictureTooLarge, PictureUnreadable, StrongroomError

_PR_SET_DUMPABLE: Final = 4
_PR_SET_NO_NEW_PRIVS: Final = 38
_UNKNOWN_ADDRESS_SPACE: Final = 256 * 1024 * 1024


def process(request: PictureRequest, source: BinaryIO) -> tuple[dict[str, Any], bytes]:
    """Clean or scale a picture; return the head of the answer, and the new picture if there is one."""
    try:
        content = source.read()
        if request.width is not None:
            return {}, pixels.scale(content, request.media_type, request.width)
        cleaned, width, height = pixels.clean(content, request.media_type, request.max_pixels)
        return {"width": width, "height": height}, cleaned
    except StrongroomError as error:
        (detail,) = error.details
        return refusal(type(error), detail.code, detail.message), b""
    except MemoryError:
        return refusal(PictureTooLarge, "too-expensive", "It takes too much memory to decode."), b""
    except Exception as error:
        head = refusal(PictureUnreadable, "unreadable", "It cannot be decoded.")
        return {**head, "cause": type(error).__name__}, b""


def main() -> None:
    """Answer the request of the command line."""
    request = PictureRequest(**json.loads(sys.argv[1]))
    Image.preinit()
    load_codec(request.media_type)
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
    """Give up whatever the work does not need, before the first byte of the picture is read."""
    with suppress(OSError, AttributeError):
        system = ctypes.CDLL(None)
        system.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
        system.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    _limit(resource.RLIMIT_AS, _address_space() + request.memory_bytes)
    _limit(resource.RLIMIT_CPU, request.seconds)
    _limit(resource.RLIMIT_FSIZE, request.memory_bytes)
    _limit(resource.RLIMIT_CORE, 0)
    # Files, sockets and pipes alike need a descriptor.
    _limit(resource.RLIMIT_NOFILE, 0)


def _limit(kind: int, value: int) -> None:
    _, hard = resource.getrlimit(kind)
    value = value if hard == resource.RLIM_INFINITY else min(value, hard)
    # macOS knows RLIMIT_AS and refuses to set it; the server's time limit holds everywhere.
    with suppress(OSError, ValueError):
        resource.setrlimit(kind, (value, value))


def _address_space() -> int:
    """Return how many bytes this process has mapped, or a guess where the system does not say."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    except OSError:
        return _UNKNOWN_ADDRESS_SPACE
    return pages * resource.getpagesize()


if __name__ == "__main__":
    main()
