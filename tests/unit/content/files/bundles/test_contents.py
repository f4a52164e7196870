"""Names of entries: safe on every system, and different from each other on every system."""

import time
import unicodedata
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strongroom.extensions.bundles.contents import UniqueNames, safe_name


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("plain.txt", "plain.txt"),
        ("文档 (1).pdf", "文档 (1).pdf"),
        (".bashrc", ".bashrc"),
        ("a b.c", "a b.c"),
        ("..\\..\\evil.exe", ".._.._evil.exe"),
        ("C:\\evil", "C__evil"),
        ("a:stream", "a_stream"),
        ('<>:"|?*', "_______"),
        ("dots...", "dots___"),
        ("blank ", "blank_"),
        ("...", "___"),
        ("CON", "_CON"),
        ("nul.txt", "_nul.txt"),
        ("COM1 .log", "_COM1 .log"),
        ("console", "console"),
        ("~", "~"),
        ("-rf", "-rf"),
        ("photo_\u202egpj.exe", "photo__gpj.exe"),
        ("\u2066a\u2069\u200e\u200f\u061c.txt", "_a____.txt"),
    ],
)
def test_characters_that_a_system_would_interpret_are_replaced(name: str, expected: str) -> None:
    assert safe_name(name) == expected


def test_a_name_too_long_for_a_file_system_keeps_its_extension() -> None:
    cut = safe_name("文" * 250 + ".txt")
    assert cut == "文" * 83 + ".txt"


names = st.text(
    st.characters(exclude_categories=("Cs", "Cc"), exclude_characters="/"), min_size=1, max_size=255
)


@given(names)
def test_any_name_becomes_a_safe_one(name: str) -> None:
    safe = safe_name(name)
    assert 1 <= len(safe.encode()) <= 255
    assert not set(safe) & set('/\\:*?"<>|\0')
    assert safe not in (".", "..")
    assert safe[-1] not in ". "
    assert safe_name(safe) == safe


def test_names_that_differ_by_case_or_form_alone_are_numbered() -> None:
    taken = UniqueNames()
    given = ["a.txt", "A.TXT", "a.TXT", "straße", "STRASSE", "a (1).txt", "x?", "x*"]
    assert [taken.add(name) for name in given] == [
        "a.txt",
        "A (1).TXT",
        "a (2).TXT",
        "straße",
        "STRASSE (1)",
        "a (1) (1).txt",
        "x_",
        "x_ (1)",
    ]


@given(st.lists(names, max_size=8))
def test_the_names_of_a_folder_are_unique_wherever_they_are_unpacked(given_names: list[str]) -> None:
    taken = UniqueNames()
    added = [taken.add(name) for name in given_names * 2]
    assert len({unicodedata.normalize("NFC", name.casefold()) for name in added}) == len(added)


def test_long_names_that_are_cut_to_one_are_numbered_within_the_room() -> None:
    taken = UniqueNames()
    added = [taken.add("文" * 240 + f"{number}.txt") for number in range(150)]
    assert len(set(added)) == 150
    assert added[149].endswith(" (149).txt")
    assert max(len(name.encode()) for name in added) <= 255


def colliding(kind: str, count: int) -> Iterator[str]:
    """Yield names that all become one safe name, or few, in the ways that an attacker may choose."""
    for number in range(count):
        bits = "".join("?" if number >> bit & 1 else "*" for bit in range(16))
        yield {
            "plain": f"a{bits}.txt",
            "cut": "文" * 100 + f"{number}.txt",
            "pairs": "b" * 247 + f"{number // 2:05}" + "?*"[number % 2],
            "tens": "c" * 246 + f"{number // 11:05}" + "?*"[number % 2],
            "numbers": f"a{bits}.txt" if number % 2 else f"a{'_' * 16} ({number // 2}).txt",
        }[kind]


@pytest.mark.parametrize("kind", ["plain", "cut", "pairs", "tens", "numbers"])
def test_colliding_names_cost_as_much_as_others(kind: str) -> None:
    taken, names = UniqueNames(), list(colliding(kind, 20_000))
    begun = time.process_time()
    added = {taken.add(name) for name in names}
    seconds = time.process_time() - begun
    assert len(added) == 20_000
    # It takes a third of a second; when each name was numbered from 1, it took minutes.
    assert seconds < 5
