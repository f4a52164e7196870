"""Configuration options."""

from dataclasses import dataclass

from strongroom.plugin_api import option
from strongroom.plugin_api.host import HostAPI
from strongroom.plugin_api.outbound import OutboundClient, OutboundPolicy


@dataclass(frozen=True, slots=True)
class ProviderOptions:
    """The keys of the section ``[plugins.oidc_provider]``."""

    max_clients: int = option(1000, minimum=1, help="Clients that the server may have.")
    requests_per_address: tuple[str, ...] = option(
        ("1200/minute",), help="Requests of one address to the endpoints of OAuth and their pages."
    )
    allow_hosts: tuple[str, ...] = option(
        (),
        help='Private hosts of clients to call, by name and port, such as "wiki.internal:8443".',
    )
    allow_http: bool = option(
        False,
        help="Whether unencrypted URLs of clients may be called; production refuses it.",
        development_only=True,
    )
    timeout_seconds: float = option(
        5.0, minimum=0.1, maximum=30, help="Time limit of one request to a client in seconds."
    )

    def __post_init__(self) -> None:
        self.policy()

    def policy(self) -> OutboundPolicy:
        """Return the URLs of clients that may be called.

        Raises:
            ValueError: an entry of ``allow_hosts`` is invalid.
        """
        return OutboundPolicy(self.allow_hosts, self.allow_http, self.timeout_seconds)


class ProviderOutbound(OutboundClient):
    """The client of requests to URLs of clients."""

    def __init__(self, host: HostAPI) -> None:
        super().__init__(host.options.policy())


def get_outbound_client(host: HostAPI) -> OutboundClient:
    """Return the client of requests to URLs of clients."""
    return host.get_service(ProviderOutbound)
