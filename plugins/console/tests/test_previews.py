"""Which files have a preview, and the texts of previews."""

import pytest

from strongroom_console.my_files.previews import decoded, preview_of
from strongroom_console.pdf.rendering import MAX_DOCUMENT_BYTES


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "gb18030"])
def test_the_encoding_of_a_text_is_found(encoding: str) -> None:
    assert decoded("合同 contract".encode(encoding)) == "合同 contract"


def test_bytes_that_are_no_text_are_replaced() -> None:
    assert decoded(b"a\xff\xff\xffb") == "a\ufffd\ufffd\ufffdb"
    assert decoded("é".encode()[:1]) == ""


def test_only_bounded_and_readable_content_has_a_preview() -> None:
    def preview(content_type: str, size: int = 1, scan: str = "clean", kind: str = "file") -> str | None:
        return preview_of({"type": kind, "contentType": content_type, "size": size, "scan": scan})

    pdf, picture = "application/pdf", "image/png; charset=binary"
    assert (preview(picture), preview(picture, kind="folder")) == ("picture", None)
    assert [preview(pdf, MAX_DOCUMENT_BYTES + more) for more in (0, 1)] == ["pages", None]
    scans = ("clean", "unscannable", "pending", "infected", "rejected")
    assert [preview(picture, scan=scan) for scan in scans] == ["picture", "picture", None, None, None]
