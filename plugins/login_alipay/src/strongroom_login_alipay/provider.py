"""Identifies people by an app of Alipay."""

import re
from typing import Final
from urllib.parse import quote, urlencode

from strongroom.plugin_api.login import Credential
from strongroom_login_alipay.gateway import Gateway
from strongroom_login_alipay.options import SILENT, AlipayApp, AlipayOptions
from strongroom_login_oauth.client import Json, JsonClient
from strongroom_login_oauth.errors import AnswerInvalid, CodeInvalid, ProviderError
from strongroom_login_oauth.provider import Answer, Identity, Provider, Start

KIND: Final = "alipay"
"""The kind of credentials with the value ``app_id:o:open_id`` or ``u:user_id``."""

_LABELS: Final = {"en": "Alipay", "zh": "支付宝"}
_CODE: Final = re.compile(r"[A-Za-z0-9_-]{1,128}")
_OPEN_ID: Final = re.compile(r"[A-Za-z0-9_-]{1,128}")
_USER_ID: Final = re.compile(r"2088[0-9]{12}")


class AlipayProvider(Provider):
    """One app; its page works in each browser, and shows no QR code in Alipay's own browser."""

    labels = _LABELS
    icon = "alipay.svg"
    shows_qr_code = True
    own_app = ("AlipayClient",)

    def __init__(self, app: AlipayApp, options: AlipayOptions) -> None:
        self._app = app
        self.shared_redirect_uri = app.shared_redirect_uri
        client = JsonClient.of(app.gateway_url, options)
        self.gateway = Gateway(client, app.app_id, app.read_private_key(), app.read_alipay_key())

    def authorize_url(self, start: Start) -> str:
        query = {
            "app_id": self._app.app_id,
            "scope": self._app.scope,
            "redirect_uri": start.redirect_uri,
            "state": start.state,
        }
        encoded = urlencode(query, quote_via=quote)
        return f"{self._app.page_url.rstrip('/')}/oauth2/publicAppAuthorize.htm?{encoded}"

    def identify(self, answer: Answer) -> Identity:
        if answer.parameters.get("app_id", self._app.app_id) != self._app.app_id:
            raise AnswerInvalid("the redirect names another app")
        if not _CODE.fullmatch(answer.code):
            raise CodeInvalid("the code has characters that no code has")
        grant = self.gateway.call(
            "alipay.system.oauth.token", grant_type="authorization_code", code=answer.code
        )
        credential, *also = self._credentials(grant)
        name = self._name(credential, grant.text("access_token"))
        return Identity(credential, also=tuple(also), display_name=name)

    def close(self) -> None:
        self.gateway.close()

    def _credentials(self, response: Json) -> list[Credential]:
        """Return the ids of a person: the one of this app, and the older one of all apps."""
        ids = []
        if open_id := response.optional_text("open_id"):
            ids.append((_OPEN_ID, open_id, f"{self._app.app_id}:o:{open_id}"))
        if user_id := response.optional_text("user_id"):
            ids.append((_USER_ID, user_id, f"u:{user_id}"))
        if not ids or not all(pattern.fullmatch(value) for pattern, value, _ in ids):
            raise response.unexpected("open_id")
        return [Credential(KIND, value) for *_, value in ids]

    def _name(self, credential: Credential, token: str) -> str | None:
        if self._app.scope == SILENT:
            return None
        # The code is redeemed and has verified the person, so a missing nickname must not fail it.
        try:
            info = self.gateway.call("alipay.user.info.share", auth_token=token)
        except AnswerInvalid:
            raise
        except ProviderError:
            return None
        if credential not in self._credentials(info):
            raise AnswerInvalid("the nickname is another person's")
        return info.optional_text("nick_name")
