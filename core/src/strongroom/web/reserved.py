"""Routes of the API that plugins provide; without the plugin they return 501 instead of 404."""

from collections.abc import Callable
from typing import Final, NoReturn

from flask import Flask

from strongroom.errors import NotImplementedHere
from strongroom.web.access import Access
from strongroom.web.routing import Blueprint

RESERVED: Final = (
    ("POST", "/api/v1/wechat-qr-codes"),
    ("POST", "/api/v1/wechat-authorizations"),
    ("GET", "/api/v1/wechat-authorizations/scan"),
    ("GET", "/api/v1/wechat-authorizations/callback"),
    ("POST", "/api/v1/miniProgram-authorization"),
    ("POST", "/api/v1/users/<user_id>/wechatIds"),
    ("DELETE", "/api/v1/users/<user_id>/wechatIds"),
)


def reserved_blueprint(app: Flask, base_path: str) -> Blueprint:
    """Return routes that respond 501, for all reserved routes that no plugin has registered."""
    blueprint = Blueprint("reserved", __name__, description="Provided by plugins that are not enabled.")
    taken = {(method, rule.rule) for rule in app.url_map.iter_rules() for method in rule.methods or ()}
    for method, path in RESERVED:
        if (method, base_path + path) not in taken:
            view = _not_implemented(method, path)
            blueprint.operation(method, path, access=Access.PUBLIC, errors=(NotImplementedHere,))(view)
    return blueprint


def _not_implemented(method: str, path: str) -> Callable[..., NoReturn]:
    def view(**_: str) -> NoReturn:
        raise NotImplementedHere

    words = path.replace("<user_id>/", "").removeprefix("/api/v1/").replace("/", "_").replace("-", "_")
    view.__name__ = f"{method.lower()}_{words}"
    view.__doc__ = "Answer 501: the plugin of this route is not enabled."
    return view
