"""Entry point of the plugin."""

from collections.abc import Iterable
from typing import Any

from strongroom.plugin_api import hookimpl
from strongroom.plugin_api.host import HostAPI
from strongroom.plugin_api.login import LoginMethod
from strongroom.plugin_api.pages import LoginLink, StaticFiles
from strongroom.plugin_api.web import Blueprint, ErrorKind
from strongroom_login_wechat.errors import kinds
from strongroom_login_wechat.links import login_links
from strongroom_login_wechat.method import WeChatLogin
from strongroom_login_wechat.routes import routes

API_VERSION = "2.0"


@hookimpl
def register_login_methods() -> list[type[LoginMethod[Any]]]:
    return [WeChatLogin]


@hookimpl
def register_errors() -> Iterable[ErrorKind]:
    return kinds()


@hookimpl
def register_login_links(host: HostAPI) -> list[LoginLink]:
    login = host.extension(WeChatLogin)
    return login_links(host, login) if login else []


@hookimpl
def register_static_files() -> list[StaticFiles]:
    return [StaticFiles()]


@hookimpl
def register_blueprints(host: HostAPI) -> list[Blueprint]:
    login = host.extension(WeChatLogin)
    if login is None:
        return []
    login.attach(host)
    return [routes]
