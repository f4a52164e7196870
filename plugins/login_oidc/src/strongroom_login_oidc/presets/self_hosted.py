"""Products that operators run themselves: plain OpenID Connect, with an issuer made of ``base_url``.

Sources of the issuers: https://docs.gitlab.com/integration/openid_connect_provider/,
https://www.keycloak.org/securing-apps/oidc-layers,
https://docs.goauthentik.io/add-secure-apps/providers/oauth2/ (the issuer mode by provider),
https://zitadel.com/docs/apis/openidoauth/endpoints,
https://docs.logto.io/integrate-logto/application-data-structure,
https://casdoor.org/docs/how-to-connect/oidc-client
"""

from typing import Final

from strongroom_login_oidc.presets.preset import Preset
from strongroom_login_oidc.provider_settings import ClaimNames

GITLAB: Final = Preset("GitLab", issuer="{base_url}", base_url="https://gitlab.com")

KEYCLOAK: Final = Preset("Keycloak", issuer="{base_url}/realms/{realm}")

# The issuer ends with a slash. Since 2025.10, authentik says of no address that it is verified.
AUTHENTIK: Final = Preset("authentik", issuer="{base_url}/application/o/{application}/")

# By default the ID token has no profile and no address.
ZITADEL: Final = Preset("ZITADEL", issuer="{base_url}", defaults={"userinfo": True})

LOGTO: Final = Preset("Logto", issuer="{base_url}/oidc")

# The claim "name" is the name that people log in with at Casdoor.
CASDOOR: Final = Preset(
    "Casdoor",
    issuer="{base_url}",
    defaults={"claims": ClaimNames(name="displayName", email_verified="emailVerified")},
)
