"""One OpenID Connect provider: discovery, request, answer and identity."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlencode

from requests import Response
from requests.adapters import HTTPAdapter

from strongroom_login_oauth.errors import Misconfigured
from strongroom_login_oauth.provider import Answer, Identity, Provider, Start
from strongroom_login_oidc.cached import CachedDocument
from strongroom_login_oidc.discovery import (
    AllowsUrl,
    Metadata,
    check_issuer_parameter,
    discovery_url,
    parse_metadata,
)
from strongroom_login_oidc.documents import Documents, clock_skew, parse_document
from strongroom_login_oidc.exchange import ClientKeys, TokenEndpoint, Tokens
from strongroom_login_oidc.id_token import (
    SLACK,
    Claims,
    Login,
    check_issuer,
    read_subject,
    verify_id_token,
)
from strongroom_login_oidc.keys import Jwk, ProviderKeys, parse_keys
from strongroom_login_oidc.people import Identify, read_identity, verified_email
from strongroom_login_oidc.private_keys import read_private_key
from strongroom_login_oidc.provider_settings import ProviderSettings
from strongroom_login_oidc.userinfo import check_userinfo, fetch_userinfo, merge

_DISCOVERY = "discovery document"


@dataclass(frozen=True, slots=True)
class Environment:
    """What all providers of the method share.

    Args:
        connect_timeout: seconds.
        read_timeout: seconds for a whole answer.
        allows_url: whether requests may be sent to a URL.
        identify: normalises e-mail addresses.
        clock: returns seconds since the Unix epoch.
        adapter: sends the requests to providers, if another than the usual one does.
    """

    connect_timeout: float
    read_timeout: float
    allows_url: AllowsUrl
    identify: Identify
    clock: Callable[[], float]
    adapter: HTTPAdapter | None = None


class OIDCProvider(Provider):
    """A provider with discovery. Presets derive from it, and replace what differs at theirs.

    Args:
        name: its name in the configuration, which is part of its users' credentials.
    """

    def __init__(self, name: str, options: ProviderSettings, environment: Environment) -> None:
        self.name = name
        self.options = options
        self.environment = environment
        self.register = options.register
        self.shared_redirect_uri = options.shared_redirect_uri
        self.labels = get_labels(name, options, self.default_labels)
        self.icon = options.icon or self.default_icon
        timeouts, adapter = (environment.connect_timeout, environment.read_timeout), environment.adapter
        self._documents = Documents(*timeouts, adapter=adapter)
        self._tokens = TokenEndpoint(self.client_keys(), *timeouts, adapter=adapter)
        self._metadata = CachedDocument(f"discovery of {name}", self._discover, environment.clock)
        self._keys = ProviderKeys(self._fetch_keys, environment.clock)

    default_labels: Mapping[str, str] = {}
    """The name of the platform by language; a configured label replaces it."""

    default_icon: str | None = "openid.svg"

    # What presets replace.

    def issuer(self) -> str:
        """Return the issuer whose discovery document is fetched."""
        if self.options.issuer is None:
            raise Misconfigured("the provider has no issuer")
        return self.options.issuer

    def discovery_issuer(self) -> str:
        """Return the ``issuer`` that the discovery document must have."""
        return self.issuer()

    def check_token_issuer(self, claims: Claims) -> None:
        """Require that an ID token is one of this provider.

        Raises:
            AnswerInvalid: it is one of another issuer.
        """
        check_issuer(claims, self.issuer())

    def client_keys(self) -> ClientKeys:
        """Return how this server proves to the provider that it is the client."""
        options = self.options
        key = read_private_key(options.private_key_file, options.private_key_id)
        return ClientKeys(options.client_id, options.token_auth, options.client_secret, key)

    def request_parameters(self, start: Start) -> Mapping[str, str]:  # noqa: ARG002  for overriding
        """Return further parameters of the authorization request, such as ``response_mode``."""
        return {}

    def subject(self, claims: Claims) -> str:
        """Return the person's id at the provider, which is never given to another person."""
        return read_subject(claims)

    def verified_email(self, claims: Claims) -> str | None:
        """Return the address that the provider owns and has verified, or ``None``."""
        return verified_email(claims, self.options)

    def check_person(self, claims: Claims) -> None:
        """Require that a person belongs to the organisations that the configuration allows.

        Raises:
            ClientFault: the person belongs to none of them.
        """

    def complete(self, claims: Claims, answer: Answer) -> Claims:  # noqa: ARG002  for overriding
        """Return the claims with what the redirect adds to them, such as the name at Apple."""
        return claims

    # What all of them do.

    def metadata(self) -> Metadata:
        """Return what the provider says of itself.

        Raises:
            ProviderUnavailable: the provider is down, and has never answered.
            ClientFault: its discovery document is invalid.
        """
        return self._metadata.get()

    @property
    def keys(self) -> ProviderKeys:
        """The keys that sign its tokens."""
        return self._keys

    def authorize_url(self, start: Start) -> str:
        """Return the URL of the authorization request (OpenID Connect Core 1.0, section 3.1.2.1)."""
        endpoint = self.metadata().authorization_endpoint
        query = urlencode(self._request(start), quote_via=quote)
        return f"{endpoint}{'&' if '?' in endpoint else '?'}{query}"

    def identify(self, answer: Answer) -> Identity:
        """Redeem the code, and verify the ID token and what came with it."""
        metadata = self.metadata()
        check_issuer_parameter(metadata, answer.parameters)
        tokens = self._tokens.redeem(metadata.token_endpoint, answer)
        claims = self._verified(answer, tokens)
        claims = self.complete(self._with_userinfo(claims, metadata, tokens), answer)
        self.check_person(claims)
        return read_identity(
            self.name,
            self.options,
            self.subject(claims),
            claims,
            email=self.verified_email(claims),
            identify=self.environment.identify,
        )

    def logout_url(self, session: str | None, return_url: str) -> str | None:
        """Return the page that ends a session here (OpenID Connect RP-Initiated Logout 1.0, section 2).

        Args:
            session: ``sid``, if it is known.
            return_url: a URL that is registered at the provider as ``post_logout_redirect_uris``.

        Raises:
            ProviderUnavailable: the provider is down, and has never answered.
            ClientFault: its discovery document is invalid.
        """
        endpoint = self.metadata().end_session_endpoint if self.options.end_session else None
        if endpoint is None:
            return None
        # No id_token_hint: the server keeps no token of the provider.
        query = {"client_id": self.options.client_id, "post_logout_redirect_uri": return_url}
        query |= {"logout_hint": session} if session else {}
        return f"{endpoint}{'&' if '?' in endpoint else '?'}{urlencode(query, quote_via=quote)}"

    def check(self) -> None:
        """Fetch the discovery document and the keys, and compare the clocks, for ``strongroom doctor``.

        Raises:
            ProviderUnavailable: the provider is down.
            ClientFault: its documents are invalid, such as a discovery document of another issuer.
            Misconfigured: the clocks differ too much for ID tokens, or there is no document.
        """
        response = self._documents.get(_DISCOVERY, discovery_url(self.issuer()))
        self._parse_metadata(response)
        self._fetch_keys()
        skew = clock_skew(response, self.environment.clock())
        if skew > SLACK:
            raise Misconfigured(f"the clocks differ by {skew:.0f} seconds; correct this server's")

    def close(self) -> None:
        """Close the connections."""
        self._documents.close()
        self._tokens.close()

    def _request(self, start: Start) -> dict[str, str]:
        options = self.options
        request = {
            "response_type": "code",
            "client_id": options.client_id,
            "redirect_uri": start.redirect_uri,
            "scope": " ".join(options.scopes),
            "state": start.state,
            "nonce": start.nonce,
            "code_challenge": start.code_challenge,
            "code_challenge_method": "S256",
            "prompt": options.prompt or "",
            "acr_values": " ".join(options.acr_values),
            "max_age": str(options.max_age_seconds or ""),
            "ui_locales": {"zh": "zh-CN zh"}.get(start.language or "", start.language or ""),
        }
        return {
            **{name: value for name, value in request.items() if value},
            **self.request_parameters(start),
        }

    def _verified(self, answer: Answer, tokens: Tokens) -> Claims:
        login = Login(
            self.options.client_id,
            answer.nonce,
            tokens.access_token,
            self.environment.clock(),
            self.options.max_age_seconds or None,
        )
        claims = verify_id_token(tokens.id_token, self._keys, self.options.algorithms, login)
        self.check_token_issuer(claims)
        return claims

    def _with_userinfo(self, claims: Claims, metadata: Metadata, tokens: Tokens) -> Claims:
        if not self.options.userinfo:
            return claims
        if metadata.userinfo_endpoint is None:
            raise Misconfigured("the provider has no userinfo endpoint; remove userinfo = true")
        userinfo = fetch_userinfo(
            self._documents,
            metadata.userinfo_endpoint,
            tokens.access_token,
            self._keys,
            self.options.algorithms,
        )
        check_userinfo(userinfo, claims["sub"], claims["iss"], self.options.client_id)
        names = self.options.claims
        return merge(claims, userinfo, (names.email, names.email_verified))

    def _discover(self) -> Metadata:
        return self._parse_metadata(self._documents.get(_DISCOVERY, discovery_url(self.issuer())))

    def _parse_metadata(self, response: Response) -> Metadata:
        document = parse_document(_DISCOVERY, response)
        return parse_metadata(document, self.discovery_issuer(), self.environment.allows_url)

    def _fetch_keys(self) -> "list[Jwk]":
        name = "key set"
        response = self._documents.get(name, self.metadata().jwks_uri)
        return list(parse_keys(parse_document(name, response)))


def get_labels(name: str, options: ProviderSettings, default: Mapping[str, str]) -> Mapping[str, str]:
    """Return the name of a provider by language: the configured one, the platform's, or its key."""
    labels: dict[str, Any] = dict(default)
    if options.label:
        labels = {"en": options.label, "zh": options.label_zh or options.label}
    elif options.label_zh:
        labels = {"en": name, **labels, "zh": options.label_zh}
    return labels or {"en": name, "zh": name}
