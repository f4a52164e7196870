"""What all kinds of app have in common."""

from typing import Final

from strongroom.plugin_api.login import Contact, Credential
from strongroom_login_oauth.provider import Identity, Provider
from strongroom_login_wechat.api import WeChatApi
from strongroom_login_wechat.options import WeChatApp

OPENID: Final = "wechat"
"""The kind of credentials with the value ``appid:openid``."""

UNIONID: Final = "wechat_union"
"""The kind of credentials with the value ``account:unionid``."""

LABELS: Final = {"en": "WeChat", "zh": "微信"}


class App(Provider):
    """An app registered with WeChat."""

    labels = LABELS
    icon = "wechat.svg"

    def __init__(self, app: WeChatApp, api: WeChatApi) -> None:
        self.appid = app.appid
        self._app = app
        self._api = api

    def identity(
        self, openid: str, unionid: str | None, nickname: str | None, mobile: str | None = None
    ) -> Identity:
        """Return the identity of a person.

        Args:
            openid: the id of the person in this app.
            unionid: the id of the person in all apps of an open-platform account. It may appear at a
                later login.
            nickname: the display name; it is not an identifier.
            mobile: a number in E.164, which WeChat has verified by a message to it.
        """
        union = [Credential(UNIONID, f"{self._app.account}:{unionid}")] if unionid else []
        number = [Credential("mobile", mobile)] if mobile else []
        return Identity(
            Credential(OPENID, f"{self.appid}:{openid}"),
            also=tuple(union),
            contacts=tuple(
                Contact(item, is_proven=True, is_trusted=self._app.trust_mobile) for item in number
            ),
            display_name=nickname,
        )
