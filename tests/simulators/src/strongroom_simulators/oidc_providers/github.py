"""GitHub: OAuth 2.0 without OpenID Connect, errors with status 200, names that are used again.

Sources: https://docs.github.com/apps/oauth-apps/building-oauth-apps/authorizing-oauth-apps,
https://docs.github.com/rest/users/emails, and
https://github.blog/changelog/2025-07-14-pkce-support-for-oauth-and-github-app-authentication
"""

from collections.abc import Mapping
from typing import ClassVar
from urllib.parse import urlencode, urlsplit

from flask import Blueprint, Response, jsonify, make_response, request
from flask.typing import ResponseReturnValue

from strongroom_simulators.oidc_providers.grants import Grant
from strongroom_simulators.oidc_providers.provider import Provider
from strongroom_simulators.oidc_providers.refusals import STANDARD, ErrorAnswer, Reason, Refusal
from strongroom_simulators.oidc_providers.registry import RegisteredClient

_BAD_CODE = ErrorAnswer("bad_verification_code", "The code passed is incorrect or expired.", 200)


class GitHub(Provider):
    """Accounts of GitHub. The subject is a number; ``login`` is a claim, and so are ``emails``."""

    name = "GitHub"
    authorize_path = "/login/oauth/authorize"
    token_path = "/login/oauth/access_token"
    scopes = frozenset({"read:user", "user:email", "read:org"})
    errors: ClassVar[Mapping[Reason, ErrorAnswer]] = {
        **STANDARD,
        Reason.CLIENT_WRONG: ErrorAnswer(
            "incorrect_client_credentials", "The client_id and/or client_secret are incorrect.", 200
        ),
        Reason.REDIRECT_WRONG: ErrorAnswer(
            "redirect_uri_mismatch", "The redirect_uri MUST match the registered callback URL.", 200
        ),
        Reason.GRANT_TYPE_WRONG: ErrorAnswer("unsupported_grant_type", "", 200),
        Reason.CODE_UNKNOWN: _BAD_CODE,
        Reason.CODE_USED: _BAD_CODE,
        Reason.CODE_EXPIRED: _BAD_CODE,
        Reason.VERIFIER_WRONG: _BAD_CODE,
    }

    def accepts_redirect(self, client: RegisteredClient, redirect_uri: str) -> bool:
        """Return whether host and port are registered, and the path is the registered one or below."""
        return any(_is_below(redirect_uri, registered) for registered in client.redirect_uris)

    def check_authorization(self, query: Mapping[str, str]) -> None:
        """GitHub knows one response type, and needs no parameter for it."""
        super().check_authorization({**query, "response_type": "code"})

    def exchange(self, form: Mapping[str, str], authorization: str | None) -> dict[str, object]:
        """The grant type may be absent."""
        return super().exchange({"grant_type": "authorization_code", **form}, authorization)

    def token_members(self, grant: Grant) -> dict[str, object]:
        """Return the members: scopes are joined by commas, and there is no end."""
        members = super().token_members(grant)
        scope = ",".join(sorted(grant.scope))
        return {"access_token": members["access_token"], "token_type": "bearer", "scope": scope}

    def token_response(self, members: Mapping[str, object]) -> Response:
        """Return the members as a form, unless the client accepts JSON."""
        if "json" in request.headers.get("Accept", ""):
            return super().token_response(members)
        form = urlencode({name: str(value) for name, value in members.items()})
        return Response(form, content_type="application/x-www-form-urlencoded; charset=utf-8")

    def refuse(self, refusal: Refusal) -> Response:
        """Return an error with status 200, in the form that the client accepts."""
        if refusal.reason is Reason.TOKEN_WRONG:
            return make_response(jsonify(message="Bad credentials", status="401"), 401)
        answer = self.errors[refusal.reason]
        return self.token_response({"error": answer.error, "error_description": answer.description})

    def routes(self) -> Blueprint:
        """Return the REST interface as GitHub Enterprise Server has it, below ``/api/v3``."""
        routes = Blueprint("rest", __name__, url_prefix="/api/v3")

        @routes.before_request
        def require_user_agent() -> ResponseReturnValue | None:
            if not request.headers.get("User-Agent"):
                return jsonify(message="Request forbidden by administrative rules."), 403
            return None

        @routes.get("/user")
        def user() -> Response:
            person = self._grant_of_request().person
            return jsonify(
                id=int(person.subject),
                login=person.claims["login"],
                name=person.name,
                email=person.claims.get("public_email"),
                type="User",
            )

        @routes.get("/user/emails")
        def emails() -> ResponseReturnValue:
            grant = self._grant_of_request()
            if "user:email" not in grant.scope:
                return jsonify(message="Not Found", status="404"), 404
            person = grant.person
            own = {"email": person.email, "primary": True, "verified": person.is_verified}
            return jsonify(person.claims.get("emails", [{**own, "visibility": None}]))

        return routes

    def _grant_of_request(self) -> Grant:
        scheme, _, token = request.headers.get("Authorization", "").partition(" ")
        if scheme.lower() not in ("bearer", "token"):
            raise Refusal(Reason.TOKEN_WRONG)
        return self.grants.of_token(token)


def _is_below(redirect_uri: str, registered: str) -> bool:
    own, base = urlsplit(redirect_uri), urlsplit(registered)
    is_same_host = (own.scheme, own.netloc) == (base.scheme, base.netloc)
    return is_same_host and f"{own.path}/".startswith(base.path.rstrip("/") + "/")
