"""Identifies people by an app of Feishu or Lark."""

import logging
import re
from collections.abc import Callable
from typing import Final
from urllib.parse import quote, urlencode

from strongroom.plugin_api.host import HostAPI
from strongroom.plugin_api.login import Credential
from strongroom_login_feishu.options import FeishuApp, FeishuOptions
from strongroom_login_feishu.refusals import INVALID_USER_ID, check
from strongroom_login_feishu.token_endpoint import TokenEndpoint
from strongroom_login_oauth.app_token import AppToken
from strongroom_login_oauth.client import Json, JsonClient
from strongroom_login_oauth.errors import Misconfigured, NotMember
from strongroom_login_oauth.provider import Answer, Identity, Provider, Start

logger = logging.getLogger(__name__)

KIND: Final = "feishu"
"""The kind of credentials with the value ``tenant_key:union_id``."""

_LABELS: Final = {"en": "Feishu", "zh": "飞书"}
_LARK_LABELS: Final = {"en": "Lark", "zh": "Lark"}
_ID: Final = re.compile(r"[A-Za-z0-9_-]{1,128}")
_ABSENT: Final = ("is_resigned", "is_exited", "is_frozen")
"""The states of people who cannot use the app any more."""


class FeishuProvider(Provider):
    """One app; its page works in each browser, and shows no QR code in Feishu's own browser."""

    icon = "feishu.svg"
    shows_qr_code = True
    own_app = ("Lark", "Feishu")

    def __init__(self, app: FeishuApp, options: FeishuOptions, host: Callable[[], HostAPI]) -> None:
        self.labels = _LARK_LABELS if app.is_lark else _LABELS
        self._app = app
        self.shared_redirect_uri = app.shared_redirect_uri
        self._accounts = JsonClient.of(app.accounts_base, options)
        self._open = JsonClient.of(app.open_base, options)
        self._tokens = TokenEndpoint(app, self._accounts, self._open)
        self._token = AppToken(
            f"token.{app.app_id}",
            self._tokens.fetch,
            values=lambda: host().values,
            clock=lambda: host().clock,
        )

    def authorize_url(self, start: Start) -> str:
        query = {
            "client_id": self._app.app_id,
            "response_type": "code",
            "redirect_uri": start.redirect_uri,
            "state": start.state,
            "code_challenge": start.code_challenge,
            "code_challenge_method": "S256",
        }
        if self._app.scopes:
            query["scope"] = " ".join(self._app.scopes)
        encoded = urlencode(query, quote_via=quote)
        return f"{self._app.accounts_base}/open-apis/authen/v1/authorize?{encoded}"

    def identify(self, answer: Answer) -> Identity:
        token = self._tokens.redeem(answer)
        headers = {"Authorization": f"Bearer {token}"}
        info = check(self._open.get("/open-apis/authen/v1/user_info", headers=headers), {})
        data = info.object("data")
        tenant, union_id = _id(data, "tenant_key"), _id(data, "union_id")
        if self._app.members_only and tenant not in self._app.allowed_tenants:
            # For the operator, who may not know the key of a company otherwise.
            logger.warning("Login refused: the tenant %s is not among allowed_tenants", tenant)
            raise NotMember(f"the tenant {tenant} is not among allowed_tenants")
        # Administrators of companies set addresses and numbers, so they prove nothing.
        return Identity(
            Credential(KIND, f"{tenant}:{union_id}"), display_name=data.optional_text("name")
        )

    def is_member(self, credential: Credential) -> bool | None:
        tenant, _, union_id = credential.value.partition(":")
        if not self._app.check_leavers or tenant not in self._app.allowed_tenants:
            return None
        return self._token.use(lambda token: self._is_present(union_id, token))

    def close(self) -> None:
        self._accounts.close()
        self._open.close()

    def _is_present(self, union_id: str, token: str) -> bool:
        path = f"/open-apis/contact/v3/users/{quote(union_id, safe='')}"
        headers = {"Authorization": f"Bearer {token}"}
        answer = self._open.get(path, {"user_id_type": "union_id"}, headers=headers)
        if answer.optional_integer("code", -1) == INVALID_USER_ID:
            return False
        user = check(answer, {}).object("data").object("user")
        if "status" not in user:
            raise Misconfigured("the app needs the permission contact:user.employee:readonly")
        status = user.object("status")
        return not any(status.boolean(state) for state in _ABSENT)


def _id(data: Json, key: str) -> str:
    value = data.text(key)
    if not _ID.fullmatch(value):
        raise data.unexpected(key)
    return value
