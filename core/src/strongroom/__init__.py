"""Strongroom: a self-hosted server for user accounts and files.

:func:`create_app` creates the WSGI application. It is imported lazily, on first access.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from strongroom.assembly.app import create_app
    from strongroom.version import __version__

__all__ = ["__version__", "create_app"]


def __getattr__(name: str) -> Any:
    # Lazy, because plugins import strongroom.plugin_api, which must not import the whole server.
    if name == "create_app":
        from strongroom.assembly.app import create_app

        return create_app
    if name == "__version__":
        from strongroom.version import __version__

        return __version__
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
