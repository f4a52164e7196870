"""A registry of services by type, one per application.

The composition root registers the services with ``provide``; views get them with ``use``.
"""

from typing import Any, TypeVar, cast

from flask import Flask, current_app

T = TypeVar("T")

_KEY = "strongroom"


def provide(app: Flask, kind: type[Any], component: object) -> None:
    """Register ``component`` as the service of type ``kind``."""
    app.extensions.setdefault(_KEY, {})[kind] = component


def use(kind: type[T]) -> T:
    """Return the current application's service of a type."""
    return cast("T", current_app.extensions[_KEY][kind])
