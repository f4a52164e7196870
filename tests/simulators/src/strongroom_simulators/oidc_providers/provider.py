"""A provider: its people and clients, and the rules of authorization and of the exchange of codes."""

from collections import Counter
from collections.abc import Mapping
from typing import ClassVar, Final

from flask import Blueprint, Response, jsonify, make_response

from strongroom_simulators.clock import AdjustableClock
from strongroom_simulators.oidc_providers.client_authentication import ClientAuthentication
from strongroom_simulators.oidc_providers.grants import Grant, Grants
from strongroom_simulators.oidc_providers.refusals import (
    STANDARD,
    ErrorAnswer,
    PageRefusal,
    Reason,
    Refusal,
)
from strongroom_simulators.oidc_providers.registry import Person, RegisteredClient
from strongroom_simulators.planned import PlannedAnswers

TOKEN_LIFETIME: Final = 3600


class Provider:
    """A provider of OAuth 2.0 authorization codes. A dialect is a subclass.

    Args:
        clock: the clock, which tests can advance.
    """

    name: ClassVar[str] = "OAuth2"
    authorize_path: str
    token_path: str
    token_verb: ClassVar[str] = "POST"
    scopes: ClassVar[frozenset[str]]
    code_lifetime: ClassVar[int] = 600
    client_methods: ClassVar[tuple[str, ...]] = ("client_secret_basic", "client_secret_post")
    checks_pkce: ClassVar[bool] = True
    sends_issuer: ClassVar[bool] = False
    errors: ClassVar[Mapping[Reason, ErrorAnswer]] = STANDARD

    def __init__(self, clock: AdjustableClock | None = None) -> None:
        self.clock = clock or AdjustableClock()
        self.url = ""
        self.clients: dict[str, RegisteredClient] = {}
        self.people: dict[str, Person] = {}
        self.grants = Grants(self.clock)
        self.failures = PlannedAnswers()
        self.requests: Counter[str] = Counter()
        self._authentication = ClientAuthentication(self.client_methods, self.clock)

    def add_client(self, client: RegisteredClient) -> None:
        """Register a client."""
        self.clients[client.id] = client

    def add_person(self, person: Person) -> None:
        """Add a person, or replace the person with the same id."""
        self.people[person.id] = person

    def issuer(self) -> str | None:
        """Return the issuer that discovery names; ``None``: the provider has none."""
        return None

    def routes(self) -> Blueprint:
        """Return the routes other than those of authorization and of tokens."""
        return Blueprint("further", __name__)

    def authorization_client(self, query: Mapping[str, str]) -> RegisteredClient:
        """Return the client of an authorization request.

        Raises:
            PageRefusal: the client is unknown, or the redirect URI is not registered; the browser is not
                redirected (RFC 6749, 4.1.2.1).
        """
        client = self.clients.get(query.get("client_id", ""))
        if client is None:
            raise PageRefusal("The client_id is unknown.")
        if not self.accepts_redirect(client, query.get("redirect_uri", "")):
            raise PageRefusal("The redirect_uri is not registered.")
        return client

    def accepts_redirect(self, client: RegisteredClient, redirect_uri: str) -> bool:
        """Return whether a redirect URI is registered."""
        return redirect_uri in client.redirect_uris

    def check_authorization(self, query: Mapping[str, str]) -> None:
        """Check the other parameters of an authorization request.

        Raises:
            Refusal: the browser is redirected with this error.
        """
        if query.get("response_type") != "code":
            raise Refusal(Reason.RESPONSE_TYPE_WRONG)
        if not self.requested_scopes(query) <= self.scopes:
            raise Refusal(Reason.SCOPE_WRONG)
        if "code_challenge" in query and query.get("code_challenge_method") != "S256":
            raise Refusal(Reason.REQUEST_WRONG)

    def requested_scopes(self, query: Mapping[str, str]) -> frozenset[str]:
        """Return the scopes of an authorization request."""
        return frozenset(query.get("scope", "").split())

    def accepts(self, person: Person) -> bool:
        """Return whether a person may log in at this client."""
        return True

    def approve(self, query: Mapping[str, str], person: Person) -> dict[str, str]:
        """Return the parameters of the redirect after a person has agreed.

        Raises:
            Refusal: the person is not accepted.
        """
        if not self.accepts(person):
            raise Refusal(Reason.AUDIENCE_WRONG)
        return {"code": self.grants.add(self._grant(query, person))}

    def _grant(self, query: Mapping[str, str], person: Person) -> Grant:
        now = self.clock()
        return Grant(
            client=self.clients[query["client_id"]],
            person=person,
            redirect_uri=query["redirect_uri"],
            scope=self.requested_scopes(query),
            nonce=query.get("nonce"),
            code_challenge=query.get("code_challenge") if self.checks_pkce else None,
            granted_at=now,
            expires_at=now + self.code_lifetime,
        )

    def redirect_parameters(
        self, query: Mapping[str, str], parameters: dict[str, str]
    ) -> dict[str, str]:
        """Return all parameters of a redirect, with ``state``, and with ``iss`` (RFC 9207)."""
        state = {"state": query["state"]} if "state" in query else {}
        issuer = {"iss": self.issuer() or ""} if self.sends_issuer else {}
        return {**parameters, **state, **issuer}

    def denial(self, reason: Reason) -> dict[str, str]:
        """Return the parameters of a redirect with an error."""
        answer = self.errors[reason]
        said = {"error_description": answer.description} if answer.description else {}
        return {"error": str(answer.error), **said}

    def exchange(self, form: Mapping[str, str], authorization: str | None) -> dict[str, object]:
        """Redeem a code; return the members of the response.

        Args:
            authorization: the header ``Authorization``.

        Raises:
            Refusal: the client or the grant is wrong.
        """
        client = self.authenticate(form, authorization)
        if form.get("grant_type") != "authorization_code":
            raise Refusal(Reason.GRANT_TYPE_WRONG)
        verifier = form.get("code_verifier") if self.checks_pkce else None
        grant = self.grants.spend(form.get("code", ""), client, form.get("redirect_uri", ""), verifier)
        return self.token_members(grant)

    def authenticate(self, form: Mapping[str, str], authorization: str | None) -> RegisteredClient:
        """Return the client of a token request.

        Raises:
            Refusal: its proof is wrong.
        """
        audiences = [audience for audience in (self.issuer(), self.url + self.token_path) if audience]
        return self._authentication.check(self.clients, form, authorization, audiences)

    def token_members(self, grant: Grant) -> dict[str, object]:
        """Return the members of a response with tokens (RFC 6749, 5.1)."""
        return {
            "access_token": self.grants.access_token(grant),
            "token_type": "Bearer",
            "expires_in": TOKEN_LIFETIME,
            "scope": " ".join(sorted(grant.scope)),
        }

    def token_response(self, members: Mapping[str, object]) -> Response:
        """Return the response with tokens."""
        response = jsonify(members)
        response.headers["Cache-Control"] = "no-store"
        return response

    def refuse(self, refusal: Refusal) -> Response:
        """Return the response of a refused request other than one of authorization."""
        answer = self.errors[refusal.reason]
        members = {"error": answer.error, "error_description": answer.description}
        return make_response(jsonify(members), answer.status)


def bearer_grant(provider: Provider, authorization: str | None) -> Grant:
    """Return the grant of the access token in a header (RFC 6750, 2.1).

    Raises:
        Refusal: there is no valid one.
    """
    scheme, _, token = (authorization or "").partition(" ")
    if scheme.lower() != "bearer":
        raise Refusal(Reason.TOKEN_WRONG)
    return provider.grants.of_token(token)
