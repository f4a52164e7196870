"""Photographs of screens, and one sheet of them for each area of the product."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final, Literal

from PIL import Image, ImageDraw, ImageFont
from playwright.sync_api import Page, ViewportSize

from tests.support.browser_pages import SCHEMES, Screen, touching

SIZES: Final = tuple(
    ViewportSize(width=width, height=height) for width, height in ((1280, 800), (768, 1024), (360, 780))
)
PHONE: Final = 700
"""The width below which a device has a touch screen."""

_AREAS: Final[Mapping[str, str]] = {
    "drop-box": r".*drop box",
    "files": r"console/my_files/.*",
    "space": r"console/(tenant/|home|find).*",
    "server": r"console/(server/.*|design)",
    "account": r"login_pages/account/.*",
    "shares": r"share_links/.*",
    "sign-in": r".*",
}
_THUMBNAIL: Final = 240
_GAP: Final = 12
_TITLE: Final = 22

Variant = tuple[str, Literal["light", "dark"], int]
"""A language, a colour scheme and a width."""


def area_of(screen: Screen) -> str:
    """Return the area whose sheet has a screen, by its name or its template."""
    names = (screen.name, screen.template)
    return next(area for area, rule in _AREAS.items() if any(re.fullmatch(rule, name) for name in names))


def photograph(page: Page, folder: Path, language: str) -> None:
    """Photograph a page in each scheme and size, into files such as ``en-light-1280.png``."""
    for scheme in SCHEMES:
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        for size in SIZES:
            page.set_viewport_size(size)
            path = folder / f"{language}-{scheme}-{size['width']}.png"
            if size["width"] < PHONE:
                with touching(page):
                    page.screenshot(path=path)
            else:
                page.screenshot(path=path)


def write_sheet(folder: Path) -> Path:
    """Write the sheet of an area: a row for each of the folders with photographs in its folder."""
    rows = [(item.name, [*_thumbnails(item)]) for item in sorted(folder.iterdir()) if item.is_dir()]
    width = max(sum(picture.width + _GAP for picture in row) for _, row in rows)
    sheet = Image.new("RGB", (width, len(rows) * (_THUMBNAIL + _TITLE + _GAP)), "#8a8f98")
    draw, font = ImageDraw.Draw(sheet), ImageFont.load_default(16)
    for place, (name, row) in enumerate(rows):
        left, top = _GAP // 2, place * (_THUMBNAIL + _TITLE + _GAP)
        draw.text((left, top), name, "white", font)
        for picture in row:
            sheet.paste(picture, (left, top + _TITLE))
            left += picture.width + _GAP
    path = folder.with_suffix(".png")
    sheet.save(path, optimize=True)
    return path


def _thumbnails(folder: Path) -> Iterator[Image.Image]:
    """Yield the photographs of a screen, the widest first."""
    paths = sorted(
        folder.glob("*.png"), key=lambda path: (-int(path.stem.rpartition("-")[2]), path.stem)
    )
    for path in paths:
        picture = Image.open(path).convert("RGB")
        yield picture.resize((picture.width * _THUMBNAIL // picture.height, _THUMBNAIL))
