"""The login method: verifies a person's openid by a code of a WeChat app."""

import time
from collections.abc import Collection, Iterator, Sequence
from typing import ClassVar, Final

from strongroom.plugin_api.login import (
    Contact,
    Credential,
    LoginAttempt,
    LoginMethod,
    LoginRejected,
    LoginUnavailable,
    Proofs,
    VerifiedCredential,
)
from strongroom.plugin_api.web import HostAPI
from strongroom_login_oauth.errors import (
    ClientFault,
    Misconfigured,
    ProviderError,
    ProviderUnavailable,
    TokenRefused,
)
from strongroom_login_oauth.method import OPERATOR_PAUSE
from strongroom_login_wechat.api import WeChatApi
from strongroom_login_wechat.app import App, Identity
from strongroom_login_wechat.apps import make_apps
from strongroom_login_wechat.errors import APP_UNKNOWN, METHOD, refusal
from strongroom_login_wechat.options import WeChatOptions
from strongroom_login_wechat.timing import Clock, Sleep

OPENID: Final = "wechat"
"""The kind of credentials with the value ``appid:openid``."""

UNIONID: Final = "wechat_union"
"""The kind of credentials with the value ``account:unionid``."""


class WeChatLogin(LoginMethod[WeChatOptions]):
    """Handles attempts that name the method ``wechat``.

    The proof has ``app``, the name of a configured app, and ``code``, which WeChat issued to the
    client. A mini program may add ``phoneCode`` (the one-tap phone number), ``encryptedData`` with
    ``iv``, or ``rawData`` with ``signature``.
    """

    name = METHOD
    kinds: ClassVar = (OPENID, UNIONID)
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
        self._api = WeChatApi(options, sleep=sleep)
        self._host: HostAPI | None = None
        self.apps = make_apps(options, self._api, clock=clock, host=self._server)

    def attach(self, host: HostAPI) -> None:
        """Let mini programs use the server's shared values. Called by the routes."""
        self._host = host

    def authenticate(self, attempt: LoginAttempt) -> VerifiedCredential | None:
        """Return the verified credential, or ``None`` if the attempt does not name this method.

        Raises:
            LoginRejected: the attempt names this method, and its proof is invalid.
            LoginUnavailable: the platform could not verify the proof.
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
            raise LoginRejected(str(fault), code=refusal(type(fault)).code) from fault
        except ProviderError as error:
            raise _unavailable(name, error) from error
        return VerifiedCredential(
            Credential(OPENID, f"{app.appid}:{identity.openid}"),
            also=tuple(_union_ids(app, identity)),
            contacts=self._contacts(name, identity),
            may_register=self.options.register,
            display_name=identity.nickname,
        )

    def _contacts(self, name: str, identity: Identity) -> tuple[Contact, ...]:
        """Return the number, which WeChat has verified by a message to it."""
        if not identity.mobile:
            return ()
        is_trusted = self.options.apps[name].trust_mobile
        return (Contact(Credential("mobile", identity.mobile), is_proven=True, is_trusted=is_trusted),)

    def close(self) -> None:
        self._api.close()

    def _server(self) -> HostAPI:
        if self._host is None:
            raise RuntimeError("the login method wechat has no server")
        return self._host


def of_others(held: Sequence[Credential]) -> Collection[Credential]:
    """Return a user's WeChat credentials if they belong to two people, else none.

    A person has one openid per app and one unionid per open-platform account, so two values of one
    kind and scope belong to different people.
    """
    ids = [credential for credential in held if credential.kind in (OPENID, UNIONID)]
    scopes = {(credential.kind, credential.value.partition(":")[0]) for credential in ids}
    return ids if len(scopes) < len(ids) else []


def _union_ids(app: App, identity: Identity) -> Iterator[Credential]:
    if identity.unionid:
        yield Credential(UNIONID, f"{app.account}:{identity.unionid}")


def _unavailable(name: str, error: ProviderError) -> LoginUnavailable:
    is_app = isinstance(error, Misconfigured | TokenRefused)
    if isinstance(error, ProviderUnavailable) and not is_app:
        return LoginUnavailable(str(error), retry_after=error.retry_after)
    hint = "appid or secret" if is_app else "request"
    message = f"WeChat refuses the {hint} of [login.wechat.apps.{name}]: {error}"
    return LoginUnavailable(message, retry_after=OPERATOR_PAUSE, misconfigured=True)
