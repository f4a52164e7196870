"""Hosts of this machine only."""

import pytest

from strongroom.plugin_api.addresses import is_loopback


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("localhost", True), ("LOCALHOST", True), ("127.0.0.1", True), ("127.9.9.9", True),
        ("::1", True), ("::ffff:127.0.0.1", True), ("127.0.0.1.example.com", False),
        ("localhost.example.com", False), ("0.0.0.0", False), ("10.0.0.1", False), ("", False),
    ],
)  # fmt: skip
def test_only_addresses_of_this_machine_are_loopback(host: str, expected: bool) -> None:
    assert is_loopback(host) is expected
