"""Strongroom: who your users are, and what they keep.

:func:`create_app` makes the WSGI application; importing this package alone imports nothing else.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from strongroom.app import create_app
    from strongroom.version import __version__

__all__ = ["__version__", "create_app"]


def __getattr__(name: str) -> Any:
    # Plugin authors import strongroom.plugin_api, which should not bring the whole server along.
    if name == "create_app":
        from strongroom.app import create_app

        return create_app
    if name == "__version__":
        from strongroom.version import __version__

        return __version__
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
