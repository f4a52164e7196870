"""Apps for web pages: WeChat redirects the browser with a code.

On a website, a person scans a QR code. In the browser of WeChat itself, an official account logs the
person in without one.
"""

from typing import ClassVar, Final
from urllib.parse import quote, urlencode

from strongroom_login_oauth.errors import AccessDenied, ProviderError
from strongroom_login_oauth.provider import Answer, Identity, Start
from strongroom_login_wechat.api import WeChatApi
from strongroom_login_wechat.app import App
from strongroom_login_wechat.options import WeChatApp

LANGUAGES: Final = {"en": "en", "zh": "cn"}
"""The languages of the pages, with WeChat's codes for them."""

_IN_APP: Final = "MicroMessenger"
"""In the User-Agent of the browser of WeChat, whose users cannot scan their own screen."""

_WECOM: Final = "wxwork"


class WebApp(App):
    """An app for web pages.

    Args:
        redirect_uri: the URL to which WeChat redirects browsers.
        open_url: the base URL of the page that begins a login.
    """

    page: ClassVar[str]
    """The path of that page."""

    scope: ClassVar[str]
    """The permission that the page asks for."""

    def __init__(self, app: WeChatApp, api: WeChatApi, *, redirect_uri: str, open_url: str) -> None:
        super().__init__(app, api)
        self.redirect_uri = redirect_uri
        self._page_url = open_url.rstrip("/") + self.page

    def authorize_url(self, start: Start) -> str:
        """Return the URL of the page that begins a login; without a language, WeChat chooses one."""
        query = {
            "appid": self.appid,
            "redirect_uri": start.redirect_uri,
            "response_type": "code",
            "scope": self.scope,
            "state": start.state,
        }
        if start.language:
            query["lang"] = LANGUAGES[start.language]
        return f"{self._page_url}?{urlencode(query, quote_via=quote)}#wechat_redirect"

    def identify(self, answer: Answer) -> Identity:
        """Redeem the code, and return the identity of the person."""
        if not answer.code:
            raise AccessDenied("the redirect has no code")
        grant = self._api.get(
            "/sns/oauth2/access_token",
            appid=self.appid,
            secret=self._app.secret,
            code=answer.code,
            grant_type="authorization_code",
        )
        openid, unionid = grant.text("openid"), grant.optional_text("unionid")
        token = grant.text("access_token")
        try:
            profile = self._api.get("/sns/userinfo", access_token=token, openid=openid)
            named = unionid or profile.optional_text("unionid")
            return self.identity(openid, named, profile.optional_text("nickname"))
        except ProviderError:
            # Without a unionid, a person known from another app would become a second user, so the
            # profile, which may contain it, is required. A missing nickname must not fail a login.
            if unionid is None:
                raise
            return self.identity(openid, unionid, None)


class Website(WebApp):
    """A website app, whose page shows a QR code."""

    page = "/connect/qrconnect"
    scope = "snsapi_login"
    shows_qr_code = True
    fails_in = (_IN_APP,)


class OfficialAccount(WebApp):
    """An official account, whose page works in the browser of WeChat only."""

    page = "/connect/oauth2/authorize"
    scope = "snsapi_userinfo"
    works_in = own_app = (_IN_APP,)
    # The app of WeCom has the word as well, but no account of WeChat.
    fails_in = (_WECOM,)
