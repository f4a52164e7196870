"""The services of an application, found by their type.

The composition root provides them; views use them. Nothing here is global: each application holds
its own.
"""

from typing import Any, TypeVar, cast

from flask import Flask, current_app

T = TypeVar("T")

_KEY = "strongroom"


def provide(app: Flask, kind: type[Any], component: object) -> None:
    """Make ``component`` what :func:`use` returns for ``kind`` within the application."""
    app.extensions.setdefault(_KEY, {})[kind] = component


def use(kind: type[T]) -> T:
    """Return the current application's component of a kind."""
    return cast("T", current_app.extensions[_KEY][kind])
