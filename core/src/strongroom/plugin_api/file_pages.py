"""How pages show files: the icon of a media type, and sizes.

The icons are in the template ``strongroom/icons.html``, by these names.
"""

from typing import Final

_ICONS: Final = {
    "application/pdf": "pdf",
    "application/msword": "document",
    "application/rtf": "document",
    "application/zip": "archive",
    "application/gzip": "archive",
    "application/x-tar": "archive",
    "application/x-7z-compressed": "archive",
    "application/vnd.rar": "archive",
    "application/json": "code",
    "application/xml": "code",
    "application/javascript": "code",
    "application/vnd.ms-excel": "sheet",
    "application/vnd.ms-powerpoint": "slides",
    "text/csv": "sheet",
    "text/html": "code",
    "text/css": "code",
    "text/javascript": "code",
}
_ICONS_OF_KINDS: Final = {"image": "picture", "video": "video", "audio": "audio", "text": "text"}
_OFFICE: Final = ("application/vnd.openxmlformats", "application/vnd.oasis", "application/vnd.ms-")

_OFFICE_KINDS: Final = {"spreadsheet": "sheet", "presentation": "slides"}


def get_icon(essence: str) -> str:
    """Return the name of the icon of a media type."""
    if essence.startswith(_OFFICE) and essence not in _ICONS:
        return next((icon for word, icon in _OFFICE_KINDS.items() if word in essence), "document")
    return _ICONS.get(essence) or _ICONS_OF_KINDS.get(essence.partition("/")[0], "file")


def size_text(size: int) -> str:
    """Return a number of bytes in a decimal unit, as disks have them."""
    value, units = float(size), ["B", "KB", "MB", "GB", "TB", "PB"]
    while value >= 1000 and len(units) > 1:  # noqa: PLR2004
        value, units = value / 1000, units[1:]
    return f"{value:.0f} {units[0]}" if units[0] == "B" or value >= 10 else f"{value:.1f} {units[0]}"  # noqa: PLR2004
