"""Routes of the interface that answer 501, because no feature and no plugin provides them."""

import re
from collections.abc import Callable
from typing import Final, NoReturn

from flask import Flask

from strongroom.foundation.errors import NotImplementedHere
from strongroom.foundation.optional_parts import reserved_routes
from strongroom.web.http.access import Access
from strongroom.web.http.routing import Blueprint

RESERVED: Final = "reserved"
"""The name of the blueprint of these routes."""


def reserved_blueprint(app: Flask, base_path: str) -> Blueprint:
    """Return routes that respond 501, for all reserved routes that no plugin has registered."""
    blueprint = Blueprint(
        RESERVED,
        description="Provided by plugins that are not enabled.",
        parameters={"name": "The name of the provider in the plugin's configuration"},
    )
    taken = {(method, rule.rule) for rule in app.url_map.iter_rules() for method in rule.methods or ()}
    for method, path in reserved_routes():
        if (method, base_path + path) not in taken:
            view = _not_implemented(method, path)
            blueprint.operation(
                method, path, access=Access.PUBLIC, any_query=True, errors=(NotImplementedHere,)
            )(view)
    return blueprint


def _not_implemented(method: str, path: str) -> Callable[..., NoReturn]:
    def view(**_: str) -> NoReturn:
        raise NotImplementedHere

    named = re.sub("/<(?:[^>:]*:)?([^>]*)>", r"_by_\1", path.removeprefix("/api/v1"))
    words = named.replace("-", "_").replace("/", "_")
    view.__name__ = f"{method.lower()}{words}"
    view.__doc__ = (
        "Answer 501: the plugin of this route is not enabled.\n\n"
        "The path is reserved for a plugin that comes with the server and describes it once enabled."
    )
    return view
