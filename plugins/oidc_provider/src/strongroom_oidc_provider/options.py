"""Configuration options."""

from dataclasses import dataclass

from strongroom.plugin_api import option


@dataclass(frozen=True, slots=True)
class ProviderOptions:
    """The keys of the section ``[plugins.oidc_provider]``."""

    max_clients: int = option(1000, minimum=1, help="Clients that the server may have.")
    requests_per_address: tuple[str, ...] = option(
        ("1200/minute",), help="Requests of one address to the endpoints of OAuth and their pages."
    )
