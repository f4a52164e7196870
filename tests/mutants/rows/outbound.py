"""Mutants: outbound."""

from typing import Final

from tests.mutants.modules import core

ROWS: Final = (
    core(
        "outbound-addresses",
        "A name with one private address is not called.",
        "plugin_api/outbound.py::OutboundClient._addresses",
        "if not is_allowed and not all(is_public(ip_address(item)) for item in addresses):",
        "if False:",
        "unit/plugin_api/test_outbound.py::test_a_forbidden_url_is_never_called",
    ),
    core(
        "outbound-literals",
        "A private address in a URL is not called.",
        "plugin_api/outbound.py::OutboundClient._check_target",
        "if target.address is not None and not is_public(target.address):",
        "if False:",
        "unit/plugin_api/test_outbound.py::test_a_forbidden_form_is_refused_before_it_is_stored",
    ),
    core(
        "outbound-nat64",
        "The IPv4 address in a NAT64 address is checked.",
        "plugin_api/outbound.py::is_public",
        "return is_public(IPv4Address(int(address) & 0xFFFF_FFFF))",
        "return True",
        "unit/plugin_api/test_outbound.py::test_an_address_is_public_with_all_that_it_embeds",
    ),
    core(
        "outbound-transition",
        "The IPv4 address in a 6to4 address is checked.",
        "plugin_api/outbound.py::is_public",
        "if address not in _UNICAST or not all(map(is_public, _embedded(address))):",
        "if address not in _UNICAST:",
        "unit/plugin_api/test_outbound.py::test_an_address_is_public_with_all_that_it_embeds",
    ),
    core(
        "outbound-pinned",
        "The connection goes to the address that was checked.",
        "plugin_api/outbound.py::_PinnedBackend.connect_tcp",
        "stream = self._sockets.connect_tcp(address, port, seconds, local_address, socket_options)",
        "stream = self._sockets.connect_tcp(host, port, seconds, local_address, socket_options)",
        "unit/plugin_api/test_outbound.py::test_a_name_resolves_once_and_its_checked_address_is_used",
    ),
    core(
        "outbound-ports",
        "Only the port of the scheme is called.",
        "plugin_api/outbound.py::OutboundClient._check_target",
        "if target.port != _PORTS[target.scheme]:",
        "if False:",
        "unit/plugin_api/test_outbound.py::test_a_forbidden_form_is_refused_before_it_is_stored",
    ),
)
