"""The token endpoints: version 3 of Feishu, version 2, and the older one for tokens of apps."""

from base64 import b64decode
from collections.abc import Mapping
from typing import Final

from flask import Blueprint, abort, request
from flask.typing import ResponseReturnValue

from strongroom_simulators.feishu.answers import answer
from strongroom_simulators.feishu.platform import MAINLAND, Platform
from strongroom_simulators.feishu.refusals import (
    MALFORMED,
    MISSING_PARAMETER,
    NO_RIGHT_TO_USE,
    TWO_AUTHENTICATIONS,
    UNSUPPORTED_GRANT,
    WRONG_APP_SECRET,
    Refusal,
    TokenRefusal,
)
from strongroom_simulators.feishu.registry import PlatformApp
from strongroom_simulators.feishu.tokens import LIFETIME

V3: Final = "/oauth/v3/token"
V2: Final = "/open-apis/authen/v2/oauth/token"
TENANT_TOKEN: Final = "/open-apis/auth/v3/tenant_access_token/internal"


def token_endpoints(platform: Platform) -> Blueprint:
    """Return the routes."""
    routes = Blueprint("token_endpoints", __name__)

    @routes.post(V3)
    def version_3() -> ResponseReturnValue:
        if platform.region != MAINLAND:
            abort(404)
        body = _body()
        app = _authenticate(platform, body)
        if body.get("grant_type") == "client_credentials":
            token, seconds = platform.app_tokens.issue(app)
            return answer(
                {"code": 0, "access_token": token, "expires_in": seconds, "token_type": "Bearer"}
            )
        return _user_token(platform, app, body, strict=True)

    @routes.post(V2)
    def version_2() -> ResponseReturnValue:
        if not request.is_json:
            raise TokenRefusal(MALFORMED)
        body = _body()
        return _user_token(platform, _authenticate(platform, body), body, strict=False)

    @routes.post(TENANT_TOKEN)
    def tenant_access_token() -> ResponseReturnValue:
        body = _body()
        app = platform.apps.get(body.get("app_id", ""))
        if app is None or body.get("app_secret") != app.app_secret:
            raise Refusal(WRONG_APP_SECRET)
        token, seconds = platform.app_tokens.issue(app)
        return answer({"code": 0, "msg": "ok", "tenant_access_token": token, "expire": seconds})

    return routes


def _body() -> Mapping[str, str]:
    body = request.get_json(silent=True) if request.is_json else request.form.to_dict()
    if not isinstance(body, dict):
        raise TokenRefusal(MALFORMED)
    return {name: value for name, value in body.items() if isinstance(value, str)}


def _authenticate(platform: Platform, body: Mapping[str, str]) -> PlatformApp:
    scheme, _, encoded = request.headers.get("Authorization", "").partition(" ")
    if scheme == "Basic":
        if "client_secret" in body:
            raise TokenRefusal(TWO_AUTHENTICATIONS)
        name, _, secret = b64decode(encoded).decode().partition(":")
        return platform.authenticate(name, secret)
    if "client_id" not in body or "client_secret" not in body:
        raise TokenRefusal(MISSING_PARAMETER)
    return platform.authenticate(body["client_id"], body["client_secret"])


def _user_token(
    platform: Platform, app: PlatformApp, body: Mapping[str, str], *, strict: bool
) -> ResponseReturnValue:
    if body.get("grant_type") != "authorization_code":
        raise TokenRefusal(UNSUPPORTED_GRANT)
    if "code" not in body:
        raise TokenRefusal(MISSING_PARAMETER)
    code = platform.codes.spend(
        app,
        body["code"],
        redirect_uri=body.get("redirect_uri", ""),
        verifier=body.get("code_verifier", ""),
        strict=strict,
    )
    if not platform.may_use(app, code.person):
        raise TokenRefusal(NO_RIGHT_TO_USE)
    scopes = frozenset(code.scope.split() or app.scopes)
    return answer(
        {
            "code": 0,
            "access_token": platform.user_tokens.issue(app, code.person, scopes),
            "expires_in": LIFETIME,
            "token_type": "Bearer",
            "scope": " ".join(sorted(scopes)),
        }
    )
