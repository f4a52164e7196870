"""The icons of pages: one sprite, whose symbols pages show by their names."""

import re
from functools import cache
from importlib.resources import files
from typing import Final

from strongroom.web.http.request import get_service
from strongroom.web.pages.design import PageDesign

_NAME: Final = re.compile(r'<symbol id="([a-z0-9-]+)"')


@cache
def icon_names() -> frozenset[str]:
    """Return the names of the icons."""
    sprite = files("strongroom.web.pages") / "static/vendor/icons.svg"
    return frozenset(_NAME.findall(sprite.read_text("utf-8")))


def icon_path(name: str) -> str:
    """Return the path of an icon, for ``<use>``.

    Raises:
        LookupError: the sprite has no such icon.
    """
    if name not in icon_names():
        raise LookupError(f"no icon {name!r}; add it to vendor/manifest.json and run: make icons")
    return f"{get_service(PageDesign).icons}#{name}"
