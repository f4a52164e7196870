"""A client that a document describes."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit

from strongroom.plugin_api.host import HostAPI
from strongroom_oidc_provider.clients.names import read_name
from strongroom_oidc_provider.clients.redirect_uris import find_fault, has_dot_segment
from strongroom_oidc_provider.documents.errors import DocumentRefused
from strongroom_oidc_provider.models import Client

MAX_ID: Final = 255
"""The longest id, in characters: the audit log has no longer one."""

PRIVATE_KEY_JWT: Final = "private_key_jwt"
_METHODS: Final = ("none", PRIVATE_KEY_JWT)
_MAX_URIS: Final = 50
_ID: Final = re.compile(
    r"https://(?P<host>[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?|\[[0-9a-f:.]+\])(?::[0-9]{1,5})?"
    r"(?P<path>/[A-Za-z0-9._~!$&'()*+,;=:@%/-]*)(?:\?[A-Za-z0-9._~!$&'()*+,;=:@%/?-]*)?"
)
_LOOPBACK: Final = re.compile(
    r"(?P<origin>http://(?:127\.0\.0\.1|\[::1\]|localhost))(?::[0-9]{1,5})?(?P<path>(?:/[!\"$-~]*)?)"
)


@dataclass(frozen=True, slots=True)
class DocumentClient(Client):
    """A client of a document.

    Args:
        host: the host of its id, which alone proves who it is.
        own_name: what it calls itself.
        keys: the public keys that it signs with: the member ``keys`` of a JSON Web Key Set; a URL of the
            set; ``None``: it does not authenticate.
    """

    host: str = ""
    own_name: str = ""
    keys: Mapping[str, Any] | str | None = None

    @property
    def is_local(self) -> bool:
        """Whether any program of the user's computer could be this client."""
        return all(_LOOPBACK.fullmatch(uri) for uri in self.redirect_uris)


def require_id(client_id: str, public_url: str) -> str:
    """Return the host of the id of a client.

    Raises:
        DocumentRefused: it is no acceptable id.
    """
    match = _ID.fullmatch(client_id) if len(client_id) <= MAX_ID else None
    if match is None or has_dot_segment(match["path"]):
        raise DocumentRefused("client_id must be an https URL with a path.")
    # Users upload files here, which must not speak for this server.
    if match["host"] == urlsplit(public_url).hostname:
        raise DocumentRefused("client_id must be a URL of another server.")
    return match["host"]


def find_listed(uri: str, client: DocumentClient) -> str | None:
    """Return the redirect URI of a document that a request names; ``None`` if it names none.

    Any port of the loopback interface is one, also if the document names another: apps listen on a free
    port (RFC 8252, section 7.3).
    """
    if uri in client.redirect_uris:
        return uri
    requested = _LOOPBACK.fullmatch(uri) if client.is_public else None
    if requested is None:
        return None
    matches = {each: _LOOPBACK.fullmatch(each) for each in client.redirect_uris}
    key = requested["origin"] + requested["path"]
    return next((each for each, it in matches.items() if it and it["origin"] + it["path"] == key), None)


def read_client(host: HostAPI, client_id: str, document: Mapping[str, Any]) -> DocumentClient:
    """Return the client of a document.

    Raises:
        DocumentRefused: the document is invalid.
    """
    if document.get("client_id") != client_id:
        raise DocumentRefused("client_id of the document is not its URL.")
    method = _require_method(document)
    own_name = _require_name(document)
    domain = require_id(client_id, host.public_url)
    is_public = method == "none"
    return DocumentClient(
        id=client_id,
        name=f"{domain} ({own_name})"[:255],
        is_public=is_public,
        is_trusted=False,
        redirect_uris=_require_uris(document, "redirect_uris", is_public=is_public),
        scopes=host.options.client_document_scopes,
        resources=get_described_resources(host),
        post_logout_redirect_uris=_read_uris(document, "post_logout_redirect_uris", is_public=is_public),
        is_self_registered=True,
        host=domain,
        own_name=own_name,
        keys=None if is_public else _require_keys(document, domain),
    )


def get_described_resources(host: HostAPI) -> tuple[str, ...]:
    """Return the URIs of the services of clients that administrators have not registered."""
    resources = host.options.client_document_resources
    return tuple(f"{host.public_url}{item}" if item.startswith("/") else item for item in resources)


def _require_method(document: Mapping[str, Any]) -> str:
    if "client_secret" in document or "client_secret_expires_at" in document:
        raise DocumentRefused("A document must not have a secret.")
    method = document.get("token_endpoint_auth_method", "none")
    if method not in _METHODS:
        raise DocumentRefused("token_endpoint_auth_method must be none or private_key_jwt.")
    for member, value in (("grant_types", "authorization_code"), ("response_types", "code")):
        values = document.get(member, [value])
        if not isinstance(values, list) or value not in values:
            raise DocumentRefused(f"{member} must have {value}.")
    return str(method)


def _require_name(document: Mapping[str, Any]) -> str:
    name = read_name(document.get("client_name"))
    if name is None:
        raise DocumentRefused("client_name is missing or invalid.")
    return name


def _require_uris(document: Mapping[str, Any], member: str, *, is_public: bool) -> tuple[str, ...]:
    uris = _read_uris(document, member, is_public=is_public)
    if not uris:
        raise DocumentRefused(f"{member} has no acceptable URI.")
    return uris


def _read_uris(document: Mapping[str, Any], member: str, *, is_public: bool) -> tuple[str, ...]:
    """Return the acceptable URIs: a document lists those for other servers, too."""
    uris = document.get(member, [])
    if not isinstance(uris, list) or len(uris) > _MAX_URIS:
        raise DocumentRefused(f"{member} must be a list of at most {_MAX_URIS} URIs.")
    texts = [uri for uri in uris if isinstance(uri, str)]
    return tuple(uri for uri in texts if find_fault(uri, is_public=is_public) is None)


def _require_keys(document: Mapping[str, Any], host: str) -> Mapping[str, Any] | str:
    keys, uri = document.get("jwks"), document.get("jwks_uri")
    if isinstance(keys, dict) and uri is None:
        return keys
    match = _ID.fullmatch(uri) if isinstance(uri, str) and keys is None else None
    if match is None or match["host"] != host:
        raise DocumentRefused("private_key_jwt needs jwks, or jwks_uri of the same host.")
    return str(uri)
