"""A message sender for development: prints messages and appends them to a file for scripts."""

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any

from strongroom.plugin_api import hookimpl, option
from strongroom.plugin_api.messages import Message, MessageNotSent, MessageSender

API_VERSION = "2.0"


@dataclass(frozen=True, slots=True)
class ConsoleOptions:
    """The keys of ``[messages.console]``."""

    outbox: Path = option(
        help="The file to which each message is appended as a line of JSON.", advanced=True
    )


class ConsoleSender(MessageSender[ConsoleOptions]):
    """Prints messages instead of sending them."""

    name = "console"
    channels = frozenset({"email", "sms"})
    options_type = ConsoleOptions
    development_only = True

    def __init__(self, options: ConsoleOptions) -> None:
        super().__init__(options)
        self._lock = Lock()

    def send(self, message: Message) -> None:
        record = {"channel": message.channel, "recipient": message.recipient, "text": message.text}
        if "code" in message.parameters:
            record["code"] = message.parameters["code"]
        line = json.dumps(record, ensure_ascii=False) + "\n"
        try:
            # A single unbuffered write with O_APPEND, so that lines of other processes do not mix in.
            with self._lock, self.options.outbox.open("ab", buffering=0) as file:
                file.write(line.encode())
        except OSError as error:
            raise MessageNotSent(f"cannot write the outbox: {error.strerror}", retryable=True) from error
        print(f"[{message.channel} to {message.recipient}] {message.text}", file=sys.stderr, flush=True)  # noqa: T201


@hookimpl
def register_message_senders() -> list[type[MessageSender[Any]]]:
    return [ConsoleSender]
