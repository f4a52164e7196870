"""Tokens of people and of the app; version 3 of the interface in Feishu, older ones in Lark."""

from dataclasses import dataclass

from strongroom_login_feishu.options import FeishuApp
from strongroom_login_feishu.refusals import check
from strongroom_login_oauth.app_token import Token
from strongroom_login_oauth.client import Json, JsonClient
from strongroom_login_oauth.provider import Answer


@dataclass(slots=True, eq=False, repr=False)
class TokenEndpoint:
    """The token endpoint of one app."""

    _app: FeishuApp
    _accounts: JsonClient
    _platform: JsonClient

    def redeem(self, answer: Answer) -> str:
        """Return the token of the person.

        Raises:
            ClientFault: the code is unknown, used, expired, or another login's.
            ProviderError: the platform could not verify it.
        """
        grant = {
            "grant_type": "authorization_code",
            "code": answer.code,
            "redirect_uri": answer.redirect_uri,
            "code_verifier": answer.code_verifier,
        }
        return self._request(grant).text("access_token")

    def fetch(self) -> Token:
        """Return the token of the app."""
        if not self._app.is_lark:
            answer = self._request({"grant_type": "client_credentials"})
            return Token(answer.text("access_token"), answer.integer("expires_in"))
        request = {"app_id": self._app.app_id, "app_secret": self._app.app_secret}
        path = "/open-apis/auth/v3/tenant_access_token/internal"
        answer = check(self._platform.post(path, request), request)
        return Token(answer.text("tenant_access_token"), answer.integer("expire"))

    def _request(self, grant: dict[str, str]) -> Json:
        request = {
            **grant,
            "client_id": self._app.app_id,
            "client_secret": self._app.app_secret,
        }
        # Lark has no version 3.
        if self._app.is_lark:
            return check(self._platform.post("/open-apis/authen/v2/oauth/token", request), request)
        return check(self._accounts.post("/oauth/v3/token", request), request)
