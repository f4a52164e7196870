"""Detection of media types by content, and of extensions by type."""

import pytest

from strongroom.foundation.media_types import get_extension, sniff


@pytest.mark.parametrize(
    ("media_type", "extension"),
    [
        ("image/jpeg", ".jpg"),
        ("image/png", ".png"),
        ("image/gif", ".gif"),
        ("image/webp", ".webp"),
        ("image/avif", ".avif"),
        ("application/pdf", ".pdf"),
        ("application/zip", ".zip"),
        ("text/plain; charset=utf-8", ".txt"),
        ("application/octet-stream", ".bin"),
        ("application/x-no-such-thing", ".bin"),
    ],
)
def test_a_type_has_one_extension_on_every_machine(media_type: str, extension: str) -> None:
    assert get_extension(media_type) == extension


@pytest.mark.parametrize("text", [b"<html>", b"<svg/>", b"alert(1)", b"{}", b""])
def test_text_without_a_name_is_plain(text: bytes) -> None:
    assert sniff(text) == "text/plain; charset=utf-8"
