"""QQ.

- All requests are GET. Answers are forms or JSONP unless ``fmt=json``, and labelled as pages.
- Errors have status 200 and a number in ``error``.
- A person is the union id, which all apps of one developer share. An app needs the right to read it;
  without one, QQ answers 100048.
- There are no addresses.

Sources: https://wiki.connect.qq.com/使用authorization_code获取access_token,
https://wiki.connect.qq.com/unionid介绍, https://wiki.connect.qq.com/公共返回码说明,
https://wiki.connect.qq.com/get_user_info
"""

from collections.abc import Mapping
from typing import Any, Final

from strongroom_login_oauth.client import Json, JsonClient
from strongroom_login_oauth.errors import (
    AnswerInvalid,
    CodeInvalid,
    CodeUsed,
    Misconfigured,
    ProviderUnavailable,
)
from strongroom_login_oauth.provider import Answer
from strongroom_login_oidc.presets.oauth2 import ProfileProvider
from strongroom_login_oidc.presets.preset import Preset
from strongroom_login_oidc.provider import Environment
from strongroom_login_oidc.provider_settings import ProviderSettings

_CODE_ERRORS: Final = {100019: CodeInvalid, 100020: CodeUsed}

_OPERATOR_ERRORS: Final = frozenset({100001, 100002, 100008, 100009, 100010, 100011, 100048})
"""The app, its key, its state or its redirect URI is wrong, or it may not read union ids."""


class QQProvider(ProfileProvider):
    """Accounts of QQ."""

    authorize_path = "/oauth2.0/authorize"

    def __init__(self, name: str, options: ProviderSettings, environment: Environment) -> None:
        super().__init__(name, options, environment)
        self._client = JsonClient(
            str(options.base_url),
            connect_timeout=environment.connect_timeout,
            read_timeout=environment.read_timeout,
        )

    def access_token(self, answer: Answer) -> str:
        """Return the access token of a code."""
        request = {
            "grant_type": "authorization_code",
            "client_id": self.options.client_id,
            "client_secret": str(self.options.client_secret),
            "code": answer.code,
            "redirect_uri": answer.redirect_uri,
        }
        return self._get("/oauth2.0/token", request).text("access_token")

    def person(self, access_token: str) -> tuple[str, Mapping[str, Any], str | None]:
        """Return the union id and the profile."""
        ids = self._get("/oauth2.0/me", {"access_token": access_token, "unionid": "1"})
        client_id = self.options.client_id
        if ids.text("client_id") != client_id:
            raise AnswerInvalid("the token was issued to another app")
        query = {"oauth_consumer_key": client_id, "openid": ids.text("openid")}
        profile = self._get("/user/get_user_info", {"access_token": access_token, **query})
        return ids.text("unionid"), {"name": profile.optional_text("nickname")}, None

    def close(self) -> None:
        """Close the connections."""
        super().close()
        self._client.close()

    def _get(self, path: str, query: Mapping[str, str]) -> Json:
        answer = self._client.get(path, {**query, "fmt": "json"})
        error = answer.optional_integer("error") or answer.optional_integer("ret")
        if not error:
            return answer
        message = f"{path} answered {error}"
        if error in _OPERATOR_ERRORS:
            raise Misconfigured(message)
        raise _CODE_ERRORS.get(error, ProviderUnavailable)(message)


QQ: Final = Preset(
    "QQ",
    QQProvider,
    base_url="https://graph.qq.com",
    optional=("base_url",),
    defaults={"scopes": ("get_user_info",)},
)
