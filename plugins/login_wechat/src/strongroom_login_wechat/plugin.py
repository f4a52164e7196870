"""The entry point."""

from typing import Any

from click import Command

from strongroom.plugin_api import hookimpl
from strongroom.plugin_api.login import LoginMethod
from strongroom_login_wechat.commands import wechat
from strongroom_login_wechat.method import WeChatLogin

API_VERSION = "1.0"


@hookimpl
def register_login_methods() -> list[type[LoginMethod[Any]]]:
    return [WeChatLogin]


@hookimpl
def register_commands() -> list[Command]:
    return [wechat]
