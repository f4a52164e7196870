"""The login method: verifies a person by an app of Alipay."""

from collections.abc import Mapping
from typing import ClassVar

from strongroom_login_alipay.options import AlipayOptions
from strongroom_login_alipay.provider import KIND, AlipayProvider
from strongroom_login_oauth.method import OAuthLogin


class AlipayLogin(OAuthLogin[AlipayOptions]):
    """Handles attempts that name the method ``alipay``."""

    name = "alipay"
    platform = "Alipay"
    platform_labels: ClassVar = {"en": "Alipay", "zh": "支付宝"}
    kinds = (KIND,)
    code_parameters = ("auth_code", "code")
    parameters = ("app_id",)
    options_type = AlipayOptions

    def make_providers(self) -> Mapping[str, AlipayProvider]:
        apps = self.options.apps.items()
        return {name: AlipayProvider(app, self.options) for name, app in apps}
