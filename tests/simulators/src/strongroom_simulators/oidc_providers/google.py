"""Google: ``hd`` in ID tokens of Workspace accounts, and addresses that Google does not own.

Source: https://developers.google.com/identity/openid-connect/openid-connect
"""

from strongroom_simulators.oidc_providers.openid import OpenIdProvider


class Google(OpenIdProvider):
    """Accounts of Google.

    The parameter ``hd`` of a request chooses accounts on Google's page only. A user can change it, so
    here it does nothing. ``hd`` in the ID token is a claim of the person.
    """

    name = "Google"
    authorize_path = "/o/oauth2/v2/auth"
    token_path = "/token"
    jwks_path = "/oauth2/v3/certs"
    userinfo_path = "/v1/userinfo"
    scopes = frozenset({"openid", "email", "profile"})
    sends_issuer = True
