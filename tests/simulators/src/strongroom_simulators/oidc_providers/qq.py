"""QQ: tokens by GET, JSONP or forms unless ``fmt=json``, errors with status 200, and union ids.

Sources: https://wiki.connect.qq.com/使用authorization_code获取access_token,
https://wiki.connect.qq.com/unionid介绍, https://wiki.connect.qq.com/公共返回码说明
"""

import json
from collections.abc import Mapping
from hashlib import md5
from typing import ClassVar
from urllib.parse import urlencode

from flask import Blueprint, Response, request

from strongroom_simulators.clock import AdjustableClock
from strongroom_simulators.oidc_providers.grants import Grant
from strongroom_simulators.oidc_providers.provider import Provider
from strongroom_simulators.oidc_providers.refusals import STANDARD, ErrorAnswer, Reason, Refusal
from strongroom_simulators.oidc_providers.registry import RegisteredClient

NO_UNION = ErrorAnswer(100048, "companyid not set", 200)


class QQ(Provider):
    """Accounts of QQ.

    Args:
        has_union: whether the client may read union ids, for which a developer applies.
    """

    name = "QQ"
    authorize_path = "/oauth2.0/authorize"
    token_path = "/oauth2.0/token"
    token_verb = "GET"
    scopes = frozenset({"get_user_info"})
    client_methods = ("client_secret_post",)
    checks_pkce = False
    errors: ClassVar[Mapping[Reason, ErrorAnswer]] = {
        **STANDARD,
        Reason.CLIENT_WRONG: ErrorAnswer(100009, "client_secret is illegal", 200),
        Reason.GRANT_TYPE_WRONG: ErrorAnswer(100004, "grant_type is illegal", 200),
        Reason.CODE_UNKNOWN: ErrorAnswer(100019, "code to access token error", 200),
        Reason.CODE_EXPIRED: ErrorAnswer(100019, "code to access token error", 200),
        Reason.CODE_USED: ErrorAnswer(100020, "code is reused error", 200),
        Reason.REDIRECT_WRONG: ErrorAnswer(100010, "redirect uri is illegal", 200),
        Reason.TOKEN_WRONG: ErrorAnswer(100016, "access token check failed", 200),
        Reason.REQUEST_WRONG: NO_UNION,
    }

    def __init__(self, clock: AdjustableClock | None = None, *, has_union: bool = True) -> None:
        super().__init__(clock)
        self.has_union = has_union

    def denial(self, reason: Reason) -> dict[str, str]:
        """Return ``usercancel``, which QQ sends in place of ``error``."""
        return {"usercancel": "1"} if reason is Reason.ACCESS_DENIED else super().denial(reason)

    def token_members(self, grant: Grant) -> dict[str, object]:
        """Return the members of QQ; a token is valid for three months."""
        token = self.grants.access_token(grant)
        return {
            "access_token": token,
            "expires_in": 7776000,
            "refresh_token": md5(token.encode()).hexdigest(),
        }

    def token_response(self, members: Mapping[str, object]) -> Response:
        """Return JSON if the client asked for it, otherwise a form."""
        if request.args.get("fmt") == "json":
            return _json(members)
        return Response(urlencode({name: str(value) for name, value in members.items()}))

    def refuse(self, refusal: Refusal) -> Response:
        """Return an error with status 200."""
        answer = self.errors[refusal.reason]
        members = {"error": answer.error, "error_description": answer.description}
        return _json(members) if request.args.get("fmt") == "json" else _jsonp(members)

    def routes(self) -> Blueprint:
        """Return the interfaces of a person's ids and profile."""
        routes = Blueprint("graph", __name__)

        @routes.get("/oauth2.0/me")
        def me() -> Response:
            grant = self.grants.of_token(request.args.get("access_token", ""))
            members = {"client_id": grant.client.id, "openid": openid(grant)}
            if request.args.get("unionid") == "1":
                if not self.has_union:
                    raise Refusal(Reason.REQUEST_WRONG)
                members["unionid"] = f"UID_{grant.person.subject}"
            return _json(members) if request.args.get("fmt") == "json" else _jsonp(members)

        @routes.get("/user/get_user_info")
        def get_user_info() -> Response:
            query = request.args
            grant = self.grants.of_token(query.get("access_token", ""))
            client, own = query.get("oauth_consumer_key"), query.get("openid")
            if (client, own) != (grant.client.id, openid(grant)):
                return _json({"ret": -23, "msg": "token is invalid"})
            return _json({"ret": 0, "msg": "", "nickname": grant.person.name, "gender": "男"})

        return routes


def openid(grant: Grant) -> str:
    """Return the id of a person in one client."""
    return openid_of(grant.client, grant.person.subject)


def openid_of(client: RegisteredClient, subject: str) -> str:
    """Return the id of an account in one client: 32 hexadecimal digits."""
    return md5(f"{client.id}/{subject}".encode()).hexdigest().upper()


def _json(members: Mapping[str, object]) -> Response:
    # The label of QQ is that of a page, whatever the body is.
    return Response(json.dumps(members, ensure_ascii=False), content_type="text/html; charset=utf-8")


def _jsonp(members: Mapping[str, object]) -> Response:
    return Response(f"callback( {json.dumps(members)} );\n", content_type="text/html")
