"""Apple.

- A request for the name or the address needs ``response_mode=form_post``: the answer is a POST from
  another site.
- The client secret is a token that the client signs with its key (ES256). It is made for each request,
  so that none is stored and none ends unnoticed after six months.
- The name is in the form field ``user``, the first time only, and unsigned: it is only a name.
- The address may be a relay of Apple; ``email_verified`` may be the text ``"true"``.

Source: https://developer.apple.com/documentation/signinwithapplerestapi and
https://developer.apple.com/documentation/accountorganizationaldatasharing/creating-a-client-secret
"""

from collections.abc import Mapping
from typing import Final

from joserfc import jwt
from joserfc.jwk import ECKey

from strongroom_login_oauth.client_authentication import POST
from strongroom_login_oauth.provider import Answer, Start
from strongroom_login_oauth.strict_json import parse_object
from strongroom_login_oidc.exchange import ClientKeys
from strongroom_login_oidc.id_token import Claims
from strongroom_login_oidc.presets.preset import Preset
from strongroom_login_oidc.private_keys import read_private_key
from strongroom_login_oidc.provider import OIDCProvider

SECRET_SECONDS: Final = 300
"""How long a client secret is valid; Apple accepts six months."""

MAX_NAME: Final = 255


class AppleProvider(OIDCProvider):
    """Accounts of Apple."""

    form_post = True

    def request_parameters(self, start: Start) -> Mapping[str, str]:  # noqa: ARG002  for overriding
        """Request the answer as a form."""
        return {"response_mode": "form_post"}

    def client_keys(self) -> ClientKeys:
        """Return the client with a secret for each request."""
        options = self.options
        key = read_private_key(options.private_key_file, options.private_key_id)
        if not isinstance(key, ECKey) or key.curve_name != "P-256":
            raise ValueError("private_key_file: must be the key that Apple has issued, on P-256")
        return ClientKeys(options.client_id, POST, lambda: self._secret(key))

    def complete(self, claims: Claims, answer: Answer) -> Claims:
        """Add the name, which comes at the first login."""
        name = _name(answer.parameters.get("user", ""))
        return {**claims, "name": name} if name else claims

    def _secret(self, key: ECKey) -> str:
        now = int(self.environment.clock())
        claims = {
            "iss": self.options.team_id,
            "iat": now,
            "exp": now + SECRET_SECONDS,
            "aud": self.issuer(),
            "sub": self.options.client_id,
        }
        return jwt.encode({"alg": "ES256", "kid": self.options.private_key_id}, claims, key)


def _name(user: str) -> str:
    """Return the name in the field ``user``; empty if there is none."""
    try:
        name = parse_object(user.encode()).get("name")
    except ValueError:
        return ""
    parts = [name.get("firstName"), name.get("lastName")] if isinstance(name, dict) else []
    words = " ".join(part for part in parts if isinstance(part, str)).split()
    return "".join(letter for letter in " ".join(words) if letter.isprintable())[:MAX_NAME]


APPLE: Final = Preset(
    "Apple",
    AppleProvider,
    issuer="https://appleid.apple.com",
    required=("team_id", "private_key_id", "private_key_file"),
    defaults={"scopes": ("openid", "email", "name")},
)
