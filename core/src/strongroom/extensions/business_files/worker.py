"""Worker process that decodes and encodes one picture, and then exits.

See :mod:`strongroom.plugin_api.confinement`. The request is the only argument of
``python -m strongroom.extensions.business_files.worker``. The picture is read from standard input. The
result is written to standard output: a line of JSON, followed by the new picture.
"""

import errno
import json
import sys
from typing import Any, BinaryIO

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

from strongroom.extensions.business_files import images
from strongroom.extensions.business_files.images import load_codec
from strongroom.extensions.business_files.requests import NO_SPACE, PictureRequest, refusal
from strongroom.foundation.errors import PictureTooLarge, PictureUnreadable, StrongroomError
from strongroom.plugin_api.confinement import confine


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
    confine(request.memory_bytes, request.seconds)
    head, content = process(request, sys.stdin.buffer)
    try:
        sys.stdout.buffer.write(json.dumps(head).encode() + b"\n")
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            sys.exit(NO_SPACE)
        raise


if __name__ == "__main__":
    main()
