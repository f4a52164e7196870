"""The entry point."""

from typing import Any

from strongroom.plugin_api import hookimpl
from strongroom.plugin_api.captcha import CaptchaProvider

from strongroom_captcha_drawer.provider import DrawerCaptcha

API_VERSION = "1.0"


@hookimpl
def register_captcha_providers() -> list[type[CaptchaProvider[Any]]]:
    return [DrawerCaptcha]
