"""A registry of services by type, one per application.

The composition root registers the services; views get them by their type.
"""

from typing import Any, TypeVar, cast

from flask import Flask
from flask.globals import _cv_app

T = TypeVar("T")

_KEY = "strongroom"


def register_service(app: Flask, kind: type[Any], service: object) -> None:
    """Register the service of a type."""
    app.extensions.setdefault(_KEY, {})[kind] = service


def get_service(kind: type[T]) -> T:
    """Return the current application's service of a type."""
    # The variable behind ``current_app``, whose proxy takes longer than the look-up.
    return cast("T", _cv_app.get().app.extensions[_KEY][kind])
