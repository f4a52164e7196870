"""The texts of previews."""

import pytest

from strongroom_console.my_files.previews import decoded


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "gb18030"])
def test_the_encoding_of_a_text_is_found(encoding: str) -> None:
    assert decoded("合同 contract".encode(encoding)) == "合同 contract"


def test_bytes_that_are_no_text_are_replaced() -> None:
    assert decoded(b"a\xff\xff\xffb") == "a\ufffd\ufffd\ufffdb"
    assert decoded("é".encode()[:1]) == ""
