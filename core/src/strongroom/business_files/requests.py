"""What the server and its picture workers send each other."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from strongroom.errors import PictureTooLarge, PictureUnreadable, StrongroomError

NO_SPACE: Final = 28
"""The exit status of a worker whose answer did not fit on the disk."""

_REFUSALS: Final = {kind.code: kind for kind in (PictureTooLarge, PictureUnreadable)}


@dataclass(frozen=True, slots=True)
class PictureRequest:
    """What to do with a picture.

    Args:
        media_type: the type of the picture.
        memory_bytes: how much memory the work may take on top of the interpreter's.
        seconds: how much processor time it may take.
        max_pixels: the most pixels of a picture that is cleaned.
        width: the width to scale a cleaned picture to; ``None`` to clean one.
    """

    media_type: str
    memory_bytes: int
    seconds: int
    max_pixels: int = 0
    width: int | None = None


def refusal(kind: type[StrongroomError], detail: str, message: str) -> dict[str, Any]:
    """Return the head of an answer that refuses the picture."""
    return {"error": kind.code, "detail": detail, "message": message}


def raise_refusal(head: Mapping[str, Any]) -> None:
    """Pass if the head of an answer comes with a picture.

    Raises:
        PictureTooLarge: the picture has too many pixels, or takes too much memory.
        PictureUnreadable: it cannot be decoded.
    """
    if "error" in head:
        raise _REFUSALS[head["error"]].of_field("file", head["detail"], head["message"])
