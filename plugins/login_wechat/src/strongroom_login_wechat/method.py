"""The login method: verifies a person's openid by a code of a WeChat app."""

from collections.abc import Collection, Mapping, Sequence
from typing import TypeVar

from strongroom.plugin_api.login import Credential, LoginUnavailable
from strongroom.plugin_api.web import ErrorKind
from strongroom_login_oauth.errors import Misconfigured, ProviderError, TokenRefused
from strongroom_login_oauth.method import OAuthLogin
from strongroom_login_oauth.provider import Answer
from strongroom_login_wechat.api import WeChatApi
from strongroom_login_wechat.app import LABELS, OPENID, UNIONID, App
from strongroom_login_wechat.errors import METHOD, PLATFORM, kinds
from strongroom_login_wechat.mini_program import MiniProgram
from strongroom_login_wechat.options import OFFICIAL_ACCOUNT, WeChatApp, WeChatOptions
from strongroom_login_wechat.website import OfficialAccount, Website

AppT = TypeVar("AppT", bound=App)


class WeChatLogin(OAuthLogin[WeChatOptions]):
    """Handles attempts that name the method ``wechat``.

    The proof has ``app``, the name of a configured app, and ``code``, which WeChat issued to the
    client. A mini program may add ``phoneCode`` (the one-tap phone number), ``encryptedData`` with
    ``iv``, or ``rawData`` with ``signature``.
    """

    name = METHOD
    platform = PLATFORM
    platform_labels = LABELS
    kinds = (OPENID, UNIONID)
    options_type = WeChatOptions

    def make_providers(self) -> Mapping[str, App]:
        """Return the configured apps by name."""
        self._api = WeChatApi(self.options)
        return {name: self._make_app(app) for name, app in self.options.apps.items()}

    def _make_app(self, app: WeChatApp) -> App:
        if app.redirect_uri is None:
            max_age = self.options.data_max_age
            return MiniProgram(app, self._api, data_max_age=max_age, host=lambda: self.host)
        kind = OfficialAccount if app.kind == OFFICIAL_ACCOUNT else Website
        open_url = self.options.open_url
        return kind(app, self._api, redirect_uri=app.redirect_uri, open_url=open_url)

    def find_apps(self, kind: type[AppT]) -> dict[str, AppT]:
        """Return the apps of a kind by name."""
        return {name: app for name, app in self.providers.items() if isinstance(app, kind)}

    @classmethod
    def request_path(cls) -> str:
        """Return the path by which clients of the REST API get a QR code."""
        return "/api/v1/wechat-qr-codes"

    @classmethod
    def ids_path(cls, user: str = "me") -> str:
        """Return the path of a user's WeChat accounts."""
        return f"/api/v1/users/{user}/wechatIds"

    @classmethod
    def error_kinds(cls) -> list[ErrorKind]:
        """Return the errors that clients may get."""
        return kinds()

    def read_answer(self, proof: Mapping[str, str]) -> Answer:
        """Return the codes and the data that a client has sent."""
        return Answer(proof.get("code", ""), parameters=proof)

    def replaced(self, held: Sequence[Credential]) -> Collection[Credential]:
        """Return a user's WeChat credentials if they belong to two people, else none.

        The ids of one person in several apps belong together, so all of them end.
        """
        ids = [credential for credential in held if credential.kind in self.kinds]
        return ids if super().replaced(held) else []

    def unavailable(self, name: str, error: ProviderError) -> LoginUnavailable:
        """Return the failure of a login; WeChat has one errcode for a wrong token and a wrong secret."""
        is_refused = isinstance(error, TokenRefused)
        return super().unavailable(name, Misconfigured(str(error)) if is_refused else error)

    def close(self) -> None:
        """Close the connections."""
        self._api.close()
