"""The proxies in front of the server, whose addresses of clients are trusted."""

import ipaddress
from collections.abc import Sequence
from functools import lru_cache

from strongroom.foundation.addresses import canonical_address, parse_address

Network = ipaddress.IPv4Network | ipaddress.IPv6Network


class TrustedProxies:
    """Finds the address of a client behind proxies.

    Args:
        networks: the networks of the proxies whose X-Forwarded-For is trusted.
    """

    def __init__(self, networks: Sequence[Network]) -> None:
        self._networks = tuple(networks)
        # A client sends many requests, and parsing an address takes longer than a short query's result.
        self.client_address = lru_cache(maxsize=1024)(self._client_address)

    def _client_address(self, peer: str, forwarded: str) -> str:
        """Return the client's canonical address: the last hop that is not a trusted proxy."""
        address = canonical_address(peer)
        hops = [hop.strip() for hop in forwarded.split(",") if hop.strip()]
        # From right to left: each proxy appends its peer, so entries left of an untrusted hop may be
        # forged.
        while hops and self.is_trusted(address) and parse_address(hops[-1]) is not None:
            address = canonical_address(hops.pop())
        return address

    def is_trusted(self, text: str) -> bool:
        """Return whether an address belongs to a trusted proxy."""
        address = parse_address(text)
        return address is not None and any(address in network for network in self._networks)
