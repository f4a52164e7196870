"""Clients that register themselves (RFC 7591), which is off by default."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from hmac import compare_digest
from typing import Any, Final
from urllib.parse import urlsplit

from flask import Response, request
from sqlalchemy import delete, exists, select

from strongroom.plugin_api.host import HostAPI
from strongroom.plugin_api.web import ApiError
from strongroom_oidc_provider.clients.clients import Clients
from strongroom_oidc_provider.clients.names import read_name
from strongroom_oidc_provider.clients.redirect_uris import MAX_LENGTH, find_fault
from strongroom_oidc_provider.documents.client import get_described_resources
from strongroom_oidc_provider.errors import TOO_MANY
from strongroom_oidc_provider.json_responses import make_response
from strongroom_oidc_provider.models import Client, clients, consents
from strongroom_oidc_provider.oauth.client import SECRET_METHODS
from strongroom_oidc_provider.options import OFF, TOKEN

KEPT: Final = 24 * 60 * 60 * 1000
"""How long a client without a consent is kept, in milliseconds."""

_GRANTS: Final = ("authorization_code", "refresh_token")
_METHODS: Final = (*SECRET_METHODS, "none")
_MAX_URIS: Final = 10

Json = dict[str, Any]


class RegistrationRefused(Exception):
    """A request is refused.

    Args:
        error: of RFC 7591, section 3.2.2, or of RFC 6750.
        description: what is wrong.
    """

    def __init__(self, error: str, description: str, status: int = 400) -> None:
        super().__init__(description)
        self.error = error
        self.status = status


@dataclass(slots=True, eq=False, repr=False)
class Registrations:
    """Registers clients at their own request, and deletes those that no user consents to."""

    _host: HostAPI

    def answer(self) -> Response:
        """Return the response to the current request."""
        try:
            self._require_access()
            rates = self._host.options.registrations_per_address
            self._host.limits.check_rate("registrations", rates)
            metadata = _read_body()
            client, secret = self._create(metadata)
        except RegistrationRefused as refusal:
            body = {"error": refusal.error, "error_description": str(refusal)}
            challenge = 'Bearer error="invalid_token"' if refusal.error == "invalid_token" else None
            return make_response(refusal.status, body, challenge, stored=False)
        return make_response(201, _describe(client, metadata, secret), stored=False)

    def prune(self) -> int:
        """Delete clients that no user has consented to within a day; return their number."""
        consented = exists(select(consents.c.user_id).where(consents.c.client_id == clients.c.id))
        condition = (
            clients.c.is_self_registered.is_(True),
            clients.c.created_at <= self._host.clock.now() - KEPT,
            ~consented,
        )
        with self._host.database.write() as tx:
            return tx.execute(delete(clients).where(*condition))

    def _require_access(self) -> None:
        options = self._host.options
        if options.registration == OFF:
            raise RegistrationRefused("access_denied", "Clients cannot register themselves.", 403)
        scheme, _, token = request.headers.get("Authorization", "").partition(" ")
        expected = (options.registration_token or "").encode()
        is_valid = scheme.lower() == "bearer" and compare_digest(token.strip().encode(), expected)
        if options.registration == TOKEN and not is_valid:
            raise RegistrationRefused("invalid_token", "The initial access token is invalid.", 401)

    def _create(self, metadata: Mapping[str, Any]) -> tuple[Client, str | None]:
        method = _require_method(metadata)
        body = {
            "name": _require_name(metadata),
            "redirectUris": _require_uris(metadata, is_public=method == "none"),
            "public": method == "none",
            "trusted": False,
            "scopes": self._find_scopes(metadata),
            "resources": list(get_described_resources(self._host)),
            "postLogoutRedirectUris": [],
        }
        try:
            return self._host.get_service(Clients).create(body, is_self_registered=True)
        except ApiError as error:
            if error.code != TOO_MANY.code:
                raise
            fault = "The server has its maximum of clients."
            raise RegistrationRefused("temporarily_unavailable", fault, 503) from error

    def _find_scopes(self, metadata: Mapping[str, Any]) -> list[str]:
        allowed, scope = self._host.options.client_document_scopes, metadata.get("scope")
        if scope is None:
            return list(allowed)
        if not isinstance(scope, str):
            raise _invalid("scope must be a text.")
        return [each for each in allowed if each in scope.split()]


def _read_body() -> Mapping[str, Any]:
    try:
        metadata = json.loads(request.get_data())
    except (ValueError, RecursionError):
        metadata = None
    if not isinstance(metadata, dict):
        raise _invalid("The body must be a JSON object.")
    if "software_statement" in metadata:
        raise RegistrationRefused(
            "unapproved_software_statement", "Software statements are not accepted."
        )
    return metadata


def _require_method(metadata: Mapping[str, Any]) -> str:
    method = metadata.get("token_endpoint_auth_method", _METHODS[0])
    if method not in _METHODS:
        raise _invalid(f"token_endpoint_auth_method must be one of {', '.join(_METHODS)}.")
    grants, types = metadata.get("grant_types", [_GRANTS[0]]), metadata.get("response_types", ["code"])
    if (
        not isinstance(grants, list)
        or _GRANTS[0] not in grants
        or any(it not in _GRANTS for it in grants)
    ):
        raise _invalid(f"grant_types must be of {', '.join(_GRANTS)}.")
    if types != ["code"]:
        raise _invalid("response_types must be code.")
    return str(method)


def _require_name(metadata: Mapping[str, Any]) -> str:
    name = read_name(metadata.get("client_name"))
    if name is None:
        raise _invalid("client_name is missing or invalid.")
    return name


def _require_uris(metadata: Mapping[str, Any], *, is_public: bool) -> list[str]:
    """Return the redirect URIs, which the type of the application decides about."""
    uris, kind = metadata.get("redirect_uris"), metadata.get("application_type", "web")
    if kind not in ("web", "native"):
        raise _invalid("application_type must be web or native.")
    if not isinstance(uris, list) or not 0 < len(uris) <= _MAX_URIS:
        raise _invalid_uri(f"redirect_uris must have 1 to {_MAX_URIS} URIs.")
    for uri in uris:
        if not isinstance(uri, str) or len(uri) > MAX_LENGTH:
            raise _invalid_uri("A redirect URI is invalid.")
        if fault := find_fault(uri, is_public=is_public):
            raise _invalid_uri(fault)
        if (urlsplit(uri).scheme == "https") != (kind == "web"):
            raise _invalid_uri(
                "application_type web has https URLs, native has loopback URLs or schemes."
            )
    return uris


def _describe(client: Client, metadata: Mapping[str, Any], secret: str | None) -> Json:
    described: Json = {
        "client_id": client.id,
        "client_id_issued_at": client.created_at // 1000,
        "client_name": client.name,
        "redirect_uris": list(client.redirect_uris),
        "application_type": metadata.get("application_type", "web"),
        "grant_types": metadata.get("grant_types", [_GRANTS[0]]),
        "response_types": ["code"],
        "scope": " ".join(client.scopes),
        "token_endpoint_auth_method": metadata.get("token_endpoint_auth_method", _METHODS[0]),
    }
    # Zero: the secret does not expire.
    return (
        described
        if secret is None
        else {**described, "client_secret": secret, "client_secret_expires_at": 0}
    )


def _invalid(description: str) -> RegistrationRefused:
    return RegistrationRefused("invalid_client_metadata", description)


def _invalid_uri(description: str) -> RegistrationRefused:
    return RegistrationRefused("invalid_redirect_uri", description)
