"""Entry point of the plugin."""

from typing import Any

from click import Command

from strongroom.plugin_api import hookimpl
from strongroom.plugin_api.messages import MessageSender
from strongroom_sms_aliyun.sender import AliyunSms

API_VERSION = "1.2"


@hookimpl
def register_message_senders() -> list[type[MessageSender[Any]]]:
    return [AliyunSms]


@hookimpl
def register_commands() -> list[Command]:
    # Imported here, because a server needs no simulator.
    from strongroom_sms_aliyun.commands import sms

    return [sms]
