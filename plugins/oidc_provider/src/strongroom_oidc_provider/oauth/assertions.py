"""Authentication of clients by signed assertions: ``private_key_jwt`` (RFC 7523, section 3)."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from authlib.oauth2.rfc6749 import InvalidClientError
from joserfc import jws, jwt
from joserfc.errors import JoseError
from joserfc.jwk import KeySet

from strongroom.plugin_api.host import HostAPI
from strongroom_oidc_provider.documents.client import DocumentClient
from strongroom_oidc_provider.documents.lookup import ClientLookup
from strongroom_oidc_provider.oauth.requests import ProviderRequest

ALGORITHMS: Final = ("RS256", "PS256", "ES256", "ES384", "EdDSA")
TYPE: Final = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
SECONDS: Final = 600
"""The longest time until the end of an assertion."""

_MAX_LENGTH: Final = 8192
_MAX_JTI: Final = 255


@dataclass(slots=True, eq=False, repr=False)
class Assertions:
    """Verifies assertions, each for one use."""

    _host: HostAPI

    def authenticate(self, find: Any, request: ProviderRequest) -> Any:
        """Authenticate a client; ``None`` without an assertion.

        Raises:
            InvalidClientError: the assertion is invalid.
        """
        form = request.form
        assertion = form.get("client_assertion")
        if assertion is None or form.get("client_assertion_type") != TYPE:
            return None
        if "client_secret" in form or request.headers.get("Authorization"):
            raise InvalidClientError("The request has two ways of authentication.")
        client_id = _read_issuer(assertion)
        if form.get("client_id", client_id) != client_id:
            raise InvalidClientError("The assertion is of another client.")
        client = find(client_id)
        if client is None or not isinstance(client.client, DocumentClient) or client.client.is_public:
            return None
        self._consume(client_id, self._verify(assertion, client.client))
        return client

    def _verify(self, assertion: str, client: DocumentClient) -> Mapping[str, Any]:
        keys = self._host.get_service(ClientLookup).get_keys(client)
        try:
            token = jwt.decode(assertion, KeySet.import_key_set(keys), algorithms=list(ALGORITHMS))  # type: ignore[arg-type]
        except (JoseError, ValueError, KeyError, TypeError) as error:
            raise InvalidClientError("The signature of the assertion is invalid.") from error
        return token.claims

    def _consume(self, client_id: str, claims: Mapping[str, Any]) -> None:
        now, end, jti = self._host.clock.now() // 1000, claims.get("exp"), claims.get("jti")
        if claims.get("iss") != client_id or claims.get("sub") != client_id:
            raise InvalidClientError("The assertion is of another client.")
        if not self._is_audience(claims.get("aud")):
            raise InvalidClientError("The assertion is for another server.")
        if type(end) is not int or not now < end <= now + SECONDS:
            raise InvalidClientError("The assertion has expired, or lasts too long.")
        if not isinstance(jti, str) or not 0 < len(jti) <= _MAX_JTI:
            raise InvalidClientError("The assertion has no id.")
        subject = self._host.secrets.keyed_hash(f"{client_id} {jti}")
        if not self._host.limits.count_attempt("assertions", [(subject, 1)], seconds=SECONDS):
            raise InvalidClientError("The assertion has been used.")

    def _is_audience(self, audience: Any) -> bool:
        values = audience if isinstance(audience, list) else [audience]
        issuer = self._host.signing.issuer
        return any(value in (issuer, f"{issuer}/oauth2/token") for value in values)


def _read_issuer(assertion: str) -> str:
    """Return the client that an assertion claims to be of."""
    try:
        content = jws.extract_compact(assertion.encode()) if len(assertion) <= _MAX_LENGTH else None
        issuer = _load(content.payload) if content else None
    except (JoseError, ValueError, RecursionError):
        issuer = None
    if issuer is None:
        raise InvalidClientError("The assertion is malformed.")
    return issuer


def _load(payload: bytes) -> str | None:
    claims = json.loads(payload)
    issuer = claims.get("iss") if isinstance(claims, dict) else None
    return issuer if isinstance(issuer, str) else None
