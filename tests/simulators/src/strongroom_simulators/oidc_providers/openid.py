"""A provider of OpenID Connect: discovery, keys, ID tokens and userinfo."""

from base64 import urlsafe_b64encode
from collections.abc import Mapping
from hashlib import sha256, sha384
from typing import ClassVar, Final

from flask import Blueprint, Response, jsonify, request

from strongroom_simulators.clock import AdjustableClock
from strongroom_simulators.oidc_providers.grants import Grant
from strongroom_simulators.oidc_providers.provider import Provider, bearer_grant
from strongroom_simulators.oidc_providers.refusals import Reason, Refusal
from strongroom_simulators.oidc_providers.registry import Person
from strongroom_simulators.oidc_providers.signing import SigningKeys

ID_TOKEN_LIFETIME: Final = 600


class OpenIdProvider(Provider):
    """A provider with discovery at its issuer (OpenID Connect Core 1.0, Discovery 1.0)."""

    name = "OpenID Connect"
    authorize_path = "/authorize"
    token_path = "/token"
    jwks_path: ClassVar[str] = "/jwks"
    userinfo_path: ClassVar[str | None] = "/userinfo"
    issuer_path: str = ""
    algorithm: ClassVar[str] = "RS256"
    scopes = frozenset({"openid", "email", "profile", "offline_access"})
    response_modes: ClassVar[tuple[str, ...]] = ("query", "form_post")

    def __init__(self, clock: AdjustableClock | None = None) -> None:
        super().__init__(clock)
        self.keys = SigningKeys(self.algorithm)

    def issuer(self) -> str:
        """Return the issuer."""
        return self.url + self.issuer_path

    def routes(self) -> Blueprint:
        """Return discovery, keys and userinfo."""
        routes = Blueprint("openid", __name__)

        @routes.get(f"{self.issuer_path.rstrip('/')}/.well-known/openid-configuration")
        def discovery() -> Response:
            return jsonify(self.discovery())

        @routes.get(self.jwks_path)
        def jwks() -> Response:
            return jsonify(self.keys.published())

        if self.userinfo_path:
            routes.add_url_rule(self.userinfo_path, "userinfo", self._userinfo, methods=["GET", "POST"])
        return routes

    def discovery(self) -> dict[str, object]:
        """Return the metadata (OpenID Connect Discovery 1.0, 3)."""
        userinfo = {"userinfo_endpoint": f"{self.url}{self.userinfo_path}"} if self.userinfo_path else {}
        pkce = {"code_challenge_methods_supported": ["S256"]} if self.checks_pkce else {}
        return {
            "issuer": self.issuer(),
            "authorization_endpoint": self.url + self.authorize_path,
            "token_endpoint": self.url + self.token_path,
            "jwks_uri": self.url + self.jwks_path,
            **userinfo,
            **pkce,
            "scopes_supported": sorted(self.scopes),
            "response_types_supported": ["code"],
            "response_modes_supported": list(self.response_modes),
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": [self.algorithm],
            "token_endpoint_auth_methods_supported": list(self.client_methods),
            "authorization_response_iss_parameter_supported": self.sends_issuer,
        }

    def check_authorization(self, query: Mapping[str, str]) -> None:
        """Also require the scope ``openid``, and a response mode that exists."""
        super().check_authorization(query)
        if "openid" not in self.requested_scopes(query):
            raise Refusal(Reason.SCOPE_WRONG)
        if query.get("response_mode", "query") not in self.response_modes:
            raise Refusal(Reason.REQUEST_WRONG)

    def token_members(self, grant: Grant) -> dict[str, object]:
        """Add the ID token."""
        members = super().token_members(grant)
        return {**members, "id_token": self.id_token(grant, str(members["access_token"]))}

    def id_token(self, grant: Grant, access_token: str) -> str:
        """Return an ID token (OpenID Connect Core 1.0, 2 and 3.1.3.6)."""
        now = int(self.clock())
        claims = {
            "iss": self.token_issuer(grant.person),
            "aud": grant.client.id,
            "exp": now + ID_TOKEN_LIFETIME,
            "iat": now,
            "auth_time": int(grant.granted_at),
            "at_hash": self._half_hash(access_token),
            **({"nonce": grant.nonce} if grant.nonce is not None else {}),
            **self.id_claims(grant),
            **grant.person.claims,
        }
        return self.keys.sign({name: value for name, value in claims.items() if value is not None})

    def token_issuer(self, person: Person) -> str:
        """Return the issuer of an ID token."""
        return self.issuer()

    def id_claims(self, grant: Grant) -> dict[str, object]:
        """Return the claims about the person; ``None`` is left out."""
        return person_claims(grant)

    def _userinfo(self) -> Response:
        grant = bearer_grant(self, request.headers.get("Authorization"))
        claims = {**person_claims(grant), **grant.person.claims}
        return jsonify({name: value for name, value in claims.items() if value is not None})

    def _half_hash(self, text: str) -> str:
        digest = (sha384 if self.algorithm.endswith("384") else sha256)(text.encode()).digest()
        return urlsafe_b64encode(digest[: len(digest) // 2]).rstrip(b"=").decode()


def person_claims(grant: Grant) -> dict[str, object]:
    """Return the standard claims of the granted scopes (OpenID Connect Core 1.0, 5.4)."""
    person, email = grant.person, "email" in grant.scope and grant.person.email is not None
    return {
        "sub": person.subject,
        "name": person.name if "profile" in grant.scope else None,
        "email": person.email if email else None,
        "email_verified": person.is_verified if email else None,
    }
