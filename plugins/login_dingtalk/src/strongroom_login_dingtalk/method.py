"""The login method: verifies a person's unionId by a code of a DingTalk app."""

from collections.abc import Callable, Mapping

from strongroom_login_dingtalk.app import IN_APP, LABELS, UNIONID, App
from strongroom_login_dingtalk.options import DingTalkOptions
from strongroom_login_oauth.app_token import AppToken, Token
from strongroom_login_oauth.method import OAuthLogin


class DingTalkLogin(OAuthLogin[DingTalkOptions]):
    """Handles attempts that name the method ``dingtalk``."""

    name = "dingtalk"
    platform = "DingTalk"
    platform_labels = LABELS
    kinds = (UNIONID,)
    options_type = DingTalkOptions
    code_parameters = ("authCode", "code")
    parameters = (IN_APP,)

    def make_providers(self) -> Mapping[str, App]:
        """Return the configured apps by name."""
        apps = self.options.apps.items()
        return {name: App(app, self.options, self._shared_token) for name, app in apps}

    def _shared_token(self, key: str, fetch: Callable[[], Token]) -> AppToken:
        return AppToken(key, fetch, values=lambda: self.host.values, clock=lambda: self.host.clock)
