"""A DNS server on loopback, over UDP and TCP, whose answers a test decides."""

import contextlib
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final

import dns.flags
import dns.message
import dns.rcode
import dns.rrset

TTL: Final = 60

Answer = Callable[[dns.message.Message, bool], dns.message.Message | None]
"""Returns the response to a query, or ``None`` for none. The second argument: whether it came by TCP."""


@dataclass
class DnsServer:
    """The server. The members may be changed at any time.

    Args:
        texts: the texts of the TXT records, by the name in lowercase with its last dot.
        aliases: the target of the CNAME record, by the name.
        failures: the response code, by the name.
        silent: names that get no answer.
        truncated: names whose answer over UDP is truncated.
        forged: answers with a wrong id, which are sent before the honest one.
    """

    texts: dict[str, list[str]] = field(default_factory=dict)
    aliases: dict[str, str] = field(default_factory=dict)
    failures: dict[str, dns.rcode.Rcode] = field(default_factory=dict)
    silent: set[str] = field(default_factory=set)
    truncated: set[str] = field(default_factory=set)
    forged: dict[str, list[str]] = field(default_factory=dict)
    queries: list[tuple[str, bool]] = field(default_factory=list)
    port: int = 0

    def respond(self, wire: bytes, *, by_tcp: bool) -> list[bytes]:
        """Return the messages that answer a query, in their order."""
        query = dns.message.from_wire(wire)
        name = query.question[0].name.to_text().lower()
        self.queries.append((name, by_tcp))
        if name in self.silent:
            return []
        forged = []
        if name in self.forged and not by_tcp:
            wrong = self._answer(query, name, self.forged[name])
            wrong.id = (query.id + 1) % 2**16
            forged = [wrong.to_wire()]
        if name in self.truncated and not by_tcp:
            short = dns.message.make_response(query)
            short.flags |= dns.flags.TC
            return [*forged, short.to_wire()]
        return [*forged, self._honest(query, name).to_wire()]

    def _honest(self, query: dns.message.Message, name: str) -> dns.message.Message:
        if name in self.failures:
            failed = dns.message.make_response(query)
            failed.set_rcode(self.failures[name])
            return failed
        alias = self.aliases.get(name)
        texts = self.texts.get(alias or name)
        if texts is None and alias is None:
            absent = dns.message.make_response(query)
            absent.set_rcode(dns.rcode.NXDOMAIN)
            return absent
        return self._answer(query, name, texts or [], alias)

    def _answer(
        self, query: dns.message.Message, name: str, texts: list[str], alias: str | None = None
    ) -> dns.message.Message:
        answer = dns.message.make_response(query)
        if alias is not None:
            answer.answer.append(dns.rrset.from_text(name, TTL, "IN", "CNAME", alias))
        if texts:
            quoted = [_quoted(text) for text in texts]
            answer.answer.append(dns.rrset.from_text(alias or name, TTL, "IN", "TXT", *quoted))
        return answer


def _quoted(text: str) -> str:
    """Return the strings of a record, each of which has at most 255 bytes."""
    parts = [text[start : start + 255] for start in range(0, len(text) or 1, 255)]
    return " ".join(f'"{part}"' for part in parts)


@contextmanager
def serving_dns() -> Iterator[DnsServer]:
    """Serve on a port of this machine until the block ends."""
    server = DnsServer()
    tcp = socket.create_server(("127.0.0.1", 0))
    server.port = tcp.getsockname()[1]
    udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    udp.bind(("127.0.0.1", server.port))
    threads = [
        threading.Thread(target=_serve_udp, args=(server, udp), daemon=True),
        threading.Thread(target=_serve_tcp, args=(server, tcp), daemon=True),
    ]
    for thread in threads:
        thread.start()
    try:
        yield server
    finally:
        # Wakes the threads up, which then see that their sockets are closed.
        with contextlib.suppress(OSError):
            tcp.shutdown(socket.SHUT_RDWR)
        udp.sendto(b"", ("127.0.0.1", server.port))
        tcp.close()
        for thread in threads:
            thread.join(5)
        udp.close()


def _serve_udp(server: DnsServer, udp: socket.socket) -> None:
    while True:
        wire, client = udp.recvfrom(4096)
        if not wire:
            return
        for message in server.respond(wire, by_tcp=False):
            udp.sendto(message, client)


def _serve_tcp(server: DnsServer, tcp: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while True:
            connection, _ = tcp.accept()
            with connection, contextlib.suppress(OSError, struct.error):
                (length,) = struct.unpack("!H", connection.recv(2))
                for message in server.respond(connection.recv(length), by_tcp=True):
                    connection.sendall(struct.pack("!H", len(message)) + message)
