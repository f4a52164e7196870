"""Uploads as they go over the wire: as a form, and as they are."""

from collections.abc import Mapping
from typing import Final

_BOUNDARY: Final = "bench-boundary"

FORM_HEADERS: Final = {"Content-Type": f"multipart/form-data; boundary={_BOUNDARY}"}
FORM_TAIL: Final = f"\r\n--{_BOUNDARY}--\r\n".encode()


def form_head(name: str, fields: Mapping[str, str] | None = None) -> bytes:
    """Return the bytes before the content of a form's field ``file``."""
    plain = (
        f'--{_BOUNDARY}\r\nContent-Disposition: form-data; name="{key}"\r\n\r\n{value}\r\n'
        for key, value in (fields or {}).items()
    )
    return (
        "".join(plain)
        + f'--{_BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n'
        + "Content-Type: application/octet-stream\r\n\r\n"
    ).encode()


def raw_headers(name: str) -> dict[str, str]:
    """Return the headers of a body that is a file as it is."""
    return {
        "Content-Type": "application/octet-stream",
        "Content-Disposition": f'attachment; filename="{name}"',
    }
