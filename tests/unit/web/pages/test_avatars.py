"""Avatars of users and spaces."""

import pytest

from strongroom.web.pages.avatars import avatar_color, initial, initials


@pytest.mark.parametrize(
    ("name", "letters"),
    [
        ("Lin Wei", "LW"),
        ("Mara", "M"),
        ("anna maria schmidt", "AS"),
        ("lin.wei@acme.example", "LW"),
        ("张燕", "张燕"),
        ("欧阳小明", "小明"),
        ("محمد علي", "م\u200cع"),
        ("ßen", "S"),
        ("“Bob” (Ops)", "BO"),
        ("🙂", "?"),
        ("", "?"),
    ],
)
def test_initials_are_those_that_people_use(name: str, letters: str) -> None:
    assert initials(name) == letters


def test_a_small_avatar_has_one_chinese_character() -> None:
    assert initials("欧阳小明", 20) == "明"
    assert initials("Lin Wei", 20) == "LW"


@pytest.mark.parametrize(("name", "letter"), [("Acme Design", "A"), ("法务", "法"), ("  ", "?")])
def test_a_space_has_the_first_letter(name: str, letter: str) -> None:
    assert initial(name) == letter


def test_the_color_depends_on_the_id_alone() -> None:
    colors = {avatar_color(f"user-{number}") for number in range(100)}
    assert colors == set(range(1, 9))
    assert avatar_color("user-1") == avatar_color("user-1")
