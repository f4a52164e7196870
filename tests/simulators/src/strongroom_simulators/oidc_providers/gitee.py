"""Gitee: OAuth 2.0 of its own, and addresses with a state.

Source: https://gitee.com/api/v5/oauth_doc
"""

from collections.abc import Mapping
from typing import ClassVar

from flask import Blueprint, Response, jsonify, make_response, request
from flask.typing import ResponseReturnValue

from strongroom_simulators.oidc_providers.grants import Grant
from strongroom_simulators.oidc_providers.provider import Provider, bearer_grant
from strongroom_simulators.oidc_providers.refusals import STANDARD, ErrorAnswer, Reason, Refusal

_BAD_GRANT = ErrorAnswer("invalid_grant", "授权方式无效、过期或已被撤销", 401)


class Gitee(Provider):
    """Accounts of Gitee. The subject is a number; ``login`` is a claim, and so are ``emails``."""

    name = "Gitee"
    authorize_path = "/oauth/authorize"
    token_path = "/oauth/token"
    scopes = frozenset({"user_info", "emails"})
    client_methods = ("client_secret_post",)
    checks_pkce = False
    errors: ClassVar[Mapping[Reason, ErrorAnswer]] = {
        **STANDARD,
        Reason.CLIENT_WRONG: ErrorAnswer("invalid_client", "客户端验证失败", 401),
        Reason.CODE_UNKNOWN: _BAD_GRANT,
        Reason.CODE_USED: _BAD_GRANT,
        Reason.CODE_EXPIRED: _BAD_GRANT,
        Reason.REDIRECT_WRONG: _BAD_GRANT,
    }

    def token_members(self, grant: Grant) -> dict[str, object]:
        """Add the refresh token and the time of the token."""
        members = {**super().token_members(grant), "token_type": "bearer", "expires_in": 86400}
        return {**members, "refresh_token": "r" * 64, "created_at": int(self.clock())}

    def refuse(self, refusal: Refusal) -> Response:
        """Return the interface's own form for wrong access tokens."""
        if refusal.reason is Reason.TOKEN_WRONG:
            message = "401 Unauthorized: Access token does not exist"
            return make_response(jsonify(message=message), 401)
        return super().refuse(refusal)

    def routes(self) -> Blueprint:
        """Return the interface ``/api/v5``."""
        routes = Blueprint("rest", __name__, url_prefix="/api/v5")

        @routes.get("/user")
        def user() -> Response:
            person = self._grant_of_request().person
            return jsonify(
                id=int(person.subject),
                login=person.claims["login"],
                name=person.name,
                email=person.claims.get("public_email", "未公开邮箱"),
            )

        @routes.get("/emails")
        def emails() -> ResponseReturnValue:
            grant = self._grant_of_request()
            if "emails" not in grant.scope:
                return jsonify(message="403 Forbidden: insufficient scope"), 403
            person = grant.person
            state = "confirmed" if person.is_verified else "unconfirmed"
            own = {"email": person.email, "state": state, "scope": ["primary", "notified"]}
            return jsonify(person.claims.get("emails", [own]))

        return routes

    def _grant_of_request(self) -> Grant:
        if token := request.args.get("access_token"):
            return self.grants.of_token(token)
        return bearer_grant(self, request.headers.get("Authorization"))
