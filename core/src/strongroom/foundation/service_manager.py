"""The service manager, such as systemd: gets the server's state, and keeps its listening sockets.

A server stores its listening sockets with the service manager (``FDSTORE=1``), which passes them to the
next process of the service (``LISTEN_FDS``). During a restart, new connections wait in the backlog of
these sockets instead of being refused. See sd_notify(3) and sd_listen_fds(3).
"""

import array
import os
import socket
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from typing import Final

_ADDRESS: Final = "NOTIFY_SOCKET"
_FIRST_DESCRIPTOR: Final = 3
_NAME: Final = "strongroom"


def has_service_manager() -> bool:
    """Return whether a service manager has set ``NOTIFY_SOCKET``."""
    return bool(os.environ.get(_ADDRESS))


def notify_service_manager(*lines: str, descriptors: Sequence[int] = ()) -> None:
    """Send assignments such as ``READY=1`` to the service manager, if there is one.

    Args:
        descriptors: open files that it is to keep.
    """
    address = os.environ.get(_ADDRESS, "")
    if not address:
        return
    # "@" marks Linux's abstract namespace.
    if address.startswith("@"):
        address = f"\0{address[1:]}"
    ancillary = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", descriptors))]
    # A missing service manager must not stop the server.
    with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
        sender.sendmsg(["\n".join(lines).encode()], ancillary if descriptors else [], 0, address)


@dataclass(frozen=True, slots=True)
class InheritedSocket:
    """A listening socket that the service manager passed to this process, and its name there."""

    name: str
    socket: socket.socket

    @property
    def is_shareable(self) -> bool:
        """Whether further sockets can listen at its address."""
        return bool(self.socket.getsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT))


@cache
def inherited_sockets() -> tuple[InheritedSocket, ...]:
    """Return the listening sockets that this process was started with.

    The first call has to be in that process; forked processes get the same sockets.
    """
    is_for_us = os.environ.pop("LISTEN_PID", "") == str(os.getpid())
    count = int(os.environ.pop("LISTEN_FDS", "0"))
    names = os.environ.pop("LISTEN_FDNAMES", "").split(":")
    names += [""] * (count - len(names))
    return tuple(_inherited(count, names)) if is_for_us else ()


def _inherited(count: int, names: Sequence[str]) -> Iterator[InheritedSocket]:
    for index in range(count):
        descriptor = _FIRST_DESCRIPTOR + index
        os.set_inheritable(descriptor, False)
        yield InheritedSocket(names[index], socket.socket(fileno=descriptor))


def is_inherited(host: str, port: int) -> bool:
    """Return whether a socket that listens at this address was inherited."""
    return any(_listens_at(item.socket, host, port) for item in inherited_sockets())


def open_listeners(host: str, port: int, count: int, backlog: int) -> list[socket.socket]:
    """Return listening sockets for a number of processes: inherited ones first, then new ones.

    The service manager keeps the new ones. It forgets inherited ones that are not needed any more,
    because the kernel would give them connections that no process accepts.

    Raises:
        OSError: the address is not available.
    """
    usable = [item for item in inherited_sockets() if _listens_at(item.socket, host, port)]
    for item in inherited_sockets():
        if item not in usable[:count]:
            _release(item)
    listeners = [item.socket for item in usable[:count]]
    for index in range(len(listeners), count):
        if usable and not usable[0].is_shareable:
            listeners.append(usable[0].socket.dup())
            continue
        listeners.append(_open(host, port, backlog))
        name = f"FDNAME={_NAME}-{port}-{index}"
        notify_service_manager("FDSTORE=1", name, descriptors=[listeners[-1].fileno()])
    return listeners


def _release(item: InheritedSocket) -> None:
    notify_service_manager("FDSTOREREMOVE=1", f"FDNAME={item.name}")
    item.socket.close()


def _listens_at(listener: socket.socket, host: str, port: int) -> bool:
    # A closed socket was released before.
    return listener.fileno() >= 0 and listener.getsockname()[:2] == _resolve(host, port)


def _resolve(host: str, port: int) -> tuple[str, int]:
    (*_, address), *_ = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return (str(address[0]), int(address[1]))


def _open(host: str, port: int, backlog: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    return socket.create_server((host, port), family=family, backlog=backlog, reuse_port=True)
