"""Reports the state of the server to the service manager: the protocol of ``sd_notify(3)``."""

import os
import socket
from contextlib import suppress
from typing import Final

_ADDRESS: Final = "NOTIFY_SOCKET"


def is_present() -> bool:
    """Return whether a service manager listens."""
    return bool(os.environ.get(_ADDRESS))


def notify(*lines: str) -> None:
    """Send assignments such as ``READY=1``, if a service manager listens."""
    address = os.environ.get(_ADDRESS, "")
    if not address:
        return
    if address.startswith("@"):
        address = f"\0{address[1:]}"
    # A service manager that is gone must not end the server.
    with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
        sender.sendto("\n".join(lines).encode(), address)
