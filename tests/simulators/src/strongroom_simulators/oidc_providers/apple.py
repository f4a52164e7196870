"""Apple: answers by form post, client secrets that are signed, and the name that comes once.

Source: https://developer.apple.com/documentation/signinwithapplerestapi
"""

import json
from collections.abc import Mapping
from typing import ClassVar, Final

from strongroom_simulators.clock import AdjustableClock
from strongroom_simulators.oidc_providers.client_authentication import verified_claims
from strongroom_simulators.oidc_providers.grants import Grant
from strongroom_simulators.oidc_providers.openid import OpenIdProvider
from strongroom_simulators.oidc_providers.refusals import STANDARD, ErrorAnswer, Reason, Refusal
from strongroom_simulators.oidc_providers.registry import Person, RegisteredClient

MOST_SECONDS: Final = 15_777_000
"""How long a client secret is valid at most: six months, in seconds."""


class Apple(OpenIdProvider):
    """Accounts of Apple.

    A request for the name or the address needs ``response_mode=form_post``. The name is in the form
    field ``user``, and only when a person agrees for the first time.
    """

    name = "Apple"
    authorize_path = "/auth/authorize"
    token_path = "/auth/token"
    jwks_path = "/auth/keys"
    userinfo_path = None
    scopes = frozenset({"openid", "email", "name"})
    code_lifetime = 300
    checks_pkce = False
    client_methods = ("client_secret_post",)
    errors: ClassVar[Mapping[Reason, ErrorAnswer]] = {
        **STANDARD,
        Reason.CLIENT_WRONG: ErrorAnswer("invalid_client", "", 400),
        Reason.ACCESS_DENIED: ErrorAnswer("user_cancelled_authorize", ""),
    }

    def __init__(self, clock: AdjustableClock | None = None) -> None:
        super().__init__(clock)
        self._agreed: set[tuple[str, str]] = set()

    def check_authorization(self, query: Mapping[str, str]) -> None:
        """Also require the form post for scopes."""
        super().check_authorization(query)
        if self.requested_scopes(query) - {"openid"} and query.get("response_mode") != "form_post":
            raise Refusal(Reason.REQUEST_WRONG)

    def approve(self, query: Mapping[str, str], person: Person) -> dict[str, str]:
        """Add the field ``user`` when the person agrees for the first time."""
        answer = super().approve(query, person)
        if (query["client_id"], person.id) in self._agreed or "name" not in self.requested_scopes(query):
            return answer
        self._agreed.add((query["client_id"], person.id))
        first, _, last = person.name.partition(" ")
        user = {"name": {"firstName": first, "lastName": last}, "email": person.email}
        return {**answer, "user": json.dumps(user, ensure_ascii=False)}

    def authenticate(self, form: Mapping[str, str], authorization: str | None) -> RegisteredClient:
        """Return the client whose signed secret is right.

        Raises:
            Refusal: it is not, or is valid for more than six months.
        """
        client = self.clients.get(form.get("client_id", ""))
        if client is None or authorization is not None:
            raise Refusal(Reason.CLIENT_WRONG)
        claims = verified_claims(form.get("client_secret", ""), client.public_key, key_id=client.key_id)
        now = self.clock()
        right = {"iss": client.team_id, "sub": client.id, "aud": self.issuer()}
        exp = claims.get("exp")
        if right.items() <= claims.items() and isinstance(exp, int) and now < exp <= now + MOST_SECONDS:
            return client
        raise Refusal(Reason.CLIENT_WRONG)

    def id_claims(self, grant: Grant) -> dict[str, object]:
        """Return the claims: no name, and texts in place of booleans."""
        claims = super().id_claims(grant)
        if claims["email"] is None:
            return claims
        is_relay = str(claims["email"]).endswith("@privaterelay.appleid.com")
        verified = "true" if claims["email_verified"] else "false"
        return {**claims, "email_verified": verified, "is_private_email": str(is_relay).lower()}
