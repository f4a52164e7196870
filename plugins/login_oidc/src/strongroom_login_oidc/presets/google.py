"""Google, with personal accounts and accounts of Workspace organisations.

``email_verified`` alone proves little: it is also true for an account with an address of another
company, whose owner may have changed since. Google is authoritative for addresses of gmail.com and for
accounts with ``hd`` only. ``hd`` in a request chooses accounts on Google's page, and a person can remove
it there, so the ID token's counts.

Source: https://developers.google.com/identity/sign-in/web/backend-auth and
https://developers.google.com/identity/openid-connect/openid-connect#id_token-hd
"""

from collections.abc import Mapping
from typing import Final

from strongroom_login_oauth.errors import EmailNotAllowed
from strongroom_login_oauth.provider import Start
from strongroom_login_oidc.id_token import Claims
from strongroom_login_oidc.presets.preset import Preset
from strongroom_login_oidc.provider import OIDCProvider

GMAIL: Final = "gmail.com"


class GoogleProvider(OIDCProvider):
    """Accounts of Google; ``allowed_domains`` also has the Workspace domains that may log in."""

    def request_parameters(self, start: Start) -> Mapping[str, str]:  # noqa: ARG002  for overriding
        """Show the accounts of the only allowed domain."""
        domains = self.options.allowed_domains
        return {"hd": domains[0]} if len(domains) == 1 and domains[0] != GMAIL else {}

    def verified_email(self, claims: Claims) -> str | None:
        """Return the address if Google is authoritative for it."""
        email = super().verified_email(claims)
        is_own = email is not None and email.lower().endswith(f"@{GMAIL}")
        return email if is_own or _organisation(claims) else None

    def check_person(self, claims: Claims) -> None:
        """Require that the account belongs to an allowed organisation, or to none.

        Raises:
            EmailNotAllowed: the account belongs to another organisation.
        """
        domains, organisation = self.options.allowed_domains, claims.get("hd")
        if domains and organisation is not None and organisation not in domains:
            raise EmailNotAllowed("the account belongs to another organisation")


def _organisation(claims: Claims) -> str | None:
    domain = claims.get("hd")
    return domain if isinstance(domain, str) and domain else None


GOOGLE: Final = Preset("Google", GoogleProvider, issuer="https://accounts.google.com")
