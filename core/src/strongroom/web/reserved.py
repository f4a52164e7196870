"""Interfaces of the specification that a plugin provides: without it they answer 501, not 404."""

from typing import Final, NoReturn

from flask import Flask

from strongroom.errors import NotImplementedHere
from strongroom.web.guard import Access

RESERVED: Final = (
    ("POST", "/api/v1/wechat-authorizations"),
    ("POST", "/api/v1/miniProgram-authorization"),
    ("POST", "/api/v1/users/<user_id>/wechatIds"),
)


def reserve_paths(app: Flask, base_path: str) -> None:
    """Answer 501 where no enabled plugin has registered a route; call it after all have."""
    taken = {(method, rule.rule) for rule in app.url_map.iter_rules() for method in rule.methods or ()}
    for method, path in RESERVED:
        if (method, base_path + path) not in taken:
            app.add_url_rule(base_path + path, f"reserved:{path}", _not_implemented, methods=[method])


def _not_implemented(**_: str) -> NoReturn:
    raise NotImplementedHere


_not_implemented.__strongroom_access__ = Access.PUBLIC  # type: ignore[attr-defined]  # read by a test
