"""Pictures of documents: made in confined processes, which hostile documents cannot leave."""

import io
from dataclasses import replace
from threading import BoundedSemaphore

import pytest
from PIL import Image
from tests.support.documents import pdf
from werkzeug.exceptions import ServiceUnavailable, UnprocessableEntity

from strongroom_console.pdf import rendering
from strongroom_console.pdf.rendering import picture_of_document
from strongroom_console.pdf.requests import PdfRequest

# The default of the server is too short for the start of a worker on a busy machine.
REQUEST = PdfRequest(memory_bytes=512 * 1024 * 1024, seconds=60, width=200, pages=2)


def picture(content: bytes, request: PdfRequest = REQUEST) -> Image.Image:
    made = picture_of_document(lambda file: file.write(content), request)
    return Image.open(io.BytesIO(made))


def test_the_first_pages_are_one_picture() -> None:
    image = picture(pdf(pages=3))
    assert image.format == "JPEG"
    assert image.size == (200, 2 * 199 + 16)
    red, green, blue = image.getpixel((100, 100))  # type: ignore[misc]
    assert (red > 200, green < 60, blue < 60) == (True, True, True)


def test_a_long_page_is_bounded() -> None:
    assert picture(pdf(size=(10, 9000))).height <= 600


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"%PDF-1.7\n" + bytes(range(256)) * 10,
        pdf()[: len(pdf()) // 3],
        pdf(size=(0, 0)),
        pdf(size=(10**9, 10**9)),
        pdf(pages=0),
    ],
    ids=["empty", "noise", "cut", "no size", "huge", "no pages"],
)
def test_a_document_that_cannot_be_shown_is_refused_or_blank(content: bytes) -> None:
    try:
        image = picture(content)
    except UnprocessableEntity:
        return
    # PDFium replaces what is missing, such as the size of a page, within the bounds of a picture.
    assert image.width == 200
    assert image.height <= 2 * 600 + 16


def test_no_more_pictures_than_slots_are_made_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    slots = BoundedSemaphore(1)
    monkeypatch.setattr(rendering, "_SLOTS", slots)
    monkeypatch.setattr(rendering, "_WAIT_SECONDS", 0)
    with slots, pytest.raises(ServiceUnavailable):
        picture(pdf())
    assert picture(pdf()).width == 200


def test_a_document_that_takes_too_much_memory_is_refused() -> None:
    with pytest.raises(UnprocessableEntity):
        picture(pdf(), replace(REQUEST, memory_bytes=64 * 1024))


def test_a_document_that_takes_too_long_is_refused() -> None:
    with pytest.raises(UnprocessableEntity):
        picture(pdf(), replace(REQUEST, seconds=0))
