"""The token request (RFC 6749, section 4.1.3) by Authlib, with the client authentications of OpenID."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, cast

import requests
from authlib.integrations.base_client import OAuthError
from authlib.integrations.requests_client import OAuth2Session
from authlib.oauth2.rfc7523 import PrivateKeyJWT
from joserfc.jwk import ECKey, OKPKey, RSAKey
from requests.adapters import HTTPAdapter

from strongroom_login_oauth.client_authentication import BASIC, NONE, POST, encode_basic
from strongroom_login_oauth.errors import AnswerInvalid, CodeInvalid, Misconfigured, ProviderUnavailable
from strongroom_login_oauth.provider import Answer
from strongroom_login_oauth.transport import BUSY_STATUSES, MAX_ANSWER, BoundedAdapter, confine
from strongroom_login_oidc.documents import make_failure, parse_document

PRIVATE_KEY: Final = "private_key_jwt"
TOKEN_AUTHS: Final = (BASIC, POST, PRIVATE_KEY, NONE)
"""Client authentications (OpenID Connect Core 1.0, section 9)."""

_ERRORS: Final[Mapping[str, type[Exception]]] = {
    "invalid_client": Misconfigured,
    "unauthorized_client": Misconfigured,
    "unsupported_grant_type": Misconfigured,
    "invalid_grant": CodeInvalid,
    "temporarily_unavailable": ProviderUnavailable,
}
"""What the errors of a token endpoint mean (RFC 6749, section 5.2)."""

_UNKNOWN_ERROR: Final = "the token endpoint answered an error"

_NAME: Final = "token answer"
_ASSERTION_SECONDS: Final = 60

PrivateKey = RSAKey | ECKey | OKPKey


@dataclass(frozen=True, slots=True)
class ClientKeys:
    """How this server proves to a provider that it is the client.

    Args:
        method: one of :data:`TOKEN_AUTHS`.
        secret: the secret, or a function that makes one for a request, as Apple needs it.
        key: the private key of ``private_key_jwt``, whose ``kid`` and ``alg`` it may have.
    """

    client_id: str
    method: str = BASIC
    secret: str | Callable[[], str] | None = field(default=None, repr=False)
    key: PrivateKey | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class Tokens:
    """The tokens of an answer."""

    access_token: str = field(repr=False)
    id_token: str = field(repr=False)


class TokenEndpoint:
    """Redeems codes. Thread-safe.

    Args:
        connect_timeout: seconds.
        read_timeout: seconds for a whole answer.
        errors: classes of errors by the ``error`` of the provider, in addition to the standard ones.
        adapter: sends the requests instead, within limits of its own.
    """

    def __init__(
        self,
        client: ClientKeys,
        connect_timeout: float,
        read_timeout: float,
        *,
        errors: Mapping[str, type[Exception]] | None = None,
        adapter: HTTPAdapter | None = None,
    ) -> None:
        self._client = client
        self._errors = {**_ERRORS, **(errors or {})}
        bounded = BoundedAdapter(connect_timeout, read_timeout, max_bytes=MAX_ANSWER)
        self._adapter = adapter or bounded

    def redeem(self, url: str, answer: Answer) -> Tokens:
        """Exchange the code of an answer. It is never repeated, because a code counts once.

        Raises:
            CodeInvalid: the provider did not issue the code for this login, or it is used or expired.
            AnswerInvalid: the response is no token response.
            ProviderUnavailable: the provider is down, too slow or overloaded.
            Misconfigured: the provider refuses the client.
        """
        return _tokens(self._request(url, answer))

    def access_token(self, url: str, answer: Answer) -> str:
        """Exchange the code at a provider without ID tokens; raises the errors of :meth:`redeem`."""
        return _access_token(self._request(url, answer))

    def _request(self, url: str, answer: Answer) -> Mapping[str, Any]:
        session = self._session(url)
        try:
            tokens = session.fetch_token(
                url,
                grant_type="authorization_code",
                code=answer.code,
                redirect_uri=answer.redirect_uri,
                code_verifier=answer.code_verifier,
                allow_redirects=False,
            )
        except OAuthError as error:
            refusal = self._refusal(error)
        except requests.RequestException as error:
            refusal = make_failure(_NAME, url, error)
        except (ValueError, TypeError, AttributeError):
            # Of Authlib, such as for an expires_in that is no number.
            refusal = AnswerInvalid("the token answer has a member of a wrong type")
        else:
            return cast("Mapping[str, Any]", tokens)
        # Raised outside the handler, because the exceptions contain the request.
        raise refusal

    def close(self) -> None:
        """Close the connections."""
        self._adapter.close()

    def _refusal(self, error: OAuthError) -> Exception:
        # The member may have any type.
        name = str(error.error)
        known = self._errors.get(name)
        # Another text is the provider's own, which may contain anything.
        return known(f"the token endpoint answered {name}") if known else AnswerInvalid(_UNKNOWN_ERROR)

    def _session(self, url: str) -> OAuth2Session:
        """Return a session for one request, because Authlib's sessions keep the tokens."""
        client = self._client
        secret = client.secret() if callable(client.secret) else client.secret
        session = OAuth2Session(
            client.client_id,
            client.key if client.method == PRIVATE_KEY else secret,
            token_endpoint_auth_method=client.method,
        )
        confine(session, self._adapter)
        session.register_client_auth_method((BASIC, encode_basic))
        if client.key is not None:
            session.register_client_auth_method(_assertion(url, client.key))
        session.register_compliance_hook("access_token_response", _check)
        return session


def _assertion(url: str, key: PrivateKey) -> PrivateKeyJWT:
    """Return the authentication by a signed assertion for one use (RFC 7523, section 3)."""
    header = {"kid": key.kid} if key.kid else None
    claims = {"exp": int(time.time()) + _ASSERTION_SECONDS}
    return PrivateKeyJWT(url, claims=claims, headers=header, alg=get_algorithm(key))


def get_algorithm(key: PrivateKey) -> str:
    """Return the signature algorithm of a key: its member ``alg``, or the usual one."""
    if key.alg:
        return str(key.alg)
    if isinstance(key, ECKey):
        return {"P-256": "ES256", "P-384": "ES384", "P-521": "ES512"}[key.curve_name]
    return "RS256" if isinstance(key, RSAKey) else "EdDSA"


def _check(response: requests.Response) -> requests.Response:
    """Require JSON with one meaning, before Authlib parses it."""
    status = response.status_code
    if status in BUSY_STATUSES:
        raise ProviderUnavailable(f"the {_NAME} has status {status}")
    document = parse_document(_NAME, response)
    if status != requests.codes.ok and "error" not in document:
        raise AnswerInvalid(f"the {_NAME} has status {status}")
    return response


def _tokens(answer: Mapping[str, Any]) -> Tokens:
    id_token = answer.get("id_token")
    if not isinstance(id_token, str):
        raise AnswerInvalid("the token answer has no ID token")
    return Tokens(_access_token(answer), id_token)


def _access_token(answer: Mapping[str, Any]) -> str:
    access_token = answer.get("access_token")
    if not isinstance(access_token, str) or not access_token:
        raise AnswerInvalid("the token answer has no access token")
    if not access_token.isascii() or not access_token.isprintable():
        raise AnswerInvalid("the access token is no text of a header")
    if str(answer.get("token_type")).lower() != "bearer":
        raise AnswerInvalid("the access token is no bearer token")
    return access_token
