"""Configuration options."""

import re
from dataclasses import dataclass
from typing import Final

from strongroom.plugin_api import option
from strongroom.plugin_api.host import HostAPI
from strongroom.plugin_api.outbound import OutboundClient, OutboundPolicy
from strongroom_oidc_provider.scopes import LOGIN_SCOPES, SCOPE

ALLOW: Final = "allow"
HOSTS: Final = "hosts"
OFF: Final = "off"
OPEN: Final = "open"
TOKEN: Final = "token"  # noqa: S105  a choice and no secret
_MIN_TOKEN: Final = 32
_DOMAIN: Final = re.compile(r"[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?")
# Begins with a letter, so that it is no id of a registered client.
_CLIENT: Final = re.compile(r"(?:[a-z][a-z0-9-]{0,35})?")
_RESOURCE: Final = re.compile(r"(?:https://[!\"$-~]|/)[!\"$-~]{0,500}")


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
    client_documents: str = option(
        ALLOW,
        choices=(ALLOW, HOSTS, OFF),
        help="Which clients may describe themselves by a document at their client_id, an https URL.",
    )
    client_document_hosts: tuple[str, ...] = option(
        (), help='Hosts of such clients if `client_documents` is "hosts".'
    )
    client_document_scopes: tuple[str, ...] = option(
        (*LOGIN_SCOPES, "files:read", "files:write", "tenants:read"),
        help="Scopes that such clients, and those that register themselves, may request.",
    )
    client_document_resources: tuple[str, ...] = option(
        ("/mcp",),
        help="Services that these clients may request tokens for: paths of this server, or URIs.",
    )
    client_documents_per_address: tuple[str, ...] = option(
        ("60/minute",), help="Documents that requests of one address may let the server fetch."
    )

    device_client: str = option(
        "strongroom-client",
        help='Id of the built-in client of `strongroom-client login --device`; "": none.',
    )

    registration: str = option(
        OFF,
        choices=(OFF, TOKEN, OPEN),
        help="Which clients may register themselves (RFC 7591): with `registration_token`, or all.",
    )
    registration_token: str | None = option(
        None,
        secret=True,
        help="The initial access token, which such clients send; at least 32 characters.",
    )
    max_registrations: int = option(
        500, minimum=1, help="Clients that have registered themselves which the server may have."
    )
    registrations_per_address: tuple[str, ...] = option(
        ("10/hour",), help="Registrations of clients by one address."
    )

    def __post_init__(self) -> None:
        self.policy()
        if self.registration == TOKEN and len(self.registration_token or "") < _MIN_TOKEN:
            raise ValueError(f"registration_token: must have at least {_MIN_TOKEN} characters")
        if not _CLIENT.fullmatch(self.device_client):
            raise ValueError("device_client: must have lower-case letters, digits and hyphens")
        for key, pattern in (
            ("client_document_hosts", _DOMAIN),
            ("client_document_scopes", SCOPE),
            ("client_document_resources", _RESOURCE),
        ):
            if invalid := [item for item in getattr(self, key) if not pattern.fullmatch(item)]:
                raise ValueError(f'{key}: "{invalid[0]}" is invalid')

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
