"""The login method: a code of a WeChat app proves a person's openid there."""

import time
from collections.abc import Collection, Iterator, Sequence
from typing import Final

from strongroom.plugin_api.login import (
    Credential,
    LoginAttempt,
    LoginMethod,
    LoginRejected,
    LoginUnavailable,
    Proofs,
    VerifiedCredential,
)
from strongroom_login_wechat.app import App, Identity
from strongroom_login_wechat.apps import make_apps
from strongroom_login_wechat.client import PlatformClient
from strongroom_login_wechat.errors import (
    APP_UNKNOWN,
    ClientFault,
    Misconfigured,
    PlatformUnavailable,
    TokenRefused,
    WeChatError,
)
from strongroom_login_wechat.options import WeChatOptions
from strongroom_login_wechat.timing import Clock, Sleep

OPENID = "wechat"
"""The kind of a credential ``appid:openid``."""

UNIONID = "wechat_union"
"""The kind of a credential ``account:unionid``."""

OPERATOR_PAUSE: Final = 60
"""Seconds after which a client may ask whether the operator has mended the configuration."""


class WeChatLogin(LoginMethod[WeChatOptions]):
    """Recognises attempts that name the method ``wechat``.

    Their proof is ``app``, the name of a configured app, and ``code``, what WeChat gave the client
    there. A mini program may add ``phoneCode`` (the one-tap phone number), ``encryptedData`` with
    ``iv``, or ``rawData`` with ``signature``.
    """

    name = "wechat"
    code_recipients = frozenset()
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
            LoginUnavailable: the platform cannot tell.
        """
        if attempt.method != self.name:
            return None
        name = attempt.proof.get("app", "")
        app = self.apps.get(name)
        if app is None:
            raise LoginRejected(APP_UNKNOWN.message, code=APP_UNKNOWN.code)
        try:
            identity = app.identify(attempt.proof)
        except ClientFault as fault:
            raise LoginRejected(str(fault), code=fault.kind.code) from fault
        except WeChatError as error:
            raise _unavailable(name, error) from error
        return VerifiedCredential(
            Credential(OPENID, f"{app.appid}:{identity.openid}"),
            also=tuple(_further_credentials(app, identity)),
            may_register=self.options.register,
            display_name=identity.nickname,
        )

    def close(self) -> None:
        self._client.close()


def of_others(held: Sequence[Credential]) -> Collection[Credential]:
    """Return every id of WeChat that a user holds if they are of two people, else none.

    A person has one openid in an app, and one unionid in an open-platform account.
    """
    ids = [credential for credential in held if credential.kind in (OPENID, UNIONID)]
    scopes = {(credential.kind, credential.value.partition(":")[0]) for credential in ids}
    return ids if len(scopes) < len(ids) else []


def _further_credentials(app: App, identity: Identity) -> Iterator[Credential]:
    if identity.unionid:
        yield Credential(UNIONID, f"{app.account}:{identity.unionid}")
    if identity.mobile:
        yield Credential("mobile", identity.mobile)


def _unavailable(name: str, error: WeChatError) -> LoginUnavailable:
    if isinstance(error, PlatformUnavailable):
        return LoginUnavailable(f"{error}", retry_after=error.retry_after)
    hint = "appid or secret" if isinstance(error, Misconfigured | TokenRefused) else "request"
    message = f"WeChat refuses the {hint} of [login.wechat.apps.{name}]: {error}"
    return LoginUnavailable(message, retry_after=OPERATOR_PAUSE, misconfigured=True)
