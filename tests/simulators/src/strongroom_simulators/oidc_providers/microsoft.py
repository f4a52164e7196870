"""Microsoft Entra ID: issuers by tenant, pairwise subjects, addresses that are not verified.

Source: https://learn.microsoft.com/entra/identity-platform/id-token-claims-reference
"""

from collections.abc import Mapping
from hashlib import sha256
from typing import ClassVar, Final

from flask import Response, jsonify, make_response

from strongroom_simulators.clock import AdjustableClock
from strongroom_simulators.oidc_providers.grants import Grant
from strongroom_simulators.oidc_providers.openid import OpenIdProvider
from strongroom_simulators.oidc_providers.refusals import STANDARD, ErrorAnswer, Reason, Refusal
from strongroom_simulators.oidc_providers.registry import Person

PERSONAL_TENANT: Final = "9188040d-6c67-4c5b-b112-36a304b66dad"
"""``tid`` of personal accounts."""

TEMPLATE: Final = "{tenantid}"


class Microsoft(OpenIdProvider):
    """One authority: ``common``, ``organizations``, ``consumers`` or the id of a tenant.

    A person has the claims ``tid`` and ``oid``. The subject in tokens is that of the person at one
    client. ``email`` is what an administrator of the tenant has written, and has no ``email_verified``.
    """

    name = "Microsoft"
    jwks_path = "/discovery/v2.0/keys"
    userinfo_path = "/oidc/userinfo"
    errors: ClassVar[Mapping[Reason, ErrorAnswer]] = {
        **STANDARD,
        Reason.CLIENT_WRONG: ErrorAnswer(
            "invalid_client", "AADSTS7000215: Invalid client secret provided.", 401
        ),
        Reason.CODE_UNKNOWN: ErrorAnswer("invalid_grant", "AADSTS9002313: Invalid request."),
        Reason.CODE_USED: ErrorAnswer(
            "invalid_grant", "AADSTS54005: OAuth2 Authorization code was already redeemed."
        ),
        Reason.CODE_EXPIRED: ErrorAnswer(
            "invalid_grant", "AADSTS70008: The provided authorization code has expired."
        ),
        Reason.VERIFIER_WRONG: ErrorAnswer(
            "invalid_grant", "AADSTS501481: The Code_Verifier does not match the code_challenge."
        ),
        Reason.ACCESS_DENIED: ErrorAnswer("access_denied", "AADSTS65004: User declined to consent."),
        Reason.AUDIENCE_WRONG: ErrorAnswer(
            "access_denied", "AADSTS50020: User account does not exist in the tenant."
        ),
    }

    def __init__(self, clock: AdjustableClock | None = None, *, tenant: str = "common") -> None:
        super().__init__(clock)
        self.tenant = tenant
        self.authorize_path = f"/{tenant}/oauth2/v2.0/authorize"
        self.token_path = f"/{tenant}/oauth2/v2.0/token"
        self.issuer_path = f"/{tenant}/v2.0"

    def issuer(self) -> str:
        """Return the issuer of discovery: a template for the authorities of several tenants."""
        named = {"common": TEMPLATE, "organizations": TEMPLATE, "consumers": PERSONAL_TENANT}
        return f"{self.url}/{named.get(self.tenant, self.tenant)}/v2.0"

    def token_issuer(self, person: Person) -> str:
        """Return the issuer of the person's tenant."""
        return f"{self.url}/{person.claims['tid']}/v2.0"

    def accepts(self, person: Person) -> bool:
        """Return whether the authority has the person's tenant."""
        tid = person.claims["tid"]
        if self.tenant == "organizations":
            return tid != PERSONAL_TENANT
        if self.tenant == "consumers":
            return tid == PERSONAL_TENANT
        return self.tenant in ("common", tid)

    def id_claims(self, grant: Grant) -> dict[str, object]:
        """Return the claims: a pairwise subject, and no ``email_verified``."""
        pairwise = sha256(f"{grant.client.id}/{grant.person.subject}".encode()).hexdigest()[:43]
        claims = {**super().id_claims(grant), "sub": pairwise, "ver": "2.0"}
        return {**claims, "email_verified": None, "preferred_username": grant.person.email}

    def refuse(self, refusal: Refusal) -> Response:
        """Add ``error_codes``, the numbers of the message."""
        answer = self.errors[refusal.reason]
        number = answer.description.removeprefix("AADSTS").partition(":")[0]
        members = {
            "error": answer.error,
            "error_description": answer.description,
            "error_codes": [int(number)] if number.isdigit() else [],
        }
        return make_response(jsonify(members), answer.status)
