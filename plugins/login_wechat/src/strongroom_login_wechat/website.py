"""Apps for web pages: WeChat redirects the browser with a code.

On a website, a person scans a QR code. In the browser of WeChat itself, an official account logs the
person in without one.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar
from urllib.parse import quote, urlencode

from strongroom_login_oauth.client import Json
from strongroom_login_oauth.errors import CodeInvalid, ProviderError, TokenRefused
from strongroom_login_wechat.api import WeChatApi
from strongroom_login_wechat.app import App, Identity


@dataclass(frozen=True, slots=True)
class Grant:
    """The result of exchanging a code or a refresh token; ``expires_in`` is in seconds."""

    openid: str
    access_token: str = field(repr=False)
    refresh_token: str = field(repr=False)
    expires_in: int
    unionid: str | None = None


@dataclass(frozen=True, slots=True)
class Profile:
    """A person's profile."""

    openid: str
    unionid: str | None
    nickname: str | None


class WebApp(App):
    """An app for web pages.

    Args:
        account: the open-platform account of the app.
        redirect_uri: the URL to which WeChat redirects browsers.
        open_url: the base URL of the page that begins a login.
    """

    page: ClassVar[str]
    """The path of that page."""

    scope: ClassVar[str]
    """The permission that the page asks for."""

    def __init__(
        self,
        api: WeChatApi,
        *,
        appid: str,
        account: str,
        secret: str,
        redirect_uri: str,
        open_url: str,
    ) -> None:
        super().__init__(appid, account)
        self._api = api
        self._secret = secret
        self.redirect_uri = redirect_uri
        self._open_url = open_url.rstrip("/")

    def authorize_url(self, state: str, *, language: str | None = None) -> str:
        """Return the URL of the page that begins a login.

        Args:
            state: the OAuth state, returned with the code; random, one-time, and bound to the browser.
            language: ``cn`` or ``en``; chosen by the platform if ``None``.
        """
        query = {
            "appid": self.appid,
            "redirect_uri": self.redirect_uri,
            "response_type": "code",
            "scope": self.scope,
            "state": state,
        }
        if language:
            query["lang"] = language
        encoded = urlencode(query, quote_via=quote)
        return f"{self._open_url}{self.page}?{encoded}#wechat_redirect"

    def identify(self, proof: Mapping[str, str]) -> Identity:
        grant = self.exchange(proof.get("code", ""))
        # Without a unionid, a person known from another app would become a second user. The profile
        # may contain it, so it is required in that case and optional otherwise.
        profile = self._profile_if_given(grant) if grant.unionid else self.profile(grant)
        return Identity(
            grant.openid, unionid=grant.unionid or profile.unionid, nickname=profile.nickname
        )

    def exchange(self, code: str) -> Grant:
        """Redeem a code.

        Raises:
            ClientFault: the code is wrong, used or expired.
            ProviderError: the platform could not verify it.
        """
        if not code:
            raise CodeInvalid("the code is missing")
        return _grant(
            self._api.get(
                "/sns/oauth2/access_token",
                appid=self.appid,
                secret=self._secret,
                code=code,
                grant_type="authorization_code",
            )
        )

    def refresh(self, refresh_token: str) -> Grant:
        """Exchange a refresh token for a new grant.

        Raises:
            RefreshTokenRefused: the refresh token is wrong or has expired.
        """
        return _grant(
            self._api.get(
                "/sns/oauth2/refresh_token",
                appid=self.appid,
                grant_type="refresh_token",
                refresh_token=refresh_token,
            )
        )

    def is_valid(self, grant: Grant) -> bool:
        """Return whether the platform still accepts the grant's access token."""
        try:
            self._api.get("/sns/auth", access_token=grant.access_token, openid=grant.openid)
        except TokenRefused:
            return False
        return True

    def profile(self, grant: Grant) -> Profile:
        """Return the person's profile.

        Raises:
            TokenRefused: the grant is no longer valid.
        """
        answer = self._api.get("/sns/userinfo", access_token=grant.access_token, openid=grant.openid)
        return Profile(
            answer.text("openid"), answer.optional_text("unionid"), answer.optional_text("nickname")
        )

    def _profile_if_given(self, grant: Grant) -> Profile:
        # The code is redeemed and has verified the identity, so a missing nickname must not fail it.
        try:
            return self.profile(grant)
        except ProviderError:
            return Profile(grant.openid, None, None)


class Website(WebApp):
    """A website app, whose page shows a QR code."""

    page = "/connect/qrconnect"
    scope = "snsapi_login"


class OfficialAccount(WebApp):
    """An official account, whose page works in the browser of WeChat only."""

    page = "/connect/oauth2/authorize"
    scope = "snsapi_userinfo"


def _grant(answer: Json) -> Grant:
    return Grant(
        openid=answer.text("openid"),
        access_token=answer.text("access_token"),
        refresh_token=answer.text("refresh_token"),
        expires_in=answer.integer("expires_in"),
        unionid=answer.optional_text("unionid"),
    )
