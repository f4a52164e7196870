"""Forms, cut into pieces in every way that a network may cut them."""

import io
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strongroom.foundation.errors import MalformedRequest, UploadIncomplete, ValidationFailed
from strongroom.web.http.multipart import CHUNK_SIZE, MAX_HEADER_BYTES, read_file_part

BOUNDARY = b"xYzZy"
HEAD = b'--xYzZy\r\nContent-Disposition: form-data; name="file"; filename="a.bin"\r\n\r\n'
TAIL = b"\r\n--xYzZy--\r\n"


class Pieces:
    """A stream that gives its content in pieces of these lengths, and then the rest."""

    def __init__(self, content: bytes, *lengths: int) -> None:
        self._stream = io.BytesIO(content)
        self._lengths = list(lengths)

    def read(self, size: int, /) -> bytes:
        return self._stream.read(self._lengths.pop(0) if self._lengths else size)


def content_of(stream: Pieces) -> bytes:
    """Return the content of the file in a form."""
    part = read_file_part(stream, BOUNDARY, "file")
    return b"".join(iter(lambda: part.source.read(65536), b""))


@pytest.mark.parametrize(
    "content", [b"", b"x", b"\r", b"\r\n", b"\r\n--xYzZ", b"--xYzZy--", b"\r\n--xyzzy--"]
)
def test_a_form_cut_in_two_anywhere_gives_the_same_content(content: bytes) -> None:
    form = HEAD + content + TAIL
    for cut in range(1, len(form)):
        assert content_of(Pieces(form, cut)) == content


def test_a_form_that_comes_byte_by_byte_gives_the_same_content() -> None:
    form = HEAD + b"\r\n-\r\n--xYz" + TAIL
    assert content_of(Pieces(form, *[1] * len(form))) == b"\r\n-\r\n--xYz"


@given(st.binary(max_size=200), st.lists(st.integers(1, 50), max_size=20))
def test_any_content_in_any_pieces_arrives(content: bytes, lengths: list[int]) -> None:
    if b"\r\n--xYzZy" not in content:
        assert content_of(Pieces(HEAD + content + TAIL, *lengths)) == content


def test_every_form_that_is_cut_short_is_incomplete() -> None:
    form = HEAD + b"content" + TAIL
    for length in range(len(form) - len(b"--\r\n") + 1):
        with pytest.raises(UploadIncomplete):
            content_of(Pieces(form[:length]))


def test_a_preamble_and_an_epilogue_are_passed_over() -> None:
    assert content_of(Pieces(b"preamble\r\n" + HEAD + b"x" + TAIL + b"epilogue")) == b"x"


@given(st.binary(max_size=300))
def test_no_body_breaks_it(body: bytes) -> None:
    with suppress(UploadIncomplete, MalformedRequest, ValidationFailed):
        content_of(Pieces(body))


def test_headers_without_end_are_refused() -> None:
    with pytest.raises(MalformedRequest):
        content_of(Pieces(b"--xYzZy\r\nContent-Disposition: " + b"x" * 200_000))


@pytest.mark.parametrize("length", [1, 70, 71, 200])
def test_a_boundary_may_be_somewhat_longer_than_it_should(length: int) -> None:
    boundary = b"-" * length
    form = (HEAD + b"content" + TAIL).replace(BOUNDARY, boundary)
    assert read_file_part(Pieces(form), boundary, "file").source.read(1) == b"content"


@pytest.mark.parametrize("length", [0, 201])
def test_a_boundary_of_another_length_is_refused(length: int) -> None:
    with pytest.raises(MalformedRequest, match="1 to 200"):
        read_file_part(Pieces(b""), b"-" * length, "file")


@contextmanager
def little_memory() -> Iterator[None]:
    """Check that the block allocates a few chunks at most."""
    tracemalloc.start()
    try:
        yield
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 6 * CHUNK_SIZE


@pytest.mark.parametrize("line", [b"x", b"\r\n", b"\r\n--", b"\r\n--xYzZ", b"--xYzZy"])
def test_content_of_any_size_takes_little_memory(line: bytes) -> None:
    content = line * (4_000_000 // len(line))
    form = Pieces(HEAD + content + TAIL)
    size = 0
    with little_memory():
        part = read_file_part(form, BOUNDARY, "file")
        while piece := part.source.read(CHUNK_SIZE):
            size += len(piece)
    assert size == len(content)


def test_what_follows_the_form_takes_little_memory() -> None:
    form = Pieces(HEAD + b"x" + TAIL + b"x" * 4_000_000)
    with little_memory():
        assert content_of(form) == b"x"


@pytest.mark.parametrize("begin", [b"", b"--xYzZy\r\nX: "])
def test_bytes_without_a_file_are_read_no_further_than_the_limit(begin: bytes) -> None:
    class Endless:
        count = 0

        def read(self, _size: int, /) -> bytes:
            self.count += 1
            return begin if self.count == 1 and begin else b"-" * 1024

    stream = Endless()
    with pytest.raises(MalformedRequest):
        read_file_part(stream, BOUNDARY, "file")
    assert stream.count <= MAX_HEADER_BYTES // 1024 + 2


def test_line_feeds_alone_end_no_content() -> None:
    content = b"\n--xYzZy--\n\r--xYzZy--\r"
    assert content_of(Pieces(HEAD + content + TAIL)) == content
