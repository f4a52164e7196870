"""The interfaces of DingTalk that one app uses."""

from collections.abc import Callable

from strongroom_login_dingtalk.options import DingTalkApp, DingTalkOptions
from strongroom_login_dingtalk.refusals import checked, checked_old
from strongroom_login_oauth.answer import Json
from strongroom_login_oauth.app_token import AppToken, Token
from strongroom_login_oauth.client import JsonClient

MakeToken = Callable[[str, Callable[[], Token]], AppToken]
"""Returns the token of an app, by a key and by what fetches it."""


class DingTalkClient:
    """Client of an app; its methods raise ``ProviderError``. Thread-safe."""

    def __init__(self, app: DingTalkApp, options: DingTalkOptions, make_token: MakeToken) -> None:
        self._id = app.client_id
        self._secret = app.client_secret
        self._api = JsonClient.of(options.api_url, options)
        self._oapi = JsonClient.of(options.oapi_url, options)
        self._token = make_token(f"token.{app.client_id}", self._fetch_token)

    def exchange(self, code: str) -> Json:
        """Redeem a code of the login page; return the tokens of the person."""
        names = {"clientId": self._id, "clientSecret": self._secret}
        body = {**names, "code": code, "grantType": "authorization_code"}
        return checked(self._api.post("/v1.0/oauth2/userAccessToken", body), body)

    def profile(self, token: str) -> Json:
        """Return the profile of the person of a token."""
        headers = {"x-acs-dingtalk-access-token": token}
        return checked(self._api.get("/v1.0/contact/users/me", headers=headers), {}, token)

    def visitor(self, code: str) -> Json:
        """Redeem a code of ``dd.getAuthCode``; return the ids and the name of the member."""
        return self._call("/topapi/v2/user/getuserinfo", {"code": code})

    def contact(self, union_id: str) -> Json:
        """Return the entry of a person in the contacts of the app's company.

        Raises:
            NotMember: there is none.
        """
        return self._call("/topapi/user/getbyunionid", {"unionid": union_id})

    def account(self, union_id: str) -> Json:
        """Return the account of a member of the app's company, with its owner; raises as above."""
        return self._call("/topapi/v2/user/get", {"userid": self.contact(union_id).text("userid")})

    def close(self) -> None:
        """Close the connections."""
        self._api.close()
        self._oapi.close()

    def _call(self, path: str, body: dict[str, str]) -> Json:
        return self._token.use(lambda token: self._call_with(token, path, body))

    def _call_with(self, token: str, path: str, body: dict[str, str]) -> Json:
        return checked_old(self._oapi.post(path, body, query={"access_token": token}), body, token)

    def _fetch_token(self) -> Token:
        body = {"appKey": self._id, "appSecret": self._secret}
        answer = checked(self._api.post("/v1.0/oauth2/accessToken", body), body)
        return Token(answer.text("accessToken"), answer.integer("expireIn"))
