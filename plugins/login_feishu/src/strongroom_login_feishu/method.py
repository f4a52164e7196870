"""The login method: verifies a person by an app of Feishu or Lark."""

from collections.abc import Mapping
from typing import ClassVar

from strongroom_login_feishu.options import FeishuOptions
from strongroom_login_feishu.provider import KIND, FeishuProvider
from strongroom_login_oauth.method import OAuthLogin


class FeishuLogin(OAuthLogin[FeishuOptions]):
    """Handles attempts that name the method ``feishu``."""

    name = "feishu"
    platform = "Feishu"
    platform_labels: ClassVar = {"en": "Feishu", "zh": "飞书"}
    kinds = (KIND,)
    options_type = FeishuOptions

    def make_providers(self) -> Mapping[str, FeishuProvider]:
        apps = self.options.apps.items()
        return {name: FeishuProvider(app, self.options, lambda: self.host) for name, app in apps}
