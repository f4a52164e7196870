"""Protocol between the server and its picture workers."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from strongroom.foundation.errors import PictureTooLarge, PictureUnreadable, StrongroomError

NO_SPACE: Final = 28
"""Exit status of a worker that could not write its result because the disk was full."""

_REFUSALS: Final = {kind.code: kind for kind in (PictureTooLarge, PictureUnreadable)}


@dataclass(frozen=True, slots=True)
class PictureRequest:
    """A request to clean or scale a picture.

    Args:
        media_type: media type of the picture.
        memory_bytes: memory limit, in addition to the interpreter's.
        seconds: limit of CPU time.
        max_pixels: maximum number of pixels when cleaning.
        width: width in pixels to scale to; ``None`` cleans the picture.
    """

    media_type: str
    memory_bytes: int
    seconds: int
    max_pixels: int = 0
    width: int | None = None


def refusal(kind: type[StrongroomError], detail: str, message: str) -> dict[str, Any]:
    """Return the header of a result that rejects the picture."""
    return {"error": kind.code, "detail": detail, "message": message}


def raise_refusal(head: Mapping[str, Any]) -> None:
    """Raise the error in the header of a result, if it contains one.

    Raises:
        PictureTooLarge: the picture has too many pixels, or needs too much memory.
        PictureUnreadable: the picture cannot be decoded.
    """
    if "error" in head:
        raise _REFUSALS[head["error"]].of_field("file", head["detail"], head["message"])
