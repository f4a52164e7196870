"""The gateway: verifies signed requests, and signs the answers."""

import json
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta, timezone
from typing import Final

from flask import Blueprint, Response, request

from strongroom_simulators.alipay.keys import verifies
from strongroom_simulators.alipay.platform import TOKEN_LIFETIME, Platform
from strongroom_simulators.alipay.refusals import (
    INVALID_APP_ID,
    INVALID_CERTIFICATE,
    INVALID_CHARSET,
    INVALID_FORMAT,
    INVALID_GRANT_TYPE,
    INVALID_METHOD,
    INVALID_SIGNATURE,
    INVALID_SIGNATURE_TYPE,
    INVALID_TIMESTAMP,
    MISSING_APP_ID,
    MISSING_METHOD,
    MISSING_SIGNATURE,
    MISSING_TIMESTAMP,
    NO_PERMISSION,
    Kind,
    Refusal,
)
from strongroom_simulators.alipay.registry import PlatformApp

PATH: Final = "/gateway.do"
CHINA: Final = timezone(timedelta(hours=8))
TOLERANCE: Final = timedelta(minutes=15)
"""How much the timestamp of a request may differ."""

Members = dict[str, object]
_Method = Callable[[Platform, PlatformApp, Mapping[str, str]], Members]


def gateway(platform: Platform) -> Blueprint:
    """Return the route."""
    routes = Blueprint("gateway", __name__)

    @routes.post(PATH)
    def call() -> Response:
        form = {**request.args, **request.form}
        try:
            app = _verified(platform, form)
            platform.limit.hit(app.app_id)
            members = _method(form["method"])(platform, app, form)
        except Refusal as refusal:
            return signed_answer(
                platform, "error_response", refusal.kind.members, is_signed=refusal.kind.is_signed
            )
        name = f"{form['method'].replace('.', '_')}_response"
        return signed_answer(platform, name, members, cert_sn=app.cert_sn)

    return routes


def signed_answer(
    platform: Platform,
    name: str,
    members: Mapping[str, object],
    *,
    is_signed: bool = True,
    cert_sn: str | None = None,
) -> Response:
    """Return an answer whose ``sign`` covers the exact text of the response."""
    content = json.dumps(members, ensure_ascii=False, separators=(",", ":"))
    certificate = f',"alipay_cert_sn":{json.dumps(cert_sn)}' if cert_sn else ""
    sign = f',"sign":{json.dumps(platform.keys.sign(content.encode()))}' if is_signed else ""
    body = f'{{"{name}":{content}{certificate}{sign}}}'
    return Response(body.encode(), content_type="text/html;charset=utf-8")


def _verified(platform: Platform, form: Mapping[str, str]) -> PlatformApp:
    _require(form, {"app_id": MISSING_APP_ID, "method": MISSING_METHOD, "sign": MISSING_SIGNATURE})
    app = platform.apps.get(form["app_id"])
    if app is None:
        raise Refusal(INVALID_APP_ID)
    if form.get("sign_type") != "RSA2":
        raise Refusal(INVALID_SIGNATURE_TYPE)
    if form.get("charset", "").lower() != "utf-8":
        raise Refusal(INVALID_CHARSET)
    if form.get("format", "JSON") != "JSON" or form.get("version") != "1.0":
        raise Refusal(INVALID_FORMAT)
    if form.get("app_cert_sn") != app.cert_sn:
        raise Refusal(INVALID_CERTIFICATE)
    if not verifies(app.public_key, form["sign"], _signed_text(form).encode()):
        raise Refusal(INVALID_SIGNATURE)
    _check_timestamp(platform, form)
    return app


def _require(form: Mapping[str, str], kinds: Mapping[str, Kind]) -> None:
    for name, kind in kinds.items():
        if not form.get(name):
            raise Refusal(kind)


def _signed_text(form: Mapping[str, str]) -> str:
    signed = {name: value for name, value in form.items() if name != "sign" and value}
    return "&".join(f"{name}={value}" for name, value in sorted(signed.items()))


def _check_timestamp(platform: Platform, form: Mapping[str, str]) -> None:
    _require(form, {"timestamp": MISSING_TIMESTAMP})
    try:
        sent = datetime.strptime(form["timestamp"], "%Y-%m-%d %H:%M:%S").replace(tzinfo=CHINA)
    except ValueError:
        raise Refusal(INVALID_TIMESTAMP) from None
    now = datetime.fromtimestamp(platform.clock(), CHINA)
    if abs(now - sent) > TOLERANCE:
        raise Refusal(INVALID_TIMESTAMP)


def _oauth_token(platform: Platform, app: PlatformApp, form: Mapping[str, str]) -> Members:
    if form.get("grant_type") != "authorization_code":
        raise Refusal(INVALID_GRANT_TYPE)
    token, grant = platform.spend_code(app, form.get("code", ""))
    return {
        "access_token": token,
        "auth_start": datetime.fromtimestamp(platform.clock(), CHINA).strftime("%Y-%m-%d %H:%M:%S"),
        "expires_in": TOKEN_LIFETIME,
        "re_expires_in": 2 * TOKEN_LIFETIME,
        "refresh_token": f"re{token}",
        **app.person_id(grant.person),
    }


def _user_info(platform: Platform, app: PlatformApp, form: Mapping[str, str]) -> Members:
    grant = platform.holder(app, form.get("auth_token", ""))
    if not app.has_member_information or grant.scope != "auth_user":
        raise Refusal(NO_PERMISSION)
    person = grant.person
    return {
        "code": "10000",
        "msg": "Success",
        "avatar": person.avatar,
        "nick_name": person.nick_name,
        **app.person_id(person),
    }


_METHODS: Final[dict[str, _Method]] = {
    "alipay.system.oauth.token": _oauth_token,
    "alipay.user.info.share": _user_info,
}


def _method(name: str) -> _Method:
    if name not in _METHODS:
        raise Refusal(INVALID_METHOD)
    return _METHODS[name]
