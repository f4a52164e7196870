"""Worker process that makes one picture of the first pages of a document, and then exits.

See :mod:`strongroom.plugin_api.confinement`. The request is the only argument, as JSON. The document is
read from standard input, and the picture, a JPEG, is written to standard output.
"""

import io
import json
import sys
from typing import BinaryIO, Final

# JpegImagePlugin is imported now, because Pillow imports it lazily and the confined process cannot.
import pypdfium2
from PIL import Image, JpegImagePlugin  # noqa: F401

from strongroom.plugin_api.confinement import confine
from strongroom_console.pdf.requests import PdfRequest

UNREADABLE: Final = 3
"""The exit status after a document that cannot be read, such as one with a password."""

_GAP: Final = 16
_GAP_COLOR: Final = (196, 202, 209)
_TALLEST: Final = 3
_LARGEST_PAGE: Final = 100_000
_QUALITY: Final = 85


def picture_of(request: PdfRequest, content: bytes) -> bytes:
    """Return one picture with the first pages, one below the other.

    Raises:
        Exception: any of pypdfium2 and Pillow, for a document that they cannot read.
    """
    document = pypdfium2.PdfDocument(content)
    count = min(len(document), request.pages)
    pages = [_page(document[number], request.width) for number in range(count)]
    height = sum(page.height for page in pages) + _GAP * (count - 1)
    picture = Image.new("RGB", (request.width, height), _GAP_COLOR)
    top = 0
    for page in pages:
        picture.paste(page, ((request.width - page.width) // 2, top))
        top += page.height + _GAP
    stream = io.BytesIO()
    picture.save(stream, "JPEG", quality=_QUALITY)
    return stream.getvalue()


def _page(page: pypdfium2.PdfPage, width: int) -> Image.Image:
    """Return a picture of a page, at most as wide as ``width`` and at most three times as high."""
    page_width, page_height = page.get_size()
    if not (0 < page_width < _LARGEST_PAGE and 0 < page_height < _LARGEST_PAGE):
        raise ValueError("the page has no usable size")
    # Rounded down, because the size of the bitmap is rounded up.
    scale = min((width - 1) / page_width, (_TALLEST * width - 1) / page_height)
    picture: Image.Image = page.render(scale=scale, may_draw_forms=False).to_pil()
    return picture.convert("RGB")


def work(request: PdfRequest, source: BinaryIO, target: BinaryIO) -> int:
    """Make the picture, and return the exit status."""
    try:
        picture = picture_of(request, source.read())
    except Exception as error:
        # Without the traceback, for which the confined process would open files.
        sys.stderr.write(f"{error!r}\n")
        return UNREADABLE
    target.write(picture)
    target.flush()
    return 0


def main() -> None:
    """Process the request in the command line argument."""
    request = PdfRequest(**json.loads(sys.argv[1]))
    Image.preinit()
    confine(request.memory_bytes, request.seconds)
    sys.exit(work(request, sys.stdin.buffer, sys.stdout.buffer))


if __name__ == "__main__":
    main()
