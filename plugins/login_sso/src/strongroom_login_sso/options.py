"""The options of ``[plugins.login_sso]`` and of ``[login.sso]``."""

import re
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Final

from strongroom.plugin_api import option
from strongroom.plugin_api.outbound import OutboundPolicy
from strongroom_login_oauth.options import OAuthOptions

_SERVER: Final = re.compile(
    r"(?:\[(?P<ipv6>[0-9A-Fa-f:.]+)\]|(?P<ipv4>[0-9.]+))(?::(?P<port>[1-9][0-9]{0,4}))?"
)
_DNS_PORT: Final = 53
_MAX_PORT: Final = 65535
DAY: Final = 24 * 60 * 60 * 1000
"""Milliseconds of a day."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SsoOptions:
    """The keys of ``[plugins.login_sso]``."""

    nameservers: tuple[str, ...] = option(
        (),
        help="DNS resolvers that domains are checked by, such as `192.0.2.53:53`; empty: the system's.",
    )
    dns_timeout: float = option(
        5.0, minimum=0.1, maximum=30, help="Time limit of a lookup in DNS, in seconds."
    )
    grace_days: int = option(
        7, minimum=0, maximum=30, help="Days for which a domain counts after its record has disappeared."
    )
    unchecked_days: int = option(
        30,
        minimum=1,
        maximum=90,
        help="Days after the last good check for which a domain counts while DNS does not answer.",
    )
    domains_per_tenant: int = option(20, minimum=1, help="Domains that a tenant may have.")
    providers_per_tenant: int = option(5, minimum=1, help="Identity providers that a tenant may have.")
    allow_hosts: tuple[str, ...] = option(
        (),
        help='Private hosts that identity providers may be, by name and port: "sso.internal:443".',
    )
    allow_http: bool = option(
        False,
        development_only=True,
        help="Whether issuers may begin with http://; production refuses it.",
    )

    def __post_init__(self) -> None:
        self.servers()
        OutboundPolicy(self.allow_hosts, self.allow_http)

    @property
    def grace(self) -> int:
        """Milliseconds for which a domain counts after its record has disappeared."""
        return self.grace_days * DAY

    @property
    def unchecked(self) -> int:
        """Milliseconds after the last good check for which a domain counts."""
        return self.unchecked_days * DAY

    def servers(self) -> list[tuple[str, int]]:
        """Return the addresses and ports of the resolvers.

        Raises:
            ValueError: one is no IP address with or without a port.
        """
        return [_parse_server(text) for text in self.nameservers]


@dataclass(frozen=True, slots=True, kw_only=True)
class SsoLoginOptions(OAuthOptions):
    """The keys of ``[login.sso]``."""


def _parse_server(text: str) -> tuple[str, int]:
    match = _SERVER.fullmatch(text)
    try:
        address = str(ip_address(match["ipv6"] or match["ipv4"] if match else text))
    except ValueError:
        address = ""
    port = int((match and match["port"]) or _DNS_PORT)
    if match is None or not address or port > _MAX_PORT:
        raise ValueError(f'nameservers: "{text}" must be an address such as "192.0.2.53:53"')
    return address, port
