"""The services that tokens are for: resource indicators (RFC 8707)."""

from typing import Final
from urllib.parse import urlsplit

from strongroom_oidc_provider.models import Client

MAX_LENGTH: Final = 512


def is_same(first: str, second: str) -> bool:
    """Return whether two URIs name a service: the case of the host and a final slash do not matter."""
    return _normalized(first) == _normalized(second)


def find_resource(uri: str, client: Client, public_url: str) -> str | None:
    """Return the service of a client that a request names; ``None`` if it is none of the client."""
    if len(uri) > MAX_LENGTH or "#" in uri:
        return None
    return next((each for each in (public_url, *client.resources) if is_same(each, uri)), None)


def get_audience(resource: str, client_id: str, public_url: str) -> str | None:
    """Return the audience of tokens for a service; ``None``: the REST API of this server."""
    return None if resource == public_url else resource or client_id


def _normalized(uri: str) -> tuple[str, str, str] | str:
    try:
        parts = urlsplit(uri)
    except ValueError:
        return uri
    return (
        parts.scheme.lower(),
        parts.netloc.lower(),
        uri.partition("//")[2][len(parts.netloc) :].rstrip("/"),
    )
