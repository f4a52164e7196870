"""How a plugin is recognised: its entry-point group, its API version, its hook marker."""

from typing import Final

import pluggy

ENTRY_POINT_GROUP: Final = "strongroom.plugins"

API_VERSION: Final = "1.0"
"""``major.minor``. Within a major, hooks and hook arguments are added and never removed; a plugin
runs on a server whose major is its own and whose minor is at least its own."""

hookimpl: Final = pluggy.HookimplMarker("strongroom")
