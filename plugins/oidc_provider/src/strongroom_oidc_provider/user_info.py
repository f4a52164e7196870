"""The endpoint for user information (OpenID Connect Core, section 5.3)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from flask import Response, request

from strongroom.plugin_api.grants import TokenReport
from strongroom.plugin_api.host import HostAPI
from strongroom.plugin_api.users import UserInfo
from strongroom_oidc_provider.claim_rules import RoleClaims
from strongroom_oidc_provider.claims import get_claims
from strongroom_oidc_provider.documents.lookup import ClientLookup
from strongroom_oidc_provider.json_responses import make_response
from strongroom_oidc_provider.scopes import OPENID, ROLE_SCOPES

_INVALID: Final = (401, "invalid_token", "The access token is invalid or has expired.")
_INSUFFICIENT: Final = (403, "insufficient_scope", "The access token needs the scope openid.")


@dataclass(slots=True, eq=False, repr=False)
class UserInfoEndpoint:
    """Answers requests with an access token."""

    _host: HostAPI

    def answer(self) -> Response:
        """Return the claims about the user of the token of the current request, or the refusal."""
        token = _find_token()
        if token is None:
            # Without an error, because the request had no authentication (RFC 6750, section 3.1).
            return make_response(401, {}, "Bearer")
        report = self._host.grants.inspect(token)
        if report is None or report.is_refresh_token:
            return _refuse(*_INVALID)
        if OPENID not in report.scopes:
            return _refuse(*_INSUFFICIENT)
        return self._respond(report)

    def _respond(self, report: TokenReport) -> Response:
        user = self._host.users.find_active(report.grant.user_id)
        if user is None:
            return _refuse(*_INVALID)
        claims = {**self._read_roles(user, report), **get_claims(user, report.scopes)}
        return make_response(200, claims)

    def _read_roles(self, user: UserInfo, report: TokenReport) -> Mapping[str, object]:
        if not {*ROLE_SCOPES}.intersection(report.scopes):
            return {}
        client = self._host.get_service(ClientLookup).find(report.grant.client.id)
        if client is None:
            return {}
        return self._host.get_service(RoleClaims).for_user_info(client, user, report.scopes)


def _find_token() -> str | None:
    """Return the token of the header, or of the form of a POST (RFC 6750, section 2)."""
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    if scheme.lower() == "bearer":
        return token.strip()
    return request.form.get("access_token")


def _refuse(status: int, error: str, description: str) -> Response:
    body = {"error": error, "error_description": description}
    scope = f', scope="{OPENID}"' if status == _INSUFFICIENT[0] else ""
    challenge = f'Bearer error="{error}", error_description="{description}"{scope}'
    return make_response(status, body, challenge)
