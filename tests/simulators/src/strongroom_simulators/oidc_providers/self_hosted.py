"""Products that operators run themselves; each follows OpenID Connect, with its own paths and claims.

Sources: https://docs.gitlab.com/integration/openid_connect_provider/,
https://www.keycloak.org/securing-apps/oidc-layers,
https://docs.goauthentik.io/add-secure-apps/providers/oauth2/,
https://zitadel.com/docs/apis/openidoauth/endpoints, https://docs.logto.io/, https://casdoor.org/docs/
"""

from typing import Final

from strongroom_simulators.oidc_providers.grants import Grant
from strongroom_simulators.oidc_providers.openid import OpenIdProvider


class GitLab(OpenIdProvider):
    """GitLab: subjects are numbers."""

    name = "GitLab"
    authorize_path = "/oauth/authorize"
    token_path = "/oauth/token"
    jwks_path = "/oauth/discovery/keys"
    userinfo_path = "/oauth/userinfo"


class Keycloak(OpenIdProvider):
    """Keycloak: one issuer for each realm, and ``iss`` in the redirect."""

    name = "Keycloak"
    issuer_path = "/realms/staff"
    authorize_path = "/realms/staff/protocol/openid-connect/auth"
    token_path = "/realms/staff/protocol/openid-connect/token"
    jwks_path = "/realms/staff/protocol/openid-connect/certs"
    userinfo_path = "/realms/staff/protocol/openid-connect/userinfo"
    client_methods = ("client_secret_basic", "client_secret_post", "private_key_jwt")
    sends_issuer = True


class Authentik(OpenIdProvider):
    """authentik: the issuer ends with a slash, and addresses are unverified by default since 2025.10."""

    name = "authentik"
    issuer_path = "/application/o/strongroom/"
    authorize_path = "/application/o/authorize/"
    token_path = "/application/o/token/"
    jwks_path = "/application/o/strongroom/jwks/"
    userinfo_path = "/application/o/userinfo/"

    def id_claims(self, grant: Grant) -> dict[str, object]:
        """Return the claims of the default mapping of scopes."""
        return {**super().id_claims(grant), "email_verified": False}


class Zitadel(OpenIdProvider):
    """ZITADEL: profile and address are in userinfo, and not in the ID token by default."""

    name = "ZITADEL"
    authorize_path = "/oauth/v2/authorize"
    token_path = "/oauth/v2/token"
    jwks_path = "/oauth/v2/keys"
    userinfo_path = "/oidc/v1/userinfo"

    def id_claims(self, grant: Grant) -> dict[str, object]:
        """Return the subject."""
        return {"sub": grant.person.subject}


class Logto(OpenIdProvider):
    """Logto: tokens are signed with ES384, and the issuer is a path of the endpoint."""

    name = "Logto"
    issuer_path = "/oidc"
    authorize_path = "/oidc/auth"
    token_path = "/oidc/token"
    jwks_path = "/oidc/jwks"
    userinfo_path = "/oidc/me"
    algorithm = "ES384"
    sends_issuer = True


class Casdoor(OpenIdProvider):
    """Casdoor: ``name`` is the name to log in with, ``displayName`` that of the person."""

    name = "Casdoor"
    authorize_path = "/login/oauth/authorize"
    token_path = "/api/login/oauth/access_token"
    jwks_path = "/.well-known/jwks"
    userinfo_path = "/api/userinfo"

    def id_claims(self, grant: Grant) -> dict[str, object]:
        """Return the claims in the spelling of Casdoor."""
        claims = super().id_claims(grant)
        verified = claims.pop("email_verified")
        own = {"owner": "built-in", "displayName": grant.person.name, "emailVerified": verified}
        return {**claims, **own, "name": grant.person.id, "aud": [grant.client.id]}


SELF_HOSTED: Final[tuple[type[OpenIdProvider], ...]] = (
    GitLab, Keycloak, Authentik, Zitadel, Logto, Casdoor
)  # fmt: skip
