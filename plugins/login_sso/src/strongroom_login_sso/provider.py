"""The provider of a tenant, as the login by OpenID Connect uses it."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final

from strongroom.plugin_api.login import Credential
from strongroom_login_oauth.errors import EmailNotAllowed
from strongroom_login_oauth.provider import Answer, Identity
from strongroom_login_oidc.id_token import Claims
from strongroom_login_oidc.presets.google import GOOGLE, GoogleProvider
from strongroom_login_oidc.provider import Environment, OIDCProvider
from strongroom_login_oidc.provider_settings import ClaimNames, ProviderSettings
from strongroom_login_sso.models import TenantProvider

KIND: Final = "sso"
"""The kind of credentials with the value ``provider id:sub``."""


class SpaceProvider(OIDCProvider):
    """An identity provider of one tenant, whose people have an address in a domain of the tenant."""

    addresses_verified: bool = False
    """Whether addresses without ``email_verified`` count as verified."""

    has_proven: Callable[[str], bool] = staticmethod(lambda _: False)
    """Returns whether the tenant has proven the domain of an address now."""

    def verified_email(self, claims: Claims) -> str | None:
        """Return the address that counts as verified: never one that is stated to be unverified."""
        name = self.options.claims.email_verified
        if self.addresses_verified and name not in claims:
            claims = {**claims, name: True}
        return super().verified_email(claims)

    def identify(self, answer: Answer) -> Identity:
        """Return the identity, whose credential is of this provider alone.

        Raises:
            EmailNotAllowed: it has no verified address in a domain that the tenant has proven.
        """
        identity = super().identify(answer)
        addresses = [contact.credential.value for contact in identity.contacts]
        if not addresses or not all(map(self.has_proven, addresses)):
            raise EmailNotAllowed("the ID token has no verified address in a proven domain")
        return replace(identity, credential=Credential(KIND, identity.credential.value))


class GoogleSpaceProvider(SpaceProvider, GoogleProvider):
    """Google Workspace: only accounts of an organisation, because Google owns no other address."""


def make_settings(row: TenantProvider, secret: str) -> ProviderSettings:
    """Return the settings of a provider.

    Raises:
        ValueError: one is invalid; the message names it.
    """
    names: Mapping[str, Any] = dict(row.claims)
    return ProviderSettings(
        issuer=row.issuer,
        client_id=row.client_id,
        client_secret=secret,
        scopes=tuple(row.scopes),
        claims=ClaimNames(**names),
        trust_email=True,
        # Second factors are the server's: a tenant must not decide that its provider has checked one.
        label=row.label,
    )


def make_provider(
    row: TenantProvider, secret: str, environment: Environment, has_proven: Callable[[str], bool]
) -> SpaceProvider:
    """Return the provider of a row; raises as :func:`make_settings`.

    Args:
        has_proven: returns whether the tenant has proven the domain of an address.
    """
    kind = GoogleSpaceProvider if row.issuer == GOOGLE.issuer else SpaceProvider
    provider = kind(row.id, make_settings(row, secret), environment)
    provider.addresses_verified, provider.has_proven = row.addresses_verified, has_proven
    return provider
