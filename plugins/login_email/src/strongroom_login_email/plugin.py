"""Entry point of the plugin."""

from typing import Any

from strongroom.plugin_api import hookimpl
from strongroom.plugin_api.login import LoginMethod
from strongroom_login_email.method import EmailLogin

API_VERSION = "2.0"


@hookimpl
def register_login_methods() -> list[type[LoginMethod[Any]]]:
    return [EmailLogin]
