"""Client addresses: their canonical form, and the network that rate limits count by."""

from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Final

_NETWORK_BITS: Final = 64
"""The longest prefix that providers assign to one subscriber (RFC 6177)."""

_MAPPED_BITS: Final = 96


def canonical_address(text: str) -> str:
    """Return an IP address in canonical form (RFC 5952); any other text is returned unchanged.

    An IPv4-mapped IPv6 address becomes the IPv4 address, and a zone id is dropped.
    """
    address = parse_address(text)
    return text if address is None else str(address)


def parse_address(text: str) -> IPv4Address | IPv6Address | None:
    """Parse an IP address, or return ``None``. IPv4-mapped IPv6 addresses become IPv4 addresses."""
    try:
        address = ip_address(text.partition("%")[0])
    except ValueError:
        return None
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return mapped or address


def parse_network(text: str) -> IPv4Network | IPv6Network:
    """Parse a network in CIDR notation. A network of IPv4-mapped addresses becomes the IPv4 network.

    Raises:
        ValueError: the text is not a network.
    """
    network = ip_network(text)
    mapped = network.network_address.ipv4_mapped if isinstance(network, IPv6Network) else None
    if mapped is None or network.prefixlen < _MAPPED_BITS:
        return network
    return IPv4Network((mapped, network.prefixlen - _MAPPED_BITS))


# A request counts for its network several times.
@lru_cache(maxsize=1024)
def get_network(text: str) -> str:
    """Return the key that rate limits use for a client: the IPv4 address, or the /64 of an IPv6 one.

    A subscriber has a whole /64, so a limit per single IPv6 address would be ineffective.
    """
    address = parse_address(text)
    if isinstance(address, IPv6Address):
        return str(IPv6Network((address, _NETWORK_BITS), strict=False))
    return text if address is None else str(address)
