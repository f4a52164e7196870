"""Hosts in configured URLs."""

from ipaddress import IPv6Address, ip_address


def is_loopback(host: str) -> bool:
    """Return whether a host is this machine only: ``localhost``, or an address of RFC 6890's loopback.

    Plain text to it leaves no trace on a network.
    """
    if host.lower() == "localhost":
        return True
    try:
        address = ip_address(host)
    except ValueError:
        return False
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return (mapped or address).is_loopback
