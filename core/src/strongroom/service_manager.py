"""Reports the state of the server to systemd or a similar service manager (``sd_notify(3)``)."""

import os
import socket
from contextlib import suppress
from typing import Final

_ADDRESS: Final = "NOTIFY_SOCKET"


def is_present() -> bool:
    """Return whether a service manager has set ``NOTIFY_SOCKET``."""
    return bool(os.environ.get(_ADDRESS))


def notify(*lines: str) -> None:
    """Send assignments such as ``READY=1`` to the service manager, if there is one."""
    address = os.environ.get(_ADDRESS, "")
    if not address:
        return
    # "@" marks Linux's abstract namespace.
    if address.startswith("@"):
        address = f"\0{address[1:]}"
    # A missing service manager must not stop the server.
    with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
        sender.sendto("\n".join(lines).encode(), address)
