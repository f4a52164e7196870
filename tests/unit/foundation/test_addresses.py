"""One spelling for each client address, and the network that limits count by."""

import pytest

from strongroom.foundation.addresses import canonical_address, get_network, parse_network


@pytest.mark.parametrize(
    ("text", "canonical", "network"),
    [
        ("192.0.2.1", "192.0.2.1", "192.0.2.1"),
        ("::ffff:192.0.2.1", "192.0.2.1", "192.0.2.1"),
        ("::FFFF:c000:201", "192.0.2.1", "192.0.2.1"),
        ("2001:DB8:0:1:0:0:0:5", "2001:db8:0:1::5", "2001:db8:0:1::/64"),
        ("2001:db8:0:1:ffff:ffff:ffff:ffff", *["2001:db8:0:1:ffff:ffff:ffff:ffff", "2001:db8:0:1::/64"]),
        ("fe80::1%eth0", "fe80::1", "fe80::/64"),
        ("", "", ""),
        ("unix:", "unix:", "unix:"),
    ],
)
def test_each_spelling_becomes_one(text: str, canonical: str, network: str) -> None:
    assert (canonical_address(text), get_network(text)) == (canonical, network)


@pytest.mark.parametrize(
    ("text", "network"),
    [
        ("10.0.0.0/8", "10.0.0.0/8"),
        ("::ffff:10.0.0.0/104", "10.0.0.0/8"),
        ("::ffff:0:0/96", "0.0.0.0/0"),
        ("2001:db8::/32", "2001:db8::/32"),
    ],
)
def test_a_network_of_mapped_addresses_is_the_ipv4_network(text: str, network: str) -> None:
    assert str(parse_network(text)) == network
