"""Entry point of the plugin."""

from typing import Any

from strongroom.plugin_api import hookimpl
from strongroom.plugin_api.login import LoginMethod
from strongroom.plugin_api.messages import MessageSender
from strongroom_login_sms.http import HttpSms
from strongroom_login_sms.method import SmsLogin

API_VERSION = "2.0"


@hookimpl
def register_login_methods() -> list[type[LoginMethod[Any]]]:
    return [SmsLogin]


@hookimpl
def register_message_senders() -> list[type[MessageSender[Any]]]:
    return [HttpSms]
