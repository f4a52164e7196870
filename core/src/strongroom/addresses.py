"""Client addresses: one spelling for each, and the network that limits count by."""

from ipaddress import (
    IPv4Address,
    IPv4Network,
    IPv6Address,
    IPv6Network,
    ip_address,
    ip_network,
)
from typing import Final

_NETWORK_BITS: Final = 64
"""The prefix length that providers assign to one subscriber (RFC 6177 calls for at least that much)."""

_MAPPED_BITS: Final = 96


def canonical_address(text: str) -> str:
    """Return an IP address in its canonical spelling (RFC 5952); any other text unchanged.

    An IPv4 address that is mapped into IPv6 becomes the IPv4 address, and a zone id is dropped.
    """
    address = parse_address(text)
    return text if address is None else str(address)


def parse_address(text: str) -> IPv4Address | IPv6Address | None:
    """Return the IP address that a text spells, or ``None``; v4-mapped forms are unwrapped."""
    try:
        address = ip_address(text.partition("%")[0])
    except ValueError:
        return None
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return mapped or address


def parse_network(text: str) -> IPv4Network | IPv6Network:
    """Return the network that a text spells; a network of v4-mapped addresses is the IPv4 network.

    Raises:
        ValueError: the text spells no network.
    """
    network = ip_network(text)
    mapped = network.network_address.ipv4_mapped if isinstance(network, IPv6Network) else None
    if mapped is None or network.prefixlen < _MAPPED_BITS:
        return network
    return IPv4Network((mapped, network.prefixlen - _MAPPED_BITS))


def network_of(text: str) -> str:
    """Return what limits count a client by: an IPv4 address, or the /64 of an IPv6 address.

    A subscriber holds a whole /64, so counting single IPv6 addresses would not limit anyone.
    """
    address = parse_address(text)
    if isinstance(address, IPv6Address):
        return str(IPv6Network((address, _NETWORK_BITS), strict=False))
    return text if address is None else str(address)
