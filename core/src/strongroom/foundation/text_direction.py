"""Removes bidirectional control characters, which make ``photo_gpj.exe`` look like ``photo_exe.jpg``."""

import re

_CONTROLS = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def without_direction(name: str) -> str:
    """Return the name with bidirectional control characters (UAX #9, Bidi_Control) replaced by ``_``."""
    return _CONTROLS.sub("_", name)
