"""The interfaces for websites: exchange of codes, refresh tokens, and profiles."""

from flask import Blueprint, request
from flask.typing import ResponseReturnValue

from strongroom_simulators.wechat.answers import answer
from strongroom_simulators.wechat.codes import SCAN
from strongroom_simulators.wechat.platform import Platform
from strongroom_simulators.wechat.refusals import INVALID_OPENID, Refusal, require_grant_type
from strongroom_simulators.wechat.registry import WEBSITE
from strongroom_simulators.wechat.tokens import Holder


def website_interfaces(platform: Platform) -> Blueprint:
    """Return the routes."""
    routes = Blueprint("website", __name__)

    @routes.get("/sns/oauth2/access_token")
    def access_token() -> ResponseReturnValue:
        query = _query("appid", "secret", "code", "grant_type")
        app = platform.authenticate(query["appid"], query["secret"], kind=WEBSITE)
        require_grant_type(query["grant_type"], "authorization_code")
        person = platform.codes.spend(SCAN, app, query["code"])
        return answer({**platform.person_tokens.issue(app, person), "unionid": app.unionid(person)})

    @routes.get("/sns/oauth2/refresh_token")
    def refresh_token() -> ResponseReturnValue:
        query = _query("appid", "refresh_token", "grant_type")
        require_grant_type(query["grant_type"], "refresh_token")
        app = platform.app(query["appid"], kind=WEBSITE)
        return answer(platform.person_tokens.refresh(app, query["refresh_token"]))

    @routes.get("/sns/userinfo")
    def userinfo() -> ResponseReturnValue:
        holder = _holder(platform)
        return answer(
            {
                "openid": holder.app.openid(holder.person),
                "nickname": holder.person.nickname,
                "headimgurl": "",
                "unionid": holder.app.unionid(holder.person),
            }
        )

    @routes.get("/sns/auth")
    def auth() -> ResponseReturnValue:
        _holder(platform)
        return answer({"errcode": 0, "errmsg": "ok"})

    return routes


def _query(*names: str) -> dict[str, str]:
    return {name: request.args.get(name, "") for name in names}


def _holder(platform: Platform) -> Holder:
    query = _query("access_token", "openid")
    holder = platform.person_tokens.holder(query["access_token"])
    if query["openid"] != holder.app.openid(holder.person):
        raise Refusal(INVALID_OPENID)
    return holder
