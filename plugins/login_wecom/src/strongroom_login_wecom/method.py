"""The login method ``wecom``."""

from collections.abc import Mapping

from strongroom_login_oauth.app_token import AppToken
from strongroom_login_oauth.client import JsonClient
from strongroom_login_oauth.method import OAuthLogin
from strongroom_login_wecom.api import WeComApi
from strongroom_login_wecom.options import WeComApp, WeComOptions
from strongroom_login_wecom.people import KIND
from strongroom_login_wecom.provider import LABELS, WeComProvider


class WeComLogin(OAuthLogin[WeComOptions]):
    """Handles attempts that name the method ``wecom``."""

    name = "wecom"
    platform = "WeCom"
    platform_labels = LABELS
    kinds = (KIND,)
    options_type = WeComOptions

    def make_providers(self) -> Mapping[str, WeComProvider]:
        """Return the provider of each app by name."""
        return {name: self._provider(app) for name, app in self.options.apps.items()}

    def _provider(self, app: WeComApp) -> WeComProvider:
        api = WeComApi(JsonClient.of(self.options.api_url, self.options), app)
        token = AppToken(
            f"token.{app.corpid}.{app.agentid}",
            api.fetch_token,
            values=lambda: self.host.values,
            clock=lambda: self.host.clock,
        )
        return WeComProvider(self.options, app, api, token, self.proofs)
