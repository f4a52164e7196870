"""Documents by which clients discover a service: what ``register_discovery`` returns.

They are JSON at a well-known path (RFC 8615), such as the metadata of an authorization server::

    @hookimpl
    def register_discovery(host: HostAPI) -> list[DiscoveryDocument]:
        members = {"issuer": host.public_url, "token_endpoint": f"{host.public_url}/oauth2/token"}
        return [DiscoveryDocument("oauth-authorization-server", members)]
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class DiscoveryDocument:
    """Members of a document, which other plugins may complete.

    Args:
        name: the path below ``/.well-known/``, such as ``openid-configuration``. With a base path, the
            document is also at ``/.well-known/NAME/BASE`` (RFC 8414, section 3).
        members: JSON values. A member that another plugin sets must have the same value.
    """

    name: str
    members: Mapping[str, Any]
