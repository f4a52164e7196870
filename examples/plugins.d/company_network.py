"""Lets people log in from the networks of the company only; administrators of the server, from anywhere.

Copy this file to the folder of ``[plugins] folder``, and name the networks::

    [plugins.company_network]
    networks = ["198.51.100.0/24", "2001:db8::/32"]

A client behind a proxy has the address that ``[server] trusted_proxies`` lets the server believe.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import ip_address, ip_network
from typing import Final

from strongroom.plugin_api import hookimpl, option
from strongroom.plugin_api.host import HostAPI
from strongroom.plugin_api.login_conditions import CheckLogin, LoginFacts
from strongroom.plugin_api.state import Transaction
from strongroom.plugin_api.web import ApiError, ErrorKind

API_VERSION = "2.0"

OUTSIDE: Final = ErrorKind(403, "error.outside-company-network", "Log in from the company's network.")


@dataclass(frozen=True, slots=True)
class NetworkOptions:
    """The keys of ``[plugins.company_network]``."""

    networks: tuple[str, ...] = option(help="The networks that people log in from.")

    def __post_init__(self) -> None:
        for network in self.networks:
            ip_network(network)


@hookimpl
def register_options() -> type[NetworkOptions]:
    """Return the type of the options."""
    return NetworkOptions


@hookimpl
def register_errors() -> Iterable[ErrorKind]:
    """Return the error of a login from elsewhere."""
    return [OUTSIDE]


@hookimpl
def register_login_conditions(host: HostAPI) -> list[CheckLogin]:
    """Return the condition."""
    networks = [ip_network(network) for network in host.options.networks]

    def require_network(_: Transaction, login: LoginFacts) -> None:
        address = ip_address(login.client.address)
        if not login.is_administrator and not any(address in network for network in networks):
            raise ApiError(OUTSIDE)

    return [require_network]
