"""The entry point."""

from typing import Any

from strongroom.plugin_api import hookimpl
from strongroom.plugin_api.login import LoginMethod

from strongroom_login_drawer.method import DrawerLogin

API_VERSION = "1.0"


@hookimpl
def register_login_methods() -> list[type[LoginMethod[Any]]]:
    return [DrawerLogin]
