"""Platforms with OAuth 2.0 and a profile of their own, without ID tokens."""

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, Final
from urllib.parse import quote, urlencode

from strongroom_login_oauth.client_authentication import POST
from strongroom_login_oauth.errors import AnswerInvalid
from strongroom_login_oauth.provider import Answer, Identity, Provider, Start
from strongroom_login_oidc.documents import Documents
from strongroom_login_oidc.exchange import ClientKeys, TokenEndpoint
from strongroom_login_oidc.people import read_identity
from strongroom_login_oidc.provider import Environment, get_labels
from strongroom_login_oidc.provider_settings import ProviderSettings

_NUMBERS: Final = 1 << 63
"""Ids are numbers of 64 bits with a sign."""


class ProfileProvider(Provider):
    """A platform whose interface returns the person of an access token.

    Args:
        name: its name in the configuration, which is part of its users' credentials.
    """

    authorize_path: ClassVar[str]
    exchange_path: ClassVar[str] = ""
    token_errors: ClassVar[Mapping[str, type[Exception]]] = {}
    icon = "openid.svg"

    def __init__(self, name: str, options: ProviderSettings, environment: Environment) -> None:
        self.name = name
        self.options = options
        self.environment = environment
        self.register = options.register
        self.shared_redirect_uri = options.shared_redirect_uri
        self.labels = get_labels(name, options, {})
        self.icon = options.icon or self.icon
        timeouts = environment.connect_timeout, environment.read_timeout
        keys = ClientKeys(options.client_id, POST, options.client_secret)
        self.documents = Documents(*timeouts)
        self._tokens = TokenEndpoint(keys, *timeouts, errors=self.token_errors)

    @abstractmethod
    def person(self, access_token: str) -> tuple[str, Mapping[str, Any], str | None]:
        """Return the id, the profile and the verified address of the person of a token."""

    def authorize_url(self, start: Start) -> str:
        """Return the URL of the authorization request (RFC 6749, section 4.1.1)."""
        request = {
            "response_type": "code",
            "client_id": self.options.client_id,
            "redirect_uri": start.redirect_uri,
            "scope": " ".join(self.options.scopes),
            "state": start.state,
            "code_challenge": start.code_challenge,
            "code_challenge_method": "S256",
        }
        return f"{self.options.base_url}{self.authorize_path}?{urlencode(request, quote_via=quote)}"

    def identify(self, answer: Answer) -> Identity:
        """Redeem the code, and return the person of the access token."""
        subject, profile, email = self.person(self.access_token(answer))
        identify = self.environment.identify
        return read_identity(self.name, self.options, subject, profile, email=email, identify=identify)

    def access_token(self, answer: Answer) -> str:
        """Return the access token of a code."""
        return self._tokens.access_token(f"{self.options.base_url}{self.exchange_path}", answer)

    def close(self) -> None:
        """Close the connections."""
        self.documents.close()
        self._tokens.close()


def read_number(profile: Mapping[str, Any]) -> str:
    """Return the number of an account, which is never given to another one; names are.

    Raises:
        AnswerInvalid: there is none.
    """
    number = profile.get("id")
    if isinstance(number, bool) or not isinstance(number, int) or not 0 < number < _NUMBERS:
        raise AnswerInvalid("the profile has no id")
    return str(number)


def named(profile: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a profile whose ``name`` is the name to log in with if the person has stated no other."""
    return {**profile, "name": profile.get("name") or profile.get("login")}
