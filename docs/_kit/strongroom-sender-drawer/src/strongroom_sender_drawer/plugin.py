"""The entry point."""

from typing import Any

from strongroom.plugin_api import hookimpl
from strongroom.plugin_api.messages import MessageSender

from strongroom_sender_drawer.sender import DrawerSender

API_VERSION = "1.0"


@hookimpl
def register_message_senders() -> list[type[MessageSender[Any]]]:
    return [DrawerSender]
