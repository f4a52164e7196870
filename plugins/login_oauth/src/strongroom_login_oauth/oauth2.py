"""Providers that are OAuth 2.0 servers (RFC 6749) with PKCE (RFC 7636), by Authlib.

A provider of this kind is a declaration of three endpoints, and the identity of a person::

    class AcmeProvider(OAuth2Provider):
        endpoints = Endpoints(
            authorize="https://acme.example/authorize",
            token="https://acme.example/token",
            userinfo="https://acme.example/me",
        )
        scope = "profile"

        def identity(self, person: Json) -> Identity:
            return Identity(Credential("acme", person.text("id")), display_name=person.text("name"))
"""

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Final

import requests
from authlib.integrations.base_client import OAuthError
from authlib.integrations.requests_client import OAuth2Session

from strongroom_login_oauth.answer import Json
from strongroom_login_oauth.client_authentication import BASIC, NONE, encode_basic
from strongroom_login_oauth.errors import (
    AnswerInvalid,
    CodeInvalid,
    Misconfigured,
    ProviderError,
    ProviderUnavailable,
)
from strongroom_login_oauth.options import OAuthOptions, require_private
from strongroom_login_oauth.provider import Answer, Identity, Provider, Start
from strongroom_login_oauth.redaction import redact_request_log
from strongroom_login_oauth.transport import BUSY_STATUSES, BoundedAdapter, confine

_BY_ERROR: Final[dict[str, type[ProviderError]]] = {
    "invalid_grant": CodeInvalid,
    "invalid_client": Misconfigured,
    "unauthorized_client": Misconfigured,
    "unsupported_grant_type": Misconfigured,
    "temporarily_unavailable": ProviderUnavailable,
    "server_error": ProviderUnavailable,
}
"""Errors of the token endpoint (RFC 6749, section 5.2), and two that some servers use there as well."""


@dataclass(frozen=True, slots=True)
class Endpoints:
    """The URLs of a server.

    Args:
        authorize: the page of the person (RFC 6749, section 3.1).
        token: the token endpoint (section 3.2).
        userinfo: returns the person of an access token, as a JSON object.

    Raises:
        ValueError: one of them is not encrypted.
    """

    authorize: str
    token: str
    userinfo: str

    def __post_init__(self) -> None:
        for name in ("authorize", "token", "userinfo"):
            require_private(name, getattr(self, name))


class OAuth2Provider(Provider):
    """A provider that is an OAuth 2.0 server.

    Args:
        client_id: the id of this server at the provider.
        client_secret: its secret; ``None``: a public client.
        options: the login method's options, for the time limits.
        endpoints: this instance's endpoints, in place of the class's.
    """

    endpoints: Endpoints
    scope: ClassVar[str] = ""
    token_auth: ClassVar[str] = BASIC
    """How the client authenticates: ``client_secret_basic``, ``client_secret_post`` or ``none``."""

    def __init__(
        self,
        client_id: str,
        client_secret: str | None,
        options: OAuthOptions,
        *,
        endpoints: Endpoints | None = None,
    ) -> None:
        self._client = (client_id, client_secret)
        self.endpoints = endpoints or self.endpoints
        self._adapter = BoundedAdapter(options.connect_timeout, options.read_timeout)
        redact_request_log()

    @abstractmethod
    def identity(self, person: Json) -> Identity:
        """Return the identity in an answer of ``userinfo``.

        Raises:
            ClientFault: the person may not log in.
        """

    def authorize_url(self, start: Start) -> str:
        """Return the URL of the authorization request (RFC 6749, section 4.1.1)."""
        url, _ = self._session().create_authorization_url(
            self.endpoints.authorize,
            state=start.state,
            redirect_uri=start.redirect_uri,
            code_challenge=start.code_challenge,
            code_challenge_method="S256",
        )
        return str(url)

    def identify(self, answer: Answer) -> Identity:
        """Redeem the code, and return the person that ``userinfo`` has for the token.

        Raises:
            CodeInvalid: the code is unknown, used or expired, or of another client.
            AnswerInvalid: an answer is not what it must be.
            ProviderUnavailable: the provider is down, too slow or overloaded.
            Misconfigured: the provider refuses the client.
        """
        try:
            return self.identity(self._person(answer))
        except OAuthError as error:
            kind = _BY_ERROR.get(str(error.error), AnswerInvalid)
            failure: ProviderError = kind("the token endpoint refuses the request")
        except requests.RequestException as error:
            failure = ProviderUnavailable(f"the provider did not answer: {type(error).__name__}")
        except (ValueError, TypeError, AttributeError, KeyError, OverflowError) as error:
            # Of Authlib, such as for an expires_in that is no finite number.
            failure = AnswerInvalid(f"the answer is malformed: {type(error).__name__}")
        # Raised outside the handler, because the exceptions contain the request.
        raise failure

    def close(self) -> None:
        """Close the connections."""
        self._adapter.close()

    def _person(self, answer: Answer) -> Json:
        # One session per login, because it keeps the person's token.
        session = self._session()
        session.fetch_token(
            self.endpoints.token,
            grant_type="authorization_code",
            code=answer.code,
            redirect_uri=answer.redirect_uri,
            code_verifier=answer.code_verifier,
            allow_redirects=False,
        )
        headers = {"Accept": "application/json"}
        response = session.get(self.endpoints.userinfo, headers=headers, allow_redirects=False)
        _require_ok(response)
        return Json.decode("userinfo", response.content)

    def _session(self) -> OAuth2Session:
        client_id, secret = self._client
        method = self.token_auth if secret else NONE
        session = OAuth2Session(
            client_id, secret, scope=self.scope or None, token_endpoint_auth_method=method
        )
        confine(session, self._adapter)
        session.register_client_auth_method((BASIC, encode_basic))
        session.register_compliance_hook("access_token_response", _token_response)
        return session


def _token_response(response: requests.Response) -> requests.Response:
    """Require a token response (RFC 6749, section 5), before Authlib parses it."""
    if response.status_code in BUSY_STATUSES:
        raise ProviderUnavailable(f"the token endpoint returned status {response.status_code}")
    answer = Json.decode("token", response.content)
    if "error" not in answer:
        _require_ok(response)
        answer.text("access_token")
        if answer.text("token_type").lower() != "bearer":
            raise AnswerInvalid("the access token is no bearer token")
    return response


def _require_ok(response: requests.Response) -> None:
    if response.status_code in BUSY_STATUSES:
        raise ProviderUnavailable(f"the provider returned status {response.status_code}")
    if response.status_code != requests.codes.ok:
        raise AnswerInvalid(f"the provider returned status {response.status_code}")
