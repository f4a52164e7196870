"""The login method: a code of a WeChat app proves a person's openid there."""

import time
from collections.abc import Iterator

from strongroom.plugin_api.login import (
    Credential,
    LoginAttempt,
    LoginMethod,
    LoginRejected,
    Proofs,
    VerifiedCredential,
)
from strongroom_login_wechat.app import Identity
from strongroom_login_wechat.apps import make_apps
from strongroom_login_wechat.client import PlatformClient
from strongroom_login_wechat.errors import ClientFault
from strongroom_login_wechat.options import WeChatOptions
from strongroom_login_wechat.timing import Clock, Sleep

OPENID = "wechat"
"""The kind of a credential ``appid:openid``."""

UNIONID = "wechat_union"
"""The kind of a credential that is a unionid."""


class WeChatLogin(LoginMethod[WeChatOptions]):
    """Recognises attempts that name the method ``wechat``.

    Their proof is ``app``, the name of a configured app, and ``code``, what WeChat gave the client
    there. A mini program may add ``phoneCode`` (the one-tap phone number), ``encryptedData`` with
    ``iv``, or ``rawData`` with ``signature``.
    """

    name = "wechat"
    options_type = WeChatOptions

    def __init__(
        self,
        options: WeChatOptions,
        proofs: Proofs,
        *,
        clock: Clock = time.time,
        sleep: Sleep = time.sleep,
    ) -> None:
        super().__init__(options, proofs)
        self._client = PlatformClient(options, sleep=sleep)
        self.apps = make_apps(options, self._client, clock=clock)

    def authenticate(self, attempt: LoginAttempt) -> VerifiedCredential | None:
        """Return what the attempt proves, or ``None`` when it names another method or none.

        Raises:
            LoginRejected: it names this method, and proves nothing.
            WeChatError: the platform cannot tell; never a ``ClientFault``.
        """
        if attempt.method != self.name:
            return None
        app = self.apps.get(attempt.proof.get("app", ""))
        if app is None:
            raise LoginRejected("no such app is configured", code="error.wechat-app-unknown")
        try:
            identity = app.identify(attempt.proof)
        except ClientFault as fault:
            raise LoginRejected(str(fault), code=fault.code) from fault
        return VerifiedCredential(
            Credential(OPENID, f"{app.appid}:{identity.openid}"),
            also=tuple(_further_credentials(identity)),
            may_register=self.options.register,
            display_name=identity.nickname,
        )

    def close(self) -> None:
        self._client.close()


def _further_credentials(identity: Identity) -> Iterator[Credential]:
    if identity.unionid:
        yield Credential(UNIONID, identity.unionid)
    if identity.mobile:
        yield Credential("mobile", identity.mobile)
