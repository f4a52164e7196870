"""Control characters of the direction of text disguise no name."""

import pytest

from strongroom.foundation.text_direction import with_shown_direction, without_direction


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("photo_\u202egpj.exe", "photo_⟨U+202E⟩gpj.exe"),
        ("\u2066a\u2069", "⟨U+2066⟩a⟨U+2069⟩"),
        ("مرحبا\u200f.txt", "مرحبا\u200f.txt"),
        ("plain.txt", "plain.txt"),
    ],
)
def test_characters_that_reorder_others_are_symbols(name: str, shown: str) -> None:
    assert with_shown_direction(name) == shown


def test_no_control_remains_in_the_name_of_a_download() -> None:
    assert without_direction("photo_\u202egpj\u200f.exe") == "photo__gpj_.exe"
