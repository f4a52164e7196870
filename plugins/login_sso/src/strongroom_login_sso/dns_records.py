"""TXT records, by resolvers of the configuration or of the system."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import dns.exception
import dns.name
import dns.nameserver
import dns.resolver
from dns.rdtypes.ANY.TXT import TXT


class LookupFailed(Exception):
    """DNS did not answer: whether there is a record is unknown."""


class FindsTexts(Protocol):
    """Looks up TXT records; tests replace it."""

    def find_texts(self, name: str) -> Sequence[bytes]:
        """Return the texts of the TXT records of a name; none if there is no such record.

        Raises:
            LookupFailed: no resolver has answered, or one could not find out.
        """


@dataclass(frozen=True, slots=True)
class TextRecords:
    """Looks up TXT records (RFC 1035, section 3.3.14). Thread-safe.

    Aliases are followed, and a truncated answer is requested again over TCP.

    Args:
        servers: addresses and ports of resolvers; empty: the system's.
        timeout: seconds for a lookup, with all repetitions.
    """

    servers: Sequence[tuple[str, int]]
    timeout: float

    def find_texts(self, name: str) -> Sequence[bytes]:
        """Return the texts of the TXT records of a name, each without its division into strings.

        Raises:
            LookupFailed: as :meth:`FindsTexts.find_texts`.
        """
        try:
            answer = self._resolver().resolve(
                dns.name.from_text(name), "TXT", search=False, lifetime=self.timeout
            )
        except (dns.resolver.NXDOMAIN, dns.resolver.NoAnswer):
            return []
        except (dns.exception.DNSException, OSError) as error:
            raise LookupFailed(f"{name}: {type(error).__name__}") from error
        return [b"".join(record.strings) for record in answer if isinstance(record, TXT)]

    def _resolver(self) -> dns.resolver.Resolver:
        # A new one for each lookup, so that a changed /etc/resolv.conf is read.
        resolver = dns.resolver.Resolver(configure=not self.servers)
        if self.servers:
            resolver.nameservers = [
                dns.nameserver.Do53Nameserver(address, port) for address, port in self.servers
            ]
        return resolver
