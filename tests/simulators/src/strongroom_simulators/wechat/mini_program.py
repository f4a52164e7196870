"""The interfaces for mini programs: sessions, the app's access token, and phone numbers."""

from typing import Any

from flask import Blueprint, request
from flask.typing import ResponseReturnValue

from strongroom_simulators.wechat.answers import answer
from strongroom_simulators.wechat.codes import LOGIN, PHONE
from strongroom_simulators.wechat.platform import Platform
from strongroom_simulators.wechat.refusals import require_grant_type
from strongroom_simulators.wechat.registry import MINI_PROGRAM


def mini_program_interfaces(platform: Platform) -> Blueprint:
    """Return the routes."""
    routes = Blueprint("mini_program", __name__)

    @routes.get("/sns/jscode2session")
    def jscode2session() -> ResponseReturnValue:
        query = request.args
        app = platform.authenticate(query.get("appid", ""), query.get("secret", ""), kind=MINI_PROGRAM)
        require_grant_type(query.get("grant_type"), "authorization_code")
        person = platform.codes.spend(LOGIN, app, query.get("js_code", ""))
        platform.logins.hit((app.appid, person.id))
        return answer(
            {
                "openid": app.openid(person),
                "session_key": platform.session_key(app.appid, person.id),
                "unionid": app.unionid(person),
            }
        )

    @routes.post("/cgi-bin/stable_token")
    def stable_token() -> ResponseReturnValue:
        body = _body()
        require_grant_type(body.get("grant_type"), "client_credential")
        app = platform.authenticate(str(body.get("appid")), str(body.get("secret")))
        return answer(platform.app_tokens.get(app, force=body.get("force_refresh") is True))

    @routes.post("/wxa/business/getuserphonenumber")
    def phone_number() -> ResponseReturnValue:
        app = platform.app(platform.app_tokens.check(request.args.get("access_token", "")))
        person = platform.codes.spend(PHONE, app, str(_body().get("code")))
        phone = {
            "phoneNumber": person.mobile,
            "purePhoneNumber": person.mobile,
            "countryCode": int(person.country_code),
            "watermark": {"timestamp": int(platform.clock()), "appid": app.appid},
        }
        return answer({"errcode": 0, "errmsg": "ok", "phone_info": phone})

    return routes


def _body() -> dict[str, Any]:
    body = request.get_json(force=True, silent=True)
    return body if isinstance(body, dict) else {}
