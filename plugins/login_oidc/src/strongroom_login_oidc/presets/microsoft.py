"""Microsoft Entra ID, and personal accounts of Microsoft.

- The issuer of tokens has the tenant of the person. The discovery document of an authority of several
  tenants has the template ``{tenantid}`` in its place.
- A person is ``(tid, oid)``. ``sub`` differs in each client. A guest has one in each tenant.
- An administrator of any tenant can write any address into ``email`` (the attack "nOAuth"), and
  Microsoft does not say which addresses are verified. So none counts.

Source: https://learn.microsoft.com/entra/identity-platform/id-token-claims-reference and
https://learn.microsoft.com/entra/identity-platform/migrate-off-email-claim-authorization
"""

import re
from typing import Final

from strongroom_login_oauth.errors import AnswerInvalid, NotMember
from strongroom_login_oidc.id_token import Claims, check_issuer
from strongroom_login_oidc.presets.preset import Preset
from strongroom_login_oidc.provider import OIDCProvider
from strongroom_login_oidc.provider_settings import ProviderSettings

PERSONAL: Final = "9188040d-6c67-4c5b-b112-36a304b66dad"
"""The tenant of personal accounts."""

AUTHORITIES: Final = {"common": "{tenantid}", "organizations": "{tenantid}", "consumers": PERSONAL}
"""The tenant in the issuer of an authority's discovery document."""

_ID: Final = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.ASCII)


class MicrosoftProvider(OIDCProvider):
    """Accounts of one authority: a tenant, ``organizations``, ``consumers`` or ``common``."""

    def discovery_issuer(self) -> str:
        """Return the issuer of the authority, which is a template for several tenants."""
        return self._get_issuer(AUTHORITIES.get(self._authority, self._authority))

    def check_token_issuer(self, claims: Claims) -> None:
        """Require the issuer of the token's tenant."""
        check_issuer(claims, self._get_issuer(_id(claims, "tid")))

    def check_person(self, claims: Claims) -> None:
        """Require that the authority and ``tenants`` have the person's tenant.

        Raises:
            NotMember: they do not.
        """
        tenant, allowed = _id(claims, "tid"), self.options.tenants
        is_of_authority = {
            "common": True,
            "organizations": tenant != PERSONAL,
            "consumers": tenant == PERSONAL,
        }.get(self._authority, tenant == self._authority)
        if not is_of_authority or (allowed and tenant not in allowed):
            raise NotMember("the account belongs to another tenant")

    def subject(self, claims: Claims) -> str:
        """Return ``tid:oid``, which is one person in all clients."""
        return f"{_id(claims, 'tid')}:{_id(claims, 'oid')}"

    def verified_email(self, claims: Claims) -> str | None:  # noqa: ARG002  for overriding
        """Return ``None``, because Microsoft verifies no address."""
        return None

    @property
    def _authority(self) -> str:
        return self.options.tenant or "common"

    def _get_issuer(self, tenant: str) -> str:
        return f"{self.options.base_url}/{tenant}/v2.0"


class MicrosoftPreset(Preset):
    """The preset of Microsoft, whose options have rules of their own."""

    __slots__ = ()

    def check(self, options: ProviderSettings) -> None:
        """Also check tenants, and refuse options that trust addresses."""
        super().check(options)
        if options.trust_email or options.allowed_domains:
            name = "trust_email" if options.trust_email else "allowed_domains"
            raise ValueError(f"{name}: Microsoft verifies no addresses; see tenants")
        if options.tenant not in (None, *AUTHORITIES) and not _ID.fullmatch(str(options.tenant)):
            raise ValueError("tenant: must be the id of a tenant, common, organizations or consumers")
        for tenant in options.tenants:
            if not _ID.fullmatch(tenant):
                raise ValueError("tenants: must be ids in lowercase, like 9188040d-6c67-...")


def _id(claims: Claims, name: str) -> str:
    value = claims.get(name)
    if not isinstance(value, str) or not _ID.fullmatch(value):
        raise AnswerInvalid(f"{name} is no id of Microsoft")
    return value


MICROSOFT: Final = MicrosoftPreset(
    "Microsoft",
    MicrosoftProvider,
    issuer="{base_url}/{tenant}/v2.0",
    base_url="https://login.microsoftonline.com",
    optional=("tenants",),
    defaults={"tenant": "common"},
)
