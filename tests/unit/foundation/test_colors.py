"""Labels and links are readable on every colour of a brand."""

import random

import pytest

from strongroom.foundation.colors import (
    BLACK,
    TEXT_CONTRAST,
    WHITE,
    Color,
    contrast,
    label_on,
    parse_color,
    readable_on,
)


def test_the_contrast_of_black_and_white_is_21() -> None:
    assert contrast(BLACK, WHITE) == pytest.approx(21)


# The examples of WCAG tools for grey on white.
@pytest.mark.parametrize(("color", "ratio"), [("#767676", 4.54), ("#777777", 4.48), ("#959595", 2.99)])
def test_contrasts_are_those_of_wcag(color: str, ratio: float) -> None:
    assert contrast(parse_color(color), WHITE) == pytest.approx(ratio, abs=0.01)


def test_short_and_long_forms_are_the_same_color() -> None:
    assert str(parse_color("#1Af")) == str(parse_color("#11aaff")) == "#11aaff"


@pytest.mark.parametrize("text", ["", "red", "1456b8", "#12345", "#1234567", "#gg0000", "#123;x:url()"])
def test_other_forms_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="must be a colour"):
        parse_color(text)


def test_labels_and_links_are_readable_on_any_color() -> None:
    chance = random.Random(7)
    for _ in range(500):
        color, background = (Color(*(chance.randrange(256) for _ in range(3))) for _ in range(2))
        assert contrast(label_on(color), color) >= TEXT_CONTRAST
        assert contrast(readable_on(background, color), background) >= TEXT_CONTRAST


def test_a_readable_color_stays_as_it_is() -> None:
    color = parse_color("#1456b8")
    assert readable_on(WHITE, color) == color
