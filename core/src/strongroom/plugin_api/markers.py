"""The markers of plugins: entry-point group, API version, hook marker."""

from typing import Final

import pluggy

ENTRY_POINT_GROUP: Final = "strongroom.plugins"

API_VERSION: Final = "2.0"
"""``major.minor``. Within a major version, hooks and arguments are added but never removed. A plugin
runs on a server with the same major version and the same or a higher minor version."""

hookimpl: Final = pluggy.HookimplMarker("strongroom")
