"""The files of a brand are what their settings need, by their content."""

from pathlib import Path

import pytest

from strongroom.web.pages.brand_files import MAX_BYTES, read_brand_file

PNG = b"\x89PNG\r\n\x1a\n"
SVG = b'<svg xmlns="http://www.w3.org/2000/svg"/>'


@pytest.mark.parametrize(
    ("key", "content", "name"),
    [
        ("logo", PNG, "own-logo.png"),
        ("logo", b"\xff\xd8\xff\xe0", "own-logo.jpg"),
        ("logo", b"RIFF\x0a\0\0\0WEBPVP8 ", "own-logo.webp"),
        ("logo_dark", b'\xef\xbb\xbf<?xml version="1.0"?>\n<!-- a --><svg>', "own-logo-dark.svg"),
        ("favicon", b"\0\0\x01\0\x01\0", "own-favicon.ico"),
        ("background_image", PNG, "own-background-image.png"),
        ("font_file", b"wOF2\0\x01", "own-font-file.woff2"),
        ("css_file", "a { content: “”; }".encode(), "own-css-file.css"),
    ],
)
def test_a_file_is_served_by_the_type_of_its_content(
    tmp_path: Path, key: str, content: bytes, name: str
) -> None:
    path = tmp_path / "file.html"
    path.write_bytes(content)
    assert read_brand_file(key, path).name == name


@pytest.mark.parametrize(
    ("key", "content"),
    [
        ("logo", b"<script>alert(1)</script>"),
        ("logo", b"<html><svg>"),
        ("logo", b"GIF89a"),
        ("logo", b""),
        ("logo", b"wOF2"),
        ("favicon", b"RIFF\x0a\0\0\0WEBP"),
        ("background_image", SVG),
        ("font_file", b"\0\x01\0\0"),
        ("css_file", b"\xff\xfe"),
        ("css_file", PNG),
    ],
)
def test_other_content_is_refused(tmp_path: Path, key: str, content: bytes) -> None:
    path = tmp_path / "logo.png"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"logo\.png must be .*, by its content"):
        read_brand_file(key, path)


def test_a_large_file_a_folder_and_a_missing_one_are_refused(tmp_path: Path) -> None:
    large = tmp_path / "large.png"
    large.write_bytes(PNG + bytes(MAX_BYTES))
    for path, fault in (
        (large, "make it smaller"),
        (tmp_path, "is no file"),
        (Path("/dev/zero"), "is no file"),
        (tmp_path / "absent.png", "No such file"),
    ):
        with pytest.raises(ValueError, match=fault):
            read_brand_file("logo", path)
