"""Entry point of the plugin."""

from typing import Any

from strongroom.plugin_api import hookimpl
from strongroom.plugin_api.messages import MessageSender
from strongroom_sms_aliyun.sender import AliyunSms

API_VERSION = "2.0"


@hookimpl
def register_message_senders() -> list[type[MessageSender[Any]]]:
    return [AliyunSms]
