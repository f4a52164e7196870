"""Colours of a deployment's brand: labels and links stay readable on any colour that it chooses.

Contrast is computed as in WCAG 2.2, section 1.4.3: at least 4.5 for text.
"""

import re
from dataclasses import dataclass
from typing import Final

TEXT_CONTRAST: Final = 4.5

_HEX: Final = re.compile("#([0-9A-Fa-f]{3}|[0-9A-Fa-f]{6})")
_STEPS: Final = 40
_LINEAR_BELOW: Final = 0.04045


@dataclass(frozen=True, slots=True)
class Color:
    """An sRGB colour; each part is 0 to 255."""

    red: int
    green: int
    blue: int

    def __str__(self) -> str:
        return f"#{self.red:02x}{self.green:02x}{self.blue:02x}"

    @property
    def luminance(self) -> float:
        """The relative luminance (WCAG 2.2), 0 for black to 1 for white."""
        red, green, blue = (_linear(part / 255) for part in (self.red, self.green, self.blue))
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    def mixed(self, other: "Color", share: float) -> "Color":
        """Return the colour with a share, 0 to 1, of another one."""
        pairs = ((self.red, other.red), (self.green, other.green), (self.blue, other.blue))
        return Color(*(round(own + (new - own) * share) for own, new in pairs))


BLACK: Final = Color(0, 0, 0)
WHITE: Final = Color(255, 255, 255)


def parse_color(text: str) -> Color:
    """Return the colour of ``#rgb`` or ``#rrggbb``.

    Raises:
        ValueError: the text has another form.
    """
    match = _HEX.fullmatch(text)
    if match is None:
        raise ValueError('must be a colour such as "#1456b8"')
    digits = match[1] if len(match[1]) == len("rrggbb") else "".join(digit * 2 for digit in match[1])
    return Color(*(int(digits[index : index + 2], 16) for index in (0, 2, 4)))


def contrast(first: Color, second: Color) -> float:
    """Return the contrast ratio of two colours, 1 to 21."""
    darker, lighter = sorted((first.luminance, second.luminance))
    return (lighter + 0.05) / (darker + 0.05)


def label_on(background: Color) -> Color:
    """Return black or white, whichever has more contrast to a background: at least 4.58."""
    return max(BLACK, WHITE, key=lambda label: contrast(label, background))


def readable_on(background: Color, color: Color) -> Color:
    """Return the colour, or the nearest darker or lighter shade that is readable on a background."""
    limit = label_on(background)
    shades = (color.mixed(limit, step / _STEPS) for step in range(_STEPS + 1))
    return next((shade for shade in shades if contrast(shade, background) >= TEXT_CONTRAST), limit)


def _linear(part: float) -> float:
    return part / 12.92 if part <= _LINEAR_BELOW else float(((part + 0.055) / 1.055) ** 2.4)
